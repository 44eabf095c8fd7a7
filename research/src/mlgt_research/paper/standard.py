"""Table 3: P@k, training time and time per row of He-NMFGT and all other methods.

Systems and settings are those of Table 2 (`mlgt reproduce methods`). T train is CPU seconds on one thread;
the paper's rule counts ONE block of He-NMFGT, which is in the column "paper's T". Milliseconds per row are
CPU time of a batch of all test rows. Data sets not at hand are as published.
"""

from typing import Any

from ..evidence.record import Column, Table, average
from .measure import KS, P_COLUMNS, number
from .methods import FULL as FULL_METHODS
from .methods import QUICK as QUICK_METHODS
from .methods import draw_bars
from .published import STANDARD as PRINTED
from .sources import Data
from .systems import ratios, system_tables

PAPER = "Table 3"
FULL = FULL_METHODS
QUICK = {**QUICK_METHODS, "data": {name: {"mlgt": {}} for name in QUICK_METHODS["data"]}}


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column("data"), Column("method"), *P_COLUMNS, Column("T train", "low", 1)]
    columns += [Column("paper's T", "", 1), Column("ms a row", "low", 3), Column("model MB", "low", 1)]
    columns.append(Column("T train, times mlgt's", "", 2, ratio=True))
    table = Table("standard", columns, by=("data",))
    return system_tables(table, config, data, PRINTED, _cells, _printed)


def _cells(run, first):
    found = {"T train": "train CPU", "paper's T": "paper's T train", "ms a row": "ms batch"}
    found["model MB"] = "model MB"
    cells = {f"P@{k}": run.quality(f"P@{k}") for k in KS}
    cells["T train, times mlgt's"] = ratios(run, first, "train CPU")
    return cells | {column: run.figures(name) for column, name in found.items()}


def _printed(method, figures):
    *p, seconds, milliseconds = figures
    training = "paper's T" if method == "He-NMFGT" else "T train"
    return {f"P@{k}": v for k, v in zip(KS, p)} | {"ms a row": milliseconds, training: seconds}


def draw(figure: Any, tables: list[Table]) -> None:
    draw_bars(figure, tables[0], "P@1")


def differs(tables: list[Table]) -> list[str]:
    table, notes = tables[0], []
    for name in table.values("data"):
        ours = {row["method"]: row for row in table.find(data=name)}
        paper = {row["method"]: row for row in table.find("paper", data=name)}
        for method in dict.fromkeys([*ours, *paper]):
            if method in ours and method in paper:
                here, there = (
                    " / ".join(number(average(rows[method][f"P@{k}"])) for k in KS)
                    for rows in (ours, paper)
                )
                notes.append(f"{name}, {method}: P@1 / P@3 / P@5 {here} here, {there} printed.")
    return notes
