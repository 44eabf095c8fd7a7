"""Whole systems on a data set, through `..bench`: each in a process of its own, on one thread."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from mlgt._core.terminal import tell

from ..bench import find_system
from ..bench.run import SystemRun, run_systems
from ..evidence.record import Column, Result, Table
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
NO_TIME = "not run on this stand-in, for lack of time on a shared machine"
NO_TEXTS = "it reads texts, which a stand-in does not have"
TENTH = "-tenth"
FIRST = "mlgt"
"""The system that others are compared with."""


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
    """[table, what did not run]: `cells(run, first)` of all systems, and the paper's rows.

    `printed` is {data set: {method: figures}}, of which printed_cells(method, figures) makes cells.
    """
    failures = Table("left out", [Column("data"), Column("method"), Column("remark")])
    table.columns.append(Column("remark"))
    for name, runs in measure_systems(config, data):
        for run in runs:
            if run.answers:
                table.add(data=name, method=TITLES[run.name], **cells(run, runs[0]))
            if run.failure:
                failures.add(data=name, method=TITLES[run.name], remark=run.failure)
    for name, methods in printed.items():
        for method, figures in methods.items():
            table.add("paper", data=name, method=method, **printed_cells(method, figures))
    arrange([table, failures])
    return [table, failures]


def arrange(tables: list[Table]) -> None:
    """Order the tables of `system_tables`: a printed row follows ours, or says why there is none."""
    table, failures = tables
    reasons = {(row["data"], row["method"]): row["remark"] for row in failures.rows}
    printed = {(row["data"], row["method"]): row for row in table.find("paper")}
    rows = []
    for name in table.values("data"):
        for row in table.find(data=name):
            rows.append(row)
            if twin := printed.pop((name, row["method"]), None):
                rows.append(twin | {"remark": None})
        for key in [key for key in printed if key[0] == name]:
            rows.append(printed.pop(key) | {"remark": reasons.get(key, NOT_TRIED)})
    table.rows = rows + [row | {"remark": NOT_AVAILABLE} for row in printed.values()]
    tried = _tried(failures)
    failures.rows = tried + _untried(table, tried)


def _tried(failures):
    """The rows of systems that were tried."""
    return [row for row in failures.rows if row["remark"] not in (NO_TIME, NO_TEXTS)]


def _untried(table, tried):
    """Rows for the paper's methods that a stand-in of their data set has no figures of, and no reason."""
    texts = {title for name, title in TITLES.items() if find_system(name).texts}
    known = {(row["data"], row["method"]) for row in [*table.find(), *tried]}
    found = []
    for name in (name for name in table.values("data") if name.endswith(STAND_IN)):
        meant = name.removesuffix(STAND_IN).removesuffix(TENTH)
        for method in (row["method"] for row in table.find("paper", data=meant)):
            if (name, method) not in known:
                remark = NO_TEXTS if method in texts else NO_TIME
                found.append({"source": "ours", "data": name, "method": method, "remark": remark})
    return found


def keep_rows(tables: list[Table], old: Result) -> list[str]:
    """Add our rows of an earlier result that were not measured again; returns their data sets.

    Ratios of a data set whose first system was measured again are dropped, because they are not of one run.
    """
    table, failures = tables
    failures.rows = _tried(failures)
    again = {(row["data"], row["method"]) for row in table.find()}
    before = old.table(table.title).find()
    kept = [row for row in before if (row["data"], row["method"]) not in again]
    remeasured = {name for name, method in again if method == FIRST}
    stale = dict.fromkeys(column.name for column in table.columns if column.ratio)
    kept = [row | stale if row["data"] in remeasured else row for row in kept]
    ours = {(row["data"], row["method"]): row for row in [*kept, *table.find()]}
    places = dict.fromkeys([*((row["data"], row["method"]) for row in before), *ours])
    table.rows = [ours[place] for place in places] + table.find("paper")
    tried = again | {(row["data"], row["method"]) for row in failures.rows}
    earlier = next((other for other in old.tables if other.title == failures.title), failures).rows
    failures.rows += [row for row in earlier if (row["data"], row["method"]) not in tried]
    arrange(tables)
    return list(dict.fromkeys(row["data"] for row in kept))


def ratios(run: SystemRun, first: SystemRun, *names: str) -> list[float] | None:
    """CPU seconds of the run over those of mlgt, trial by trial; None for mlgt itself and without it."""
    if run is first or first.name != FIRST or not first.answers:
        return None
    sums = ([sum(trial) for trial in zip(*map(one.figures, names))] for one in (run, first))
    return [a / b for a, b in zip(*sums)]
