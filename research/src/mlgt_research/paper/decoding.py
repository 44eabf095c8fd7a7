"""Proposition 1: m = O(k log(d/k)) SAFFRON tests give back a share of k labels, in O(k log(d/k)) steps.

*Recovery.* Rows of k random labels among d are pooled exactly on a regular graph with local signatures,
then a share of the tests is flipped; `found` is the share of the k labels among the k best decoded, hard
(the paper's peeling) and noisy (ours, on margins). tau is m / (k log2(d/k)). The column weight is what
density evolution finds best; `expected` is what it predicts for hard decoding of exact tests.

*Operations.* k labels, exact tests, five bins per label present: the operations the decoders count, and how
they grow with d. The linear decoder adds up c = 16 groups of each of d labels. Counts, not times: the same
on every machine. `research/micro/saffron.py` has the times.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mlgt.decoding import decode_noisy, decode_peeling
from mlgt.groups import regular_graph, saffron_design
from mlgt.groups.density_evolution import best_column_weight, expected_recovery
from mlgt.groups.saffron import SaffronDesign

from ..evidence.record import Column, Table
from .measure import finish, number
from .sources import Data

PAPER = "Proposition 1, section 3"
FULL = {
    "sizes": ((4000, 5), (4000, 20), (100000, 5), (100000, 20)),
    "bins": (1, 1.5, 2, 2.5, 3, 4, 6),
    "wrong": (0, 0.01, 0.05),
    "rows": 200,
    "labels": (1000, 10000, 100000, 1000000),
    "k": 5,
}
QUICK = {
    "sizes": ((500, 4),), "bins": (2, 5), "wrong": (0, 0.05), "rows": 20, "labels": (500, 5000), "k": 4,
}  # fmt: skip
DECODERS: dict[str, Callable] = {"hard": decode_peeling, "noisy": decode_noisy}
LINEAR_WEIGHT = 16


def run(config: dict[str, Any], data: Data) -> list[Table]:
    return [recovery(config), operations(config)]


def recovery(config: dict[str, Any]) -> Table:
    columns = [Column("d"), Column("k"), Column("bins"), Column("c"), Column("m"), Column("tau", "", 1)]
    found = [Column(name, "", 3) for name in _names(config["wrong"])]
    table = Table("recovery", [*columns, Column("expected", "", 3), *found])
    for d, k in config["sizes"]:
        for times in config["bins"]:
            rng, bins = np.random.default_rng(0), round(times * k)
            c = best_column_weight(k, bins)
            labels = draw_labels(rng, config["rows"], d, k)
            peeling = saffron_design(regular_graph(bins, d, c, rng), rng)
            cells = {"m": peeling.n_groups, "tau": peeling.n_groups / (k * np.log2(d / k))}
            for wrong in config["wrong"]:
                for name, share in shares_found(peeling, labels, wrong, rng).items():
                    cells[f"{name}, {wrong:.0%} wrong"] = share
            table.add(d=d, k=k, bins=bins, c=c, expected=expected_recovery(k, bins, c), **cells)
    return table


def _names(wrong):
    return [f"{name}, {share:.0%} wrong" for name in DECODERS for share in wrong]


def draw_labels(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """k different labels of each of n rows."""
    return np.array([rng.choice(d, k, replace=False) for _ in range(n)])


def shares_found(
    design: SaffronDesign, labels: np.ndarray, wrong: float, rng: np.random.Generator
) -> dict[str, float]:
    """The share of the labels (n, k), padded by -1, that each decoder finds when a share of the tests is
    wrong."""
    tests = design.pool(labels)
    tests ^= rng.random(tests.shape) < wrong
    margins = np.where(tests, np.float32(1), np.float32(-1))
    shares = {}
    for name, decode in DECODERS.items():
        decoded, _ = decode(design, margins, labels.shape[1])
        sets = [(row[row >= 0], best) for row, best in zip(labels, decoded)]
        found = sum(np.isin(row, best[: len(row)]).sum() for row, best in sets)
        shares[name] = float(found / (labels >= 0).sum())
    return shares


def operations(config: dict[str, Any]) -> Table:
    columns = [Column("d"), Column("m"), Column("k log2(d/k)", "", 0), Column("linear decoder", "", 0)]
    table = Table("operations", [*columns, Column("hard", "", 0), Column("noisy", "", 0)])
    table.columns += [Column("hard / k log2(d/k)", "", 1), Column("noisy / k log2(d/k)", "", 0)]
    k, n = config["k"], 50
    for d in config["labels"]:
        rng = np.random.default_rng(0)
        design = saffron_design(regular_graph(5 * k, d, 5, rng), rng)
        labels = draw_labels(rng, n, d, k)
        margins = np.where(design.pool(labels), np.float32(1), np.float32(-1))
        bound = k * np.log2(d / k)
        cells = {"m": design.n_groups, "k log2(d/k)": bound, "linear decoder": LINEAR_WEIGHT * d}
        for name, decode in DECODERS.items():
            counts = np.empty(n, np.int64)
            decode(design, margins, k, operations=counts)
            cells |= {name: float(counts.mean()), f"{name} / k log2(d/k)": float(counts.mean() / bound)}
        table.add(d=d, **cells)
    return table


def draw(figure: Any, tables: list[Table]) -> None:
    recovered, counted = tables
    left, right = figure.subplots(1, 2)
    for d, k in dict.fromkeys((row["d"], row["k"]) for row in recovered.rows):
        rows = recovered.find(d=d, k=k)
        (line,) = left.plot(
            [row["tau"] for row in rows], [row["hard, 0% wrong"] for row in rows], "o-", markersize=4,
            label=f"d = {d:,}, k = {k}",
        )  # fmt: skip
        for name, style in (("hard, 5% wrong", ":"), ("noisy, 5% wrong", "--")):
            left.plot(
                [row["tau"] for row in rows], [row[name] for row in rows], style, color=line.get_color()
            )
    title = "Solid: hard, exact tests\n5 % wrong: hard dotted, noisy dashed"
    finish(left, title, "tau = m / (k log2(d/k))", "share of the k labels found")
    for name in ("linear decoder", "hard", "noisy", "k log2(d/k)"):
        style = "--" if name.startswith("k") else "o-"
        d, counts = zip(*[(row["d"], row[name]) for row in counted.rows])
        right.loglog(d, counts, style, markersize=4, label=name)
    finish(right, "Operations per row", "labels d", "")


def differs(tables: list[Table]) -> list[str]:
    recovered, counted = tables
    largest = max(recovered.rows, key=lambda row: row["d"])
    rows = recovered.find(d=largest["d"], k=largest["k"])
    enough = next((row for row in rows if row["hard, 0% wrong"] >= 0.99), None)
    notes = []
    if enough is not None:
        notes.append(
            f"d = {enough['d']:,}, k = {enough['k']}: 99 % of the labels are back from {enough['m']:,} "
            f"exact tests, tau = {enough['tau']:.1f}; with 5 % of them wrong the paper's decoder finds "
            f"{number(enough['hard, 5% wrong'])} of the labels, ours {number(enough['noisy, 5% wrong'])}."
        )
    first, last = counted.rows[0], counted.rows[-1]
    notes.append(
        f"From d = {first['d']:,} to {last['d']:,} the hard decoder's operations go from "
        f"{first['hard']:,.0f} to {last['hard']:,.0f}, {number(first['hard / k log2(d/k)'], 1)} to "
        f"{number(last['hard / k log2(d/k)'], 1)} times k log2(d/k); scoring all labels takes "
        f"{last['linear decoder']:,} additions."
    )
    return notes
