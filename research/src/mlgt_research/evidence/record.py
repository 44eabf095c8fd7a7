"""Results as data: tables whose cells keep every trial, and their origin.

A cell is text, a number, a list of numbers (one per trial), {"value", "low", "high"} (an interval) or None.
`source` of a row says whose figures they are: "ours", or "paper" for what is printed there.
"""

import hashlib
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from mlgt._core.errors import DataFormatError
from mlgt._core.files import replacing

FORMAT = 1
PACKAGES = ("mlgt", "numpy", "scipy", "scikit-learn", "numba", "pymetis")


@dataclass(frozen=True)
class Column:
    """`better` is "high", "low" or "": which cell of a group is printed bold. With `digits` None a number
    is printed as it is."""

    name: str
    better: str = ""
    digits: int | None = None
    ratio: bool = False  # trials as median (min to max)


@dataclass
class Table:
    """`rows` are {column name: cell}; the best is judged among rows that agree in the columns `by`."""

    title: str
    columns: list[Column]
    rows: list[dict[str, Any]] = field(default_factory=list)
    by: tuple[str, ...] = ()

    def add(self, source: str = "ours", /, **cells: Any) -> None:
        self.rows.append({"source": source, **cells})

    def find(self, source: str = "ours", /, **wanted: Any) -> list[dict[str, Any]]:
        """The rows with these cells."""
        return [
            row
            for row in self.rows
            if row["source"] == source and all(row.get(name) == cell for name, cell in wanted.items())
        ]

    def values(self, name: str, **wanted: Any) -> list:
        """The different cells of a column of our rows, in their order."""
        return list(dict.fromkeys(row[name] for row in self.find(**wanted)))

    def mean(self, name: str, source: str = "ours", **wanted: Any) -> Any:
        """The mean of one cell, of the only row with these others."""
        (row,) = self.find(source, **wanted)
        return average(row[name])


def average(cell: Any) -> Any:
    """The number in a cell: the mean of its trials."""
    if isinstance(cell, list):
        return statistics.fmean(cell)
    return cell["value"] if isinstance(cell, dict) else cell


def deviation(cell: Any) -> float:
    """Standard deviation over the trials; 0 for one."""
    return statistics.stdev(cell) if isinstance(cell, list) and len(cell) > 1 else 0.0


def surely_above(one: Any, other: Any) -> bool:
    """True if the mean of `one` is above that of `other`, and with three trials or more by more than two
    standard errors of the trials' differences."""
    if not (isinstance(one, list) and isinstance(other, list) and len(one) == len(other) >= 3):
        return average(one) > average(other)
    pairs = [a - b for a, b in zip(one, other)]
    return statistics.fmean(pairs) > 2 * statistics.stdev(pairs) / len(pairs) ** 0.5


@dataclass
class Result:
    """The result of one run of an experiment or of `mlgt bench`."""

    name: str
    title: str
    about: str
    tables: list[Table]
    notes: list[str]
    config: dict[str, Any]
    provenance: dict[str, Any]
    quick: bool = False
    format: int = FORMAT

    def table(self, title: str) -> Table:
        return next(table for table in self.tables if table.title == title)

    @property
    def filled_tables(self) -> list[Table]:
        """The tables with a row; lines that are kept from an earlier run have no paired differences."""
        return [table for table in self.tables if table.rows]


def provenance(
    checksums: dict[str, dict[str, str]], cpu_seconds: float, packages: Sequence[str] = PACKAGES
) -> dict[str, Any]:
    """Versions, machine and data of a run."""
    return {
        "python": platform.python_version(),
        "packages": {name: version for name in packages if (version := installed(name))},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "data": checksums,
        "cpu_seconds": round(cpu_seconds, 1),
    }


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def installed(package: str) -> str | None:
    """The version of a package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def sha256(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def write_result(folder: str | Path, result: Result, draw: Callable | None = None) -> None:
    """FOLDER/results.json and, with `draw(figure, tables)`, FOLDER/figure.png: whole or not at all."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if draw is not None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4), layout="constrained", dpi=110)
        draw(figure, result.tables)
        with replacing(folder / "figure.png") as file:
            figure.savefig(file, format="png", metadata={"Software": None})
    with replacing(folder / "results.json") as file:
        file.write((json.dumps(asdict(result), indent=1, default=_plain) + "\n").encode())


def _plain(value):
    """NumPy's numbers as Python's."""
    return value.item()


def read_result(path: str | Path) -> Result:
    """The `Result` in a results.json."""
    try:
        stored = json.loads(Path(path).read_text("utf-8"))
        tables = [
            Table(t["title"], [Column(**c) for c in t["columns"]], t["rows"], tuple(t["by"]))
            for t in stored.pop("tables")
        ]
        if stored["format"] != FORMAT:
            raise ValueError(f"format {stored['format']}, expected {FORMAT}")
        return Result(tables=tables, **stored)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataFormatError(
            f"{path} is not a result of this version of `mlgt reproduce` or `mlgt bench` "
            f"({type(error).__name__}: {error}); run them again."
        ) from None
