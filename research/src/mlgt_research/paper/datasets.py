"""The table of data set statistics: labels d, labels per row k, training rows n, test rows nt, features p.

Computed from the files, beside what the paper prints. Data sets of the paper that are not at hand have the
printed line only; those below it are mlgt's own choice. k is the mean over the training rows.
"""

from typing import Any

import numpy as np

from ..evidence.record import Column, Table
from .measure import finish
from .published import STATISTICS
from .sources import DEBTAGS, SAMPLE, STAND_IN, Data

PAPER = "section 5, data set statistics"
FULL = {"data": [
    "Mediamill", "Bibtex", "RCV1x-synth", "EURLex-4K", "AmazonCat-synth", "Wiki10-synth",
    "WikiLSHTC-synth", "Amazon-670K-synth", DEBTAGS, "YSO-Finna-en", "WordNet-hypernyms",
]}  # fmt: skip
QUICK = {"data": [SAMPLE]}


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column("data"), Column("d"), Column("k", digits=2), Column("n"), Column("nt"), Column("p")]
    table = Table("statistics", [*columns, Column("labels seen"), Column("rows without labels")])
    names = data.available(config["data"])
    printed = dict(STATISTICS)
    for name in names:
        train, test = data.load(name)
        counts = np.sort(np.bincount(train.Y.indices, minlength=train.Y.shape[1]))[::-1]
        (n, d), p = train.Y.shape, train.X.shape[1]
        table.add(
            data=name, d=d, k=train.Y.nnz / n, n=n, nt=test.Y.shape[0], p=p,
            **{"labels seen": int((counts > 0).sum()), "frequencies": _thin(counts)},
            **{"rows without labels": int((np.diff(train.Y.indptr) == 0).sum())},
        )  # fmt: skip
        _print(table, name.removesuffix(STAND_IN), printed)
    for name in list(printed):
        _print(table, name, printed)
    return [table]


def _print(table, name, printed):
    if name in printed:
        table.add("paper", data=name, **dict(zip(("d", "k", "n", "nt", "p"), printed.pop(name))))


def _thin(counts, points=60):
    """Ranks and frequencies of some labels, evenly spaced in the logarithm of the rank."""
    counts = counts[counts > 0]
    ranks = np.unique(np.geomspace(1, len(counts), points).astype(int))
    return [[int(rank), int(counts[rank - 1])] for rank in ranks]


def draw(figure: Any, tables: list[Table]) -> None:
    axes = figure.subplots()
    for row in tables[0].find():
        ranks, counts = np.transpose(row["frequencies"])
        axes.loglog(ranks, counts / row["n"], label=row["data"])
    finish(axes, "How frequent labels are", "rank of the label", "share of the training rows")


def differs(tables: list[Table]) -> list[str]:
    notes = []
    for row in tables[0].find():
        for printed in tables[0].find("paper", data=row["data"]):
            wrong = [name for name in ("d", "n", "nt", "p") if row[name] != printed[name]]
            if wrong:
                pairs = ", ".join(f"{name} {row[name]:,} (printed {printed[name]:,})" for name in wrong)
                notes.append(f"{row['data']} has {pairs}.")
            elif abs(row["k"] - printed["k"]) >= 0.005:
                notes.append(
                    f"{row['data']} has all counts as printed, but {row['k']:.2f} labels a row (printed "
                    f"{printed['k']:.2f})."
                )
    return notes
