"""Figure 4: P@1 against the share of the training rows, group testing beside one-vs-all.

Five trials, each with its own sample of the rows. NMF-GT and one-vs-all with 0/1 outputs are what the paper
compares; the same classifiers ranked by their scores (soft decoding, margins) are beside them. All use the
same solver and C = 1. The column weight is searched on the rows of the sample.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt.data import Dataset
from mlgt.data.datasets import Split

from ..evidence.record import Column, Table, average
from .measure import (
    HARD,
    P_COLUMNS,
    SOFT,
    WEIGHTS,
    Trials,
    design,
    draw_lines,
    finish,
    marker,
    number,
    train_and_judge,
)
from .published import LESS_DATA_SHARE
from .sources import SAMPLE, Data

PAPER = "Figure 4"
FULL = {
    "data": {"Bibtex": 120, "Mediamill": 50, "RCV1x-synth": 250},
    "shares": (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1),
    "trials": 5,
    "weights": (4, 6, 8, *WEIGHTS),
}
QUICK = {"data": {SAMPLE: 24}, "shares": (0.3, 1), "trials": 2, "weights": (4, 8)}
NAMES = {
    ("NMF-GT", HARD): "NMF-GT, hard",
    ("one-vs-all", HARD): "one-vs-all, 0/1",
    ("NMF-GT", SOFT): "NMF-GT, soft",
    ("one-vs-all", SOFT): "one-vs-all, margins",
}


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column("data"), Column("share", digits=2), Column("rows"), Column("method"), *P_COLUMNS]
    table = Table("less data", columns, by=("data", "share"))
    for name in data.available(config["data"]):
        split, m, trials = data.load(name), config["data"][name], Trials()
        n = split.train.Y.shape[0]
        for seed in range(config["trials"]):
            rng = np.random.default_rng(seed)
            order = rng.permutation(n)
            for share in config["shares"]:
                rows = np.sort(order[: round(share * n)])
                part = Split(Dataset(split.train.X[rows], split.train.Y[rows]), split.test)
                A, _ = design(part.train.Y, "NMF-GT", m, rng, config["weights"])
                one = sp.eye_array(A.shape[1], format="csr", dtype=np.float32)
                for method, groups in (("NMF-GT", A), ("one-vs-all", one)):
                    for decoder, figures in train_and_judge(part, groups, seed).items():
                        trials.add((share, len(rows), NAMES[method, decoder]), figures)
        for (share, rows, method), figures in trials.items():
            table.add(data=name, share=share, rows=rows, method=method, **figures)
    return [table]


def draw(figure: Any, tables: list[Table]) -> None:
    (table,) = tables
    names = table.values("data")
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(names))), names):
        for (method, decoder), label in NAMES.items():
            style = {"linestyle": "-" if decoder == HARD else "--"} | marker(method)
            draw_lines(axes, table.find(data=name, method=label), "share", "P@1", label=label, **style)
        finish(axes, name, "share of the training rows", "P@1")


def share_needed(table: Table, name: str, ours: str, theirs: str) -> float | None:
    """The smallest share of the rows with which `ours` reaches the P@1 of `theirs` on all; or None."""
    goal = table.mean("P@1", data=name, share=1, method=theirs)
    reached = [row["share"] for row in table.find(data=name, method=ours) if average(row["P@1"]) >= goal]
    return min(reached, default=None)


def differs(tables: list[Table]) -> list[str]:
    (table,) = tables
    notes = [f"The paper needs 15 to {LESS_DATA_SHARE:.0%} of the rows."]
    for name in table.values("data"):
        for ours, theirs in ((NAMES["NMF-GT", d], NAMES["one-vs-all", d]) for d in (HARD, SOFT)):
            share = share_needed(table, name, ours, theirs)
            goal = number(table.mean("P@1", data=name, share=1, method=theirs))
            how = "does not reach" if share is None else f"with {share:.0%} of the rows reaches"
            notes.append(f"{name}: {ours} {how} the P@1 of {theirs} with all rows, {goal}.")
        bits, margins = NAMES["one-vs-all", HARD], NAMES["one-vs-all", SOFT]
        share = share_needed(table, name, margins, bits)
        how = "no share" if share is None else f"{share:.0%}"
        notes.append(f"{name}: {margins} reaches the P@1 of {bits} with all rows with {how} of the rows.")
    return notes
