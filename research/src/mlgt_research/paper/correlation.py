"""Figure 5, left: does a smaller Phi_Y(A), eq. (1), go with a better P@k?

The paper permutes k-disjunct matrices at random and changes their size, and plots P@k against Phi of all of
them. Here too: SP-GT and CW-GT matrices of several sizes with randomly permuted columns. What that picture
leaves open is whether Phi or the size explains precision. So a second set keeps the size, the column weight
and the rows' sizes: one NMF design of which a share of the columns is permuted at random. With the share
the tie to the data goes, and nothing else. Hard decoding; rank correlations (Spearman's) of Phi and P@k.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr

from mlgt.groups import correlation_metric

from ..evidence.record import Column, Table
from .measure import HARD, P_COLUMNS, finish, marker, number, plan, train_and_judge
from .sources import SAMPLE, Data

PAPER = "Figure 5, left"
FULL = {
    "data": {"Bibtex": (60, 90, 120, 150)},
    "draws": 6,
    "m": 120,
    "weights": (8, 16),
    "shares": (0, 0.2, 0.4, 0.6, 0.8, 1),
    "trials": 5,
}
QUICK = {
    "data": {SAMPLE: (16, 32)}, "draws": 2, "m": 24, "weights": (4,), "shares": (0, 0.5, 1), "trials": 2,
}  # fmt: skip


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column("data"), Column("design"), Column("m"), Column("c"), Column("permuted", digits=1)]
    points = Table("designs", [*columns, Column("Phi", "", 2), *P_COLUMNS])
    (name,) = data.available(config["data"])
    split = data.load(name)

    def add(A, seed, **cells):
        figures = train_and_judge(split, A, seed, (HARD,))[HARD]
        points.add(data=name, Phi=correlation_metric(split.train.Y, A), **cells, **figures)

    rng = np.random.default_rng(0)
    for method, c in (("SP-GT", None), ("CW-GT", config["weights"][0])):
        for m in config["data"][name]:
            A = plan(split.train.Y, method, m, rng)[0](c, rng)
            for seed in range(config["draws"]):
                add(permute_columns(A, 1, rng), seed, design=method, m=m, c=c)
    for seed in range(config["trials"]):
        draw_groups, _ = plan(split.train.Y, "NMF-GT", config["m"], rng)
        for c in config["weights"]:
            A = draw_groups(c, rng)
            for share in config["shares"]:
                add(
                    permute_columns(A, share, rng),
                    seed,
                    design="NMF-GT",
                    m=config["m"],
                    c=c,
                    permuted=share,
                )
    return [points, correlations(points)]


def permute_columns(A: sp.csr_array, share: float, rng: np.random.Generator) -> sp.csr_array:
    """A with a random share of its columns permuted among themselves."""
    d = A.shape[1]
    chosen = rng.choice(d, round(share * d), replace=False)
    order = np.arange(d)
    order[chosen] = rng.permutation(chosen)
    return sp.csr_array(A[:, order])


def correlations(points: Table) -> Table:
    """Spearman's rank correlation of Phi and P@k in sets of designs; -1 is what the paper claims."""
    table = Table("rank correlation of Phi and P@k", [Column("set of designs"), Column("designs")])
    table.columns += [Column(f"P@{k}", "", 2) for k in (1, 3, 5)]
    permuted = [row for row in points.rows if "permuted" not in row]
    sets = {"permuted SP-GT and CW-GT, all sizes": permuted}
    for method in ("SP-GT", "CW-GT"):
        rows = [row for row in permuted if row["design"] == method]
        sets[f"permuted {method}, all sizes"] = rows
        for m in dict.fromkeys(row["m"] for row in rows):
            sets[f"permuted {method}, m = {m}"] = [row for row in rows if row["m"] == m]
    for c in dict.fromkeys(row["c"] for row in points.rows if "permuted" in row):
        rows = [row for row in points.rows if "permuted" in row and row["c"] == c]
        sets[f"NMF-GT, c = {c}, a share of its columns permuted"] = rows
    for name, rows in sets.items():
        phi = [row["Phi"] for row in rows]
        cells = {f"P@{k}": _spearman(phi, [row[f"P@{k}"] for row in rows]) for k in (1, 3, 5)}
        table.add(**{"set of designs": name, "designs": len(rows)}, **cells)
    return table


def _spearman(a, b):
    """None where one side is constant."""
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return float(spearmanr(a, b).statistic)


def draw(figure: Any, tables: list[Table]) -> None:
    points = tables[0]
    shared = [row for row in points.rows if "permuted" in row]
    weights = list(dict.fromkeys(row["c"] for row in shared))
    figure.set_size_inches(10.5, 4)
    left, *others = figure.subplots(1, 1 + len(weights), width_ratios=[1.4] + [1] * len(weights))
    for method in ("SP-GT", "CW-GT"):
        rows = [row for row in points.find(design=method) if "permuted" not in row]
        largest = max(row["m"] for row in rows)
        for m in dict.fromkeys(row["m"] for row in rows):
            phi, p = zip(*[(row["Phi"], row["P@1"]) for row in rows if row["m"] == m])
            style = marker(method) | {"alpha": 0.3 + 0.7 * m / largest, "label": f"{method}, m = {m}"}
            left.plot(phi, p, linestyle="", markersize=5, **style)
    finish(left, "Permuted random designs of several sizes", "Phi", "P@1, hard decoding")
    for axes, c in zip(others, weights):
        rows = [row for row in shared if row["c"] == c]
        phi, p, permuted = zip(*[(row["Phi"], row["P@1"], row["permuted"]) for row in rows])
        shown = axes.scatter(phi, p, 24, permuted, cmap="viridis")
        finish(axes, f"NMF-GT, m = {rows[0]['m']}, c = {c}", "Phi", legend=False)
    figure.colorbar(shown, ax=others[-1], label="share of columns permuted")


def mean_of(points: Table, name: str, c: int, share: float) -> float:
    """Over the NMF designs with this weight and this share of their columns permuted."""
    return np.mean([row[name] for row in points.find(design="NMF-GT", c=c, permuted=share)])


def differs(tables: list[Table]) -> list[str]:
    points, ranks = tables
    notes = [
        f"{row['set of designs']}: rank correlation of Phi and P@1 {number(row['P@1'], 2)}."
        for row in ranks.rows
        if row["P@1"] is not None and ", m = " not in row["set of designs"]
    ]
    rows = [row for row in points.rows if "permuted" in row]
    for c in dict.fromkeys(row["c"] for row in rows):
        as_drawn, permuted = (
            f"Phi {mean_of(points, 'Phi', c, share):.2f} and P@1 {number(mean_of(points, 'P@1', c, share))}"
            for share in (0, 1)
        )
        notes.append(f"NMF-GT with c = {c}: {as_drawn} as drawn, {permuted} with all columns permuted.")
    return notes
