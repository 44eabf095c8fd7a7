"""Theorem 1: what the votes b = A'(A OR y) are for labels in y and outside it; and m = O(k log d).

*Votes.* A is drawn again and again by the paper's Bernoulli sampling from the reweighted H of the training
labels; for test rows y (their labels known, no classifiers) the mean of b over the draws stands beside the
theorem's. `bound broken`: the share of labels outside y whose exact expectation exceeds the printed bound.
The supplement adds that b is concentrated: `sd in y` is the standard deviation of b for labels in y, `gap`
how far the labels outside stay below c on average, and `overtaken` the share of labels in y that some label
outside reaches or passes in one draw.

*Groups needed.* Random constant-weight designs, c = m / (2 k), of d labels: the smallest m on a grid with
which the top k of b are right for 99 % of the labels of random k-sets, beside k log2 d.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.topk import top_k
from mlgt.decoding.top_k import group_votes
from mlgt.groups import constant_weight_groups, pool
from mlgt.groups.reweight import reweight
from mlgt.groups.sampling import bernoulli
from mlgt.groups.theory import expected_votes, printed_bound
from mlgt.labels.graph import cooccurrence
from mlgt.labels.symnmf import symmetric_nmf

from ..evidence.record import Column, Table
from .measure import finish, number
from .sources import SAMPLE, Data

PAPER = "Theorem 1, section 3 and supplement B"
FULL = {
    "data": {"Bibtex": 120, "EURLex-4K": 350},
    "weights": (4, 10, 20),
    "rows": 40,
    "draws": 100,
    "sizes": (500, 2000, 8000, 32000),
    "ks": (5, 10),
}
QUICK = {
    "data": {SAMPLE: 24}, "weights": (4,), "rows": 5, "draws": 20, "sizes": (200, 400), "ks": (3,),
}  # fmt: skip
MIN_RECOVERED = 0.99


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column("data"), Column("m"), Column("c"), Column("E[b] in y", "", 2)]
    columns += [Column("mean in y", "", 2), Column("E[b] outside", "", 2), Column("mean outside", "", 2)]
    columns += [Column("printed bound", "", 1), Column("bound broken", "", 3), Column("sd in y", "", 2)]
    columns += [Column("gap", "", 2), Column("overtaken", "", 3)]
    votes = Table("votes", columns)
    for name in data.available(config["data"]):
        split, m = data.load(name), config["data"][name]
        H = symmetric_nmf(cooccurrence(split.train.Y), m, np.random.default_rng(0)).H
        for c in config["weights"]:
            votes.add(data=name, m=m, c=c, **draw_votes(H, split.test.Y, c, config))
    return [votes, groups_needed(config)]


def draw_votes(H: np.ndarray, Y: sp.csr_array, c: int, config: dict[str, Any]) -> dict[str, float]:
    """Means over rows of what is drawn and what is expected."""
    rng = np.random.default_rng(0)
    P = reweight(H.T, c)  # (d, m)
    supports = [Y.indices[a:b] for a, b in zip(Y.indptr, Y.indptr[1:]) if b > a]
    supports = [supports[i] for i in rng.choice(len(supports), min(config["rows"], len(supports)), False)]
    rows = Y[[0] * len(supports)].toarray() * 0
    for row, support in zip(rows, supports):
        row[support] = 1
    inside = rows > 0
    draws = []
    for _ in range(config["draws"]):
        A = bernoulli(P, rng).T.astype(np.float32)  # (m, d)
        Z = (rows @ A.T > 0).astype(np.float32)
        draws.append(Z @ A)
    b = np.array(draws)  # (draws, rows, d)
    expected = np.array([expected_votes(P.T, support) for support in supports])
    bounds = np.array([printed_bound(P.T, support) for support in supports])
    best_outside = np.where(inside, -1, b).max(axis=2, keepdims=True)
    return {
        "E[b] in y": expected[inside].mean(),
        "mean in y": b[:, inside].mean(),
        "E[b] outside": expected[~inside].mean(),
        "mean outside": b[:, ~inside].mean(),
        "printed bound": bounds.mean(),
        "bound broken": (expected > bounds[:, None])[~inside].mean(),
        "sd in y": b.std(axis=0)[inside].mean(),
        "gap": c - expected[~inside].mean(),
        "overtaken": (best_outside >= b)[:, inside].mean(),
    }


def groups_needed(config: dict[str, Any]) -> Table:
    table = Table("groups needed", [Column(name) for name in ("d", "k", "m")])
    table.columns += [Column("k log2 d", "", 0), Column("m / (k log2 d)", "", 2)]
    for k in config["ks"]:
        m = 4 * k
        for d in config["sizes"]:
            while recovered(m, d, k) < MIN_RECOVERED:
                m = round(1.1 * m) + 1
            bound = k * np.log2(d)
            table.add(d=d, k=k, m=m, **{"k log2 d": bound, "m / (k log2 d)": m / bound})
    return table


def recovered(m: int, d: int, k: int, n: int = 200) -> float:
    """The share of k labels of random sets that exact tests give back."""
    rng = np.random.default_rng(0)
    A = constant_weight_groups(m, d, max(1, m // (2 * k)), rng)
    labels = np.array([rng.choice(d, k, replace=False) for _ in range(n)])
    Y = np.zeros((n, d), np.float32)
    np.put_along_axis(Y, labels, 1, axis=1)
    found, _ = top_k(group_votes(pool(Y, A).toarray(), A), k)
    return np.mean([np.isin(a, b).mean() for a, b in zip(labels, found)])


def draw(figure: Any, tables: list[Table]) -> None:
    votes, needed = tables
    left, right = figure.subplots(1, 2)
    names = [f"{row['data']}\nc = {row['c']}" for row in votes.rows]
    at = np.arange(len(names))
    series = (("mean in y", "#1b7837"), ("mean outside", "#bbbbbb"), ("printed bound", "#b2182b"))
    for shift, (name, colour) in zip((-0.27, 0, 0.27), series):
        left.bar(at + shift, [row[name] for row in votes.rows], 0.26, color=colour, label=name)
    left.set_yscale("log")
    left.set_xticks(at, names, fontsize=7)
    left.margins(y=0.25)
    finish(left, "Votes b, and the bound printed for those outside", "", "votes")
    for k in dict.fromkeys(row["k"] for row in needed.rows):
        rows = needed.find(k=k)
        right.plot([row["d"] for row in rows], [row["m"] for row in rows], "o-", label=f"k = {k}")
    right.set_xscale("log")
    finish(right, "Groups that give back 99 % of k labels, exact tests", "labels d", "m")


def differs(tables: list[Table]) -> list[str]:
    votes, needed = tables
    notes = []
    for row in votes.rows:
        notes.append(
            f"{row['data']}, c = {row['c']}: the printed bound is broken by {row['bound broken']:.1%} of "
            f"the labels outside a row; {row['overtaken']:.1%} of the labels in it are reached by another."
        )
    ratios = [row["m / (k log2 d)"] for row in needed.rows]
    notes.append(
        f"m / (k log2 d) is {number(min(ratios), 2)} to {number(max(ratios), 2)} for d = "
        f"{needed.rows[0]['d']:,} to {needed.rows[-1]['d']:,}."
    )
    return notes
