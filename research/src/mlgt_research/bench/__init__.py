"""mlgt and its peers, measured on the same files in the same run: `mlgt bench`.

A system is a function in a module of its own, `build(X, Y, options, threads, seed, folder)`, which trains
and returns a `Trained`; the rows X have length 1. Where a system reads a file, its module has
`write_input(X, Y, folder)`, called before the clock starts. To add one, write it and name it here. Options
are the documented defaults of each system unless `options` says otherwise; those of the paper's methods are
in `mlgt.estimators.methods`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

INSTALL = 'pip install "./research[peers]"'


class System(NamedTuple):
    title: str
    module: str
    build: str
    package: str = "mlgt"  # the distribution whose version is shown
    options: Mapping[str, Any] = MappingProxyType({})
    note: str = ""


SYSTEMS = {
    "mlgt": System("mlgt", "ours", "mlgt"),
    "omikuji-parabel": System("omikuji Parabel", "trees", "omikuji", "omikuji"),
    "omikuji-bonsai": System(
        "omikuji Bonsai", "trees", "omikuji", "omikuji",
        {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3},
    ),
    "pecos-xr-linear": System("PECOS XR-Linear", "pecos_linear", "xr_linear", "libpecos"),
    "pecos-ova": System("PECOS one-vs-all", "pecos_linear", "one_vs_all", "libpecos"),
    "napkinxc-plt": System("napkinXC PLT", "napkin", "plt", "napkinxc"),
    "napkinxc-ova": System("napkinXC one-vs-all", "napkin", "one_vs_all", "napkinxc"),
    "fasttext": System(
        "fastText", "fast_text", "fast_text", "fasttext-wheel", {"loss": "ova", "lr": 0.5, "epoch": 25},
        "options of its tutorial for several labels; reads words without their values",
    ),
    "mlgt-ova": System("one-vs-all by mlgt", "ours", "one_vs_all"),
    "nmf-gt": System("NMF-GT", "ours", "nmf_gt"),
    "he-nmfgt": System("He-NMFGT", "ours", "he_nmfgt"),
    "mlcs": System("MLCS", "ours", "mlcs", options={"n_projections": 100}),
}  # fmt: skip
PEERS = tuple(name for name, system in SYSTEMS.items() if name == "mlgt" or system.package != "mlgt")
"""Systems measured by default."""
