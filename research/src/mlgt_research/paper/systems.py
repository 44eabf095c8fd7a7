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
NOT_AVAILABLE = "not run: the data set is not available"
NOT_TRIED = "not run on this data set"


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

    `printed` is {data set: {method: figures}}, of which printed_cells(method, figures) makes cells. A
    printed row follows ours, or says in the column "remark" why there is none.
    """
    failures, printed = Table("left out", [Column("data"), Column("remark")]), dict(printed)
    table.columns.append(Column("remark"))

    def add_printed(name, methods, reasons):
        for method, figures in methods.items():
            remark = reasons.get(method, NOT_TRIED)
            table.add("paper", data=name, method=method, **printed_cells(method, figures), remark=remark)

    for name, runs in measure_systems(config, data):
        paper = dict(printed.pop(name.removesuffix(STAND_IN), {}))
        for run in runs:
            method = TITLES[run.name]
            if run.answers:
                table.add(data=name, method=method, **cells(run, runs[0]))
                if method in paper:
                    add_printed(name.removesuffix(STAND_IN), {method: paper.pop(method)}, {method: None})
        add_printed(name.removesuffix(STAND_IN), paper, {TITLES[run.name]: run.failure for run in runs})
        for remark in left_out(runs):
            failures.add(data=name, remark=remark)
    for name, methods in printed.items():
        add_printed(name, methods, dict.fromkeys(methods, NOT_AVAILABLE))
    return [table, failures] if failures.rows else [table]


def ratios(run: SystemRun, first: SystemRun, *names: str) -> list[float] | None:
    """CPU seconds of the run over those of the first system, trial by trial; None for the first itself."""
    if run is first or not first.answers:
        return None
    sums = ([sum(trial) for trial in zip(*map(one.figures, names))] for one in (run, first))
    return [a / b for a, b in zip(*sums)]


def left_out(runs: list[SystemRun]) -> list[str]:
    """Sentences on systems that did not run."""
    return [f"{TITLES[run.name]} did not run: {run.failure}" for run in runs if run.failure]
