"""Whole systems on a data set, through `..bench`: each in a process of its own, on one thread."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from mlgt._core.terminal import tell

from ..bench.run import SystemRun, run_systems
from ..evidence.record import Column, Table
from .sources import STAND_IN, Data

TITLES = {
    "mlgt": "mlgt",
    "he-nmfgt": "He-NMFGT",
    "nmf-gt": "NMF-GT",
    "mlcs": "MLCS",
    "mlgt-ova": "one-vs-all",
    "omikuji-parabel": "Parabel",
    "sleec": "SLEEC",
    "pfastrexml": "PfastreXML",
    "extremetext": "XT",
    "dismec": "DiSMEC",
    "ppd-sparse": "PPD-Sparse",
    "xml-cnn": "XML-CNN",
}
"""Names in the paper's tables. Parabel is omikuji's, XT extremeText's, XML-CNN LibMultiLabel's; the others
are those of `..baselines`."""


def measure_systems(config: dict[str, Any], data: Data) -> Iterator[tuple[str, list[SystemRun]]]:
    """Yields (data set, [SystemRun]): rounds over all systems of the configuration, one for stand-ins."""
    for name in data.available(config["data"]):
        with tempfile.TemporaryDirectory() as folder:
            train, test = data.files(name, folder)
            yield name, run_systems(
                train, test, config["data"][name], keep=data.keep, **config.get("limits", {}),
                repeats=1 if name.endswith(STAND_IN) else config["trials"],
                say=partial(_ignore if data.quiet else _say, name),
            )  # fmt: skip


def _say(name, text):
    tell(f"{name}: {text}")


def _ignore(name, text):
    """Report nothing."""


def system_tables(
    table: Table,
    config: dict[str, Any],
    data: Data,
    printed: Mapping[str, Any],
    cells: Callable,
    printed_cells: Callable,
) -> list[Table]:
    """[table, and one of what did not run, if any]: `cells(run, first)` of all systems and the paper's.

    `printed` is {data set: {method: figures}}, of which printed_cells(method, figures) makes cells.
    """
    failures, printed = Table("left out", [Column("data"), Column("remark")]), dict(printed)

    def add_printed(name, methods):
        for method, figures in methods.items():
            table.add("paper", data=name, method=method, **printed_cells(method, figures))

    for name, runs in measure_systems(config, data):
        for run in runs:
            if run.answers:
                table.add(data=name, method=TITLES[run.name], **cells(run, runs[0]))
        real = name.removesuffix(STAND_IN)
        add_printed(real, printed.pop(real, {}))
        for remark in left_out(runs):
            failures.add(data=name, remark=remark)
    for name, methods in printed.items():
        add_printed(name, methods)
    return [table, failures] if failures.rows else [table]


def ratios(run: SystemRun, first: SystemRun, *names: str) -> list[float] | None:
    """CPU seconds of the run over those of the first system, trial by trial; None for the first itself."""
    if run is first or not first.answers:
        return None
    sums = ([sum(trial) for trial in zip(*map(one.figures, names))] for one in (run, first))
    return [a / b for a, b in zip(*sums)]


def remarks(tables: list[Table]) -> list[str]:
    """Sentences on the systems that did not run, from `system_tables`."""
    return [f"{row['data']}: {row['remark']}." for table in tables[1:] for row in table.rows]


def left_out(runs: list[SystemRun]) -> list[str]:
    """Sentences on systems that did not run."""
    return [f"{TITLES[run.name]} did not run: {run.failure}" for run in runs if run.failure]
