"""Figure 2: Pi@1 and Pi@3 of NMF-GT, CW-GT and SP-GT as the number of groups m grows.

Ten trials, as in the paper; the column weight is searched in each as in Remark 1, over the range of the
authors' code, 10, 20, ... 70; hard decoding. The paper shows Bibtex and RCV1x; RCV1x runs here where its
stand-in (`mlgt synth DATA/RCV1x-synth --preset rcv1x`) is.
"""

from typing import Any

import numpy as np

from ..evidence.record import Column, Table, average
from .measure import HARD, PI_COLUMNS, WEIGHTS, Trials, design, draw_lines, finish, marker, train_and_judge
from .sources import SAMPLE, Data

PAPER = "Figure 2"
FULL = {
    "data": {"Bibtex": (40, 60, 80, 100, 120, 140, 160), "RCV1x-synth": (100, 150, 200, 250, 300)},
    "trials": 10,
    "weights": WEIGHTS,
}
QUICK = {"data": {SAMPLE: (12, 24)}, "trials": 2, "weights": (3, 6)}
SHOWN = ("NMF-GT", "CW-GT", "SP-GT")


def run(config: dict[str, Any], data: Data) -> list[Table]:
    table = Table("groups", [Column("data"), Column("m"), Column("method"), *PI_COLUMNS], by=("data", "m"))
    for name in data.available(config["data"]):
        split, trials = data.load(name), Trials()
        for m in config["data"][name]:
            for method in SHOWN:
                for seed in range(config["trials"]):
                    A, _ = design(split.train.Y, method, m, np.random.default_rng(seed), config["weights"])
                    trials.add((m, method), train_and_judge(split, A, seed, (HARD,))[HARD])
        for (m, method), figures in trials.items():
            table.add(data=name, m=m, method=method, **figures)
    return [table]


def draw(figure: Any, tables: list[Table]) -> None:
    (table,) = tables
    names = table.values("data")
    grid = figure.subplots(len(names), 2, squeeze=False)
    for line, name in zip(grid, names):
        for axes, measure in zip(line, ("Pi@1", "Pi@3")):
            for method in SHOWN:
                rows = table.find(data=name, method=method)
                draw_lines(axes, rows, "m", measure, label=method, **marker(method))
            finish(axes, f"{name}, {measure}, hard decoding", "groups m", measure)


def _best(rows, measure):
    return max(rows, key=lambda row: average(row[measure]))


def differs(tables: list[Table]) -> list[str]:
    (table,) = tables
    notes = []
    for name in table.values("data"):
        sizes = table.values("m", data=name)
        for measure in ("Pi@1", "Pi@3"):
            best = [_best(table.find(data=name, m=m), measure) for m in sizes]
            wins = {method: [row["m"] for row in best if row["method"] == method] for method in SHOWN}
            listed = "; ".join(
                f"{method} at m = {', '.join(map(str, won))}" for method, won in wins.items() if won
            )
            notes.append(f"{name}, {measure} is best for {listed}.")
    falls = [
        f"{name}, {method}"
        for name in table.values("data")
        for method in SHOWN
        if (rows := table.find(data=name, method=method))
        and average(rows[-1]["Pi@1"]) < max(average(row["Pi@1"]) for row in rows) - 0.01
    ]
    if falls:
        notes.append(f"Not all improve with m up to the largest: {'; '.join(falls)} by Pi@1.")
    return notes
