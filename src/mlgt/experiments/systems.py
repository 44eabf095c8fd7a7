"""Whole systems on a data set, through `mlgt.bench`: each in a process of its own, on one thread."""

import sys
import tempfile

from ..bench.run import run_systems

TITLES = {
    "mlgt": "mlgt",
    "he-nmfgt": "He-NMFGT",
    "nmf-gt": "NMF-GT",
    "mlcs": "MLCS",
    "mlgt-ova": "one-vs-all",
    "omikuji-parabel": "Parabel",
}
"""Names of the paper's tables; Parabel is omikuji's, MLCS and one-vs-all are `mlgt.baselines`."""


def measure_systems(config, data):
    """Yields (data set, [SystemRun]): rounds over all systems of the configuration."""
    for name in data.available(config["data"]):
        with tempfile.TemporaryDirectory() as folder:
            train, test = data.write(name, folder)
            yield name, run_systems(
                train, test, config["data"][name], repeats=config["trials"], resamples=0,
                say=lambda text, name=name: print(f"mlgt: {name}: {text}", file=sys.stderr),
            )  # fmt: skip


def left_out(runs):
    """Sentences on systems that did not run."""
    return [f"{TITLES[run.name]} did not run: {run.failure}" for run in runs if run.failure]
