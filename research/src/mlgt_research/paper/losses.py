"""Table 4: Hamming errors per row of reduction and decoding alone (R-loss), and after training (T-loss).

R-loss pools the training labels and decodes them again, without classifiers; T-loss decodes what the
classifiers predict for the training rows. Both take the 5 labels with the most votes, hard decoding, so
that a row with fewer labels pays for it: the share that no design can avoid is in the column "at least".
"""

from typing import Any

import numpy as np

from mlgt._core.sparse import label_counts
from mlgt.groups.quality import reduction_loss
from mlgt.metrics import training_loss

from ..evidence.record import Column, Table, average
from .measure import HARD, WEIGHTS, Trials, decode_groups, design, finish, marker, number, train_groups
from .published import LOSSES as PRINTED
from .sources import SAMPLE, Data

PAPER = "Table 4 (supplement)"
FULL = {
    "data": {"Bibtex": 120, "RCV1x-synth": 250, "EURLex-4K": 350},
    "trials": 5,
    "weights": WEIGHTS,
}
QUICK = {"data": {SAMPLE: 24}, "trials": 2, "weights": (4, 8)}
SHOWN = ("NMF-GT", "CW-GT")


def run(config: dict[str, Any], data: Data) -> list[Table]:
    losses = [Column("R-loss", "low", 2), Column("T-loss", "low", 2), Column("at least", "", 2)]
    columns = [Column("data"), Column("m"), Column("method"), Column("c", digits=0), *losses]
    table = Table("losses", columns, by=("data",))
    for name in data.available(config["data"]):
        rows, m, trials = data.load(name).train, config["data"][name], Trials()
        counts = label_counts(rows.Y)
        least = float(np.abs(5 - np.diff(rows.Y.indptr)).mean())
        for method in SHOWN:
            for seed in range(config["trials"]):
                A, c = design(rows.Y, method, m, np.random.default_rng(seed), config["weights"])
                labels = decode_groups(train_groups(rows, A, seed), A, counts, rows.X, HARD)
                figures = {
                    "c": c,
                    "R-loss": reduction_loss(rows.Y, A),
                    "T-loss": training_loss(rows.Y, labels),
                }
                trials.add(method, figures)
        for method, figures in trials.items():
            table.add(data=name, m=m, method=method, **{"at least": least}, **figures)
            add_printed(table, name, method)
    for name, method in PRINTED:
        if name not in table.values("data"):
            add_printed(table, name, method)
    return [table]


def add_printed(table: Table, name: str, method: str) -> None:
    if (name, method) in PRINTED:
        cells = dict(zip(("R-loss", "T-loss"), PRINTED[name, method]))
        table.add("paper", data=name, method=method, **cells)


def draw(figure: Any, tables: list[Table]) -> None:
    (table,) = tables
    names = table.values("data")
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(names))), names):
        for at, loss in enumerate(("R-loss", "T-loss")):
            for shift, method in ((-0.2, "NMF-GT"), (0.2, "CW-GT")):
                value = table.mean(loss, data=name, method=method)
                colour = marker(method)["color"]
                axes.bar(at + shift, value, 0.38, color=colour, label=method if at == 0 else None)
                for row in table.find("paper", data=name, method=method):
                    span = [at + shift - 0.19, at + shift + 0.19]
                    axes.plot(span, [row[loss]] * 2, color="black", linewidth=2)
        axes.set_xticks((0, 1), ("R-loss", "T-loss"))
        finish(axes, f"{name}; black lines: the paper", "", "Hamming errors per row")


def differs(tables: list[Table]) -> list[str]:
    (table,) = tables
    notes = []
    for name in table.values("data"):
        nmf, cw = (table.find(data=name, method=method)[0] for method in SHOWN)
        R, T = (
            f"{loss} of {number(average(nmf[loss]), 2)} against {number(average(cw[loss]), 2)}"
            for loss in ("R-loss", "T-loss")
        )
        least = number(nmf["at least"], 2)
        notes.append(f"{name}, NMF-GT against CW-GT: {R}, {T}; five labels a row cost at least {least}.")
    return notes
