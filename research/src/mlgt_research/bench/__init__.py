"""mlgt and its peers, measured on the same files in the same run: `mlgt bench`.

A system is a function in a module of its own, `build(X, Y, options, threads, seed, folder)`, which trains
and returns a `Trained`; the rows X have length 1. Where a system reads a file, its module has
`write_input(X, Y, folder)`, called before the clock starts. To add one, write it and name it here. Options
are the documented defaults of each system unless `options` says otherwise; those of the paper's methods are
in `mlgt.estimators.methods`. A name that ends in `+sqrt` is the same system on dampened rows: the square
root of every value, then length 1, as mlgt treats its own rows.
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
    texts: bool = False  # reads the texts beside the rows instead of the rows
    per_label: bool = False  # trains every label by itself, on all rows, not many at once


DAMPENED = "+sqrt"
"""The ending of a name whose system gets dampened rows."""


def find_system(name: str) -> System:
    """The system of a name, which may end in `+sqrt`."""
    return SYSTEMS[name.removesuffix(DAMPENED)]


def title_of(name: str) -> str:
    """The system's name in tables."""
    return find_system(name).title + (", square roots" if name.endswith(DAMPENED) else "")


SYSTEMS = {
    "mlgt": System("mlgt", "ours", "mlgt"),
    "omikuji-parabel": System("omikuji Parabel", "trees", "omikuji", "omikuji"),
    "omikuji-bonsai": System(
        "omikuji Bonsai", "trees", "omikuji", "omikuji",
        {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3},
    ),
    "pecos-xr-linear": System("PECOS XR-Linear", "pecos_linear", "xr_linear", "libpecos"),
    "pecos-ova": System("PECOS one-vs-all", "pecos_linear", "one_vs_all", "libpecos", per_label=True),
    "napkinxc-plt": System("napkinXC PLT", "napkin", "plt", "napkinxc"),
    "napkinxc-ova": System(
        "napkinXC one-vs-all", "napkin", "one_vs_all", "napkinxc", per_label=True,
    ),
    "fasttext": System(
        "fastText", "fast_text", "fast_text", "fasttext-wheel", {"loss": "ova", "lr": 0.5, "epoch": 25},
        "options of its tutorial for several labels; reads words without their values",
    ),
    "fasttext-hs": System(
        "fastText, softmax tree", "fast_text", "fast_text", "fasttext-wheel",
        {"loss": "hs", "lr": 1.0, "epoch": 25, "dim": 50},
        "options of its tutorial for speed, without pairs of words; reads words without their values",
    ),
    "fasttext-slow": System(
        "fastText, lr .1", "fast_text", "fast_text", "fasttext-wheel",
        {"loss": "ova", "lr": 0.1, "epoch": 25},
        "its default learning rate, where a larger one gave NaN; reads words without their values",
    ),
    "libmultilabel-ovr": System(
        "LibMultiLabel one-vs-rest", "multilabel", "one_vs_rest", "libmultilabel",
        {"options": "-s 1 -B 1 -e 0.0001"}, "options of its example configurations", per_label=True,
    ),
    "libmultilabel-tree": System(
        "LibMultiLabel tree", "multilabel", "tree", "libmultilabel", {"options": "-s 1 -B 1 -e 0.0001"},
    ),
    "extremetext": System(
        "extremeText", "extreme_text", "extreme_text", "extremetext",
        {"loss": "plt", "lr": 0.5, "epoch": 25},
        "PLT over 2-means, lr and epochs as fastText's here; reads words without their values",
    ),
    "extremetext-slow": System(
        "extremeText, lr .1", "extreme_text", "extreme_text", "extremetext",
        {"loss": "plt", "lr": 0.1, "epoch": 25},
        "its default learning rate, where a larger one gave NaN; reads words without their values",
    ),
    "xml-cnn": System(
        "XML-CNN", "xml_cnn", "xml_cnn", "libmultilabel", {"seconds": 300},
        "LibMultiLabel's network, random word vectors, trained for at most `seconds` of CPU; without texts "
        "it reads the words of a row, which are not in the order of the text",
        texts=True,
    ),
    "pfastrexml": System(
        "PfastreXML", "paper", "pfastrexml",
        note="written here from its paper: PyPI's fastxml needs Python 2",
    ),
    "dismec": System("DiSMEC", "paper", "dismec", note="written here: weights below .01 dropped"),
    "ppd-sparse": System(
        "PPD-Sparse", "paper", "ppd_sparse", note="written here from its paper", per_label=True,
    ),
    "sleec": System("SLEEC", "paper", "sleec", note="written here from its paper"),
    "mlgt-ova": System("one-vs-all by mlgt", "ours", "one_vs_all"),
    "nmf-gt": System("NMF-GT", "ours", "nmf_gt"),
    "he-nmfgt": System("He-NMFGT", "ours", "he_nmfgt"),
    "mlcs": System("MLCS", "ours", "mlcs", options={"n_projections": 100}),
}  # fmt: skip
PAPERS = ("pfastrexml", "dismec", "ppd-sparse", "sleec")
"""Systems of the paper's tables that are written here, in `baselines/`."""
CAREFUL = ("fasttext-slow", "fasttext-hs", "extremetext-slow")
"""Other settings, for data on which those of the tutorial diverge."""
PEERS = tuple(
    name
    for name, system in SYSTEMS.items()
    if name == "mlgt" or (system.package != "mlgt" and name not in CAREFUL)
)
"""Systems measured by default."""
GROUPS = {"peers": PEERS, "paper": PAPERS, "all": (*PEERS, *PAPERS)}
"""Names that stand for several systems."""
