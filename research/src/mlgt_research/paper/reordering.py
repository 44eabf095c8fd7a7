"""Figure 1: the label co-occurrence matrix reordered by vertex separators, and the time that takes.

Blocks along the diagonal, separators in the band at the end: strict separators, as in the paper, which part
no two labels that occur together, and separators of at most 5 % of the labels (ours), which lose a share of
the co-occurrences. By METIS, one separator for all blocks; CPU seconds on one thread with the building of
the graph. The paper's times are of another program and machine.

The paper says the cost is O(nnz(YY')) = O(dk). `pairs / (d k)` counts the pairs of labels that occur
together. The second table looks at synthetic label sets of growing d (as many rows as labels, 5 labels
per row): how the pairs and the times grow, of strict separators and of at most 5 %, the least of three
runs.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.errors import NoSeparatorError
from mlgt.data.synth import make
from mlgt.labels.graph import cooccurrence
from mlgt.labels.partition import Partition, partition_labels
from mlgt.report.pictures import binned_cooccurrence

from ..evidence.record import Column, Table, average
from .measure import finish, number
from .published import REORDERING as PRINTED
from .sources import SAMPLE, Data

PAPER = "Figure 1 and supplement"
FULL = {
    "data": {"EURLex-4K": 4, "Wiki10-synth": 5, "YSO-Finna-en": 12, "WordNet-hypernyms": 5},
    "budgets": (None, 0.05),
    "trials": 3,
    "labels": (4000, 16000, 64000),
    "blocks": 8,
}
QUICK = {"data": {SAMPLE: 2}, "budgets": (None, 0.3), "trials": 1, "labels": (200, 800), "blocks": 2}
PIXELS = 110


def run(config: dict[str, Any], data: Data) -> list[Table]:
    table = Table("reordering", [Column(name) for name in ("data", "d", "blocks", "separators")])
    table.columns += [Column("pairs / (d k)", "", 1), Column("in separators", "", 0)]
    table.columns += [Column("largest S + C_i", "", 0), Column("lost share", "", 3), Column("CPU s", "", 2)]
    names = list(data.available(config["data"]))
    for name in names:
        Y, blocks = data.load(name).train.Y, config["data"][name]
        for budget in config["budgets"]:
            cells = partitioned(Y, blocks, budget, config["trials"])
            kind = "strict" if budget is None else f"at most {budget:.0%}"
            if kind != "strict":
                del cells["image"]
            cells["pairs / (d k)"] = pairs_ratio(cooccurrence(Y), Y)
            table.add(data=name, d=Y.shape[1], blocks=blocks, separators=kind, **cells)
    for name, (blocks, seconds) in PRINTED.items():
        table.add("paper", data=name, blocks=blocks, separators="strict", **{"CPU s": seconds})
    return [table, scaling(config)]


def partitioned(Y: sp.csr_array, blocks: int, budget: float | None, trials: int) -> dict[str, Any]:
    """Sizes and seconds over the trials, and a small image of the last one."""
    sizes: list[tuple] = []
    cells: dict[str, Any] = {"CPU s": []}
    split(cooccurrence(Y[:50]), 0, 2, None)  # load what is compiled
    for seed in range(trials):
        began = time.process_time()
        G = cooccurrence(Y)
        found = split(G, seed, blocks, budget)
        cells["CPU s"].append(time.process_time() - began)
        if found is not None:
            sizes.append((len(found.separator), int(found.sizes.max()), found.lost or 0.0))
    if not sizes:
        return cells | {"image": None}
    names = ("in separators", "largest S + C_i", "lost share")
    image = (
        binned_cooccurrence(G, found.permutation, min(PIXELS, Y.shape[1])) if found is not None else None
    )
    return cells | {n: list(v) for n, v in zip(names, zip(*sizes))} | {"image": _digits(image)}


def split(
    G: sp.csr_array, seed: int, blocks: int, budget: float | None, branching: int | None = None
) -> Partition | None:
    """A partition; the nearest there is where the graph cannot be split so; or None."""
    options: dict[str, Any] = {"n_blocks": blocks, "budget": budget, "branching": branching or blocks}
    try:
        return partition_labels(G, np.random.default_rng(seed), **options)
    except NoSeparatorError as error:
        return error.partition


def _digits(image):
    """Rows of digits 0 to 9: the logarithm of what a pixel holds."""
    if image is None:
        return None
    levels = np.ceil(9 * np.log1p(image) / np.log1p(image.max())).astype(int)
    return ["".join(map(str, row)) for row in levels.tolist()]


def scaling(config: dict[str, Any]) -> Table:
    """Pairs and seconds for growing d at 5 labels per row."""
    columns = [Column("d"), Column("pairs / (d k)", "", 1)]
    table = Table("scaling", [*columns, *(Column(name, "", 2) for name in TIMES)])
    for d in config["labels"]:
        Y = make(rows=d, features=64, labels=d, labels_per_row=5, words_per_row=2, test_rows=1).train.Y
        G = cooccurrence(Y)
        steps = (
            lambda Y=Y: cooccurrence(Y),
            lambda G=G: split(G, 0, config["blocks"], None, 2),
            lambda G=G: split(G, 0, config["blocks"], 0.05, 2),
        )
        seconds = {name: least_seconds(step, config["trials"]) for name, step in zip(TIMES, steps)}
        table.add(d=d, **{"pairs / (d k)": pairs_ratio(G, Y)}, **seconds)
    return table


TIMES = ("graph, CPU s", "strict, CPU s", "at most 5%, CPU s")


def least_seconds(step: Callable[[], Any], trials: int) -> float:
    """CPU seconds of the quickest of some runs."""
    found = []
    for _ in range(trials):
        began = time.process_time()
        step()
        found.append(time.process_time() - began)
    return min(found)


def pairs_ratio(G: sp.csr_array, Y: sp.csr_array) -> float:
    """Pairs of labels that occur together, over d k."""
    pairs = (G.nnz - np.count_nonzero(G.diagonal())) / 2
    return float(pairs / (Y.shape[1] * Y.nnz / Y.shape[0]))


def exponent(table: Table, name: str) -> float:
    """The power of d with which a column grows, by least squares in logarithms."""
    d, values = np.transpose([(row["d"], max(row[name], 1e-4)) for row in table.rows])
    return float(np.polyfit(np.log(d), np.log(values), 1)[0])


def draw(figure: Any, tables: list[Table]) -> None:
    shown = [row for row in tables[0].find(separators="strict") if row.get("image")]
    figure.set_size_inches(3.4 * max(1, len(shown)), 3.9)
    for axes, row in zip(np.atleast_1d(figure.subplots(1, max(1, len(shown)))), shown):
        levels = np.array([[int(digit) for digit in line] for line in row["image"]])
        axes.imshow(np.ma.masked_equal(levels, 0), cmap="YlGnBu", vmin=-1, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        share = average(row["in separators"]) / row["d"]
        finish(axes, f"{row['data']}: {row['blocks']} blocks,\n{share:.0%} of {row['d']:,} labels in S",
               legend=False)  # fmt: skip
        axes.grid(visible=False)


def differs(tables: list[Table]) -> list[str]:
    table, growth = tables
    notes = []
    for row in table.find(separators="strict"):
        if row.get("in separators"):
            share = average(row["in separators"]) / row["d"]
            notes.append(
                f"{row['data']}: {share:.0%} of the labels are in a strict separator, and it takes "
                f"{number(average(row['CPU s']), 2)} CPU s."
            )
    first, last = growth.rows[0], growth.rows[-1]
    notes.append(
        f"From d = {first['d']:,} to {last['d']:,} at 5 labels a row, pairs / (d k) goes from "
        f"{first['pairs / (d k)']:.1f} to {last['pairs / (d k)']:.1f}; the graph's time grows as "
        f"d^{exponent(growth, TIMES[0]):.2f}, that of a strict partition as "
        f"d^{exponent(growth, TIMES[1]):.2f}, with at most 5 % in separators as "
        f"d^{exponent(growth, TIMES[2]):.2f}."
    )
    return notes
