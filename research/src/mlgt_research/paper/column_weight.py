"""Figure 5, middle: P@k of NMF-GT against the column weight c, the groups a label joins.

One factorisation per trial, from which groups of every weight are drawn; hard decoding, the paper's, and
soft, ours. The paper does not name its data set or its values. CW-GT of the same weights is beside it
(ours): Remark 1 picks a weight for each construction by itself, so that tables which follow it compare the
weights, too.
"""

from itertools import product
from typing import Any

import numpy as np

from ..evidence.record import Column, Table, average
from .measure import (
    DECODER_NAMES,
    HARD,
    P_COLUMNS,
    PI_COLUMNS,
    SOFT,
    Trials,
    draw_lines,
    finish,
    number,
    plan,
    train_and_judge,
)
from .sources import SAMPLE, Data

PAPER = "Figure 5, middle"
DECODED = ("hard", "soft")
FULL = {
    "data": {
        "Bibtex": {"m": 120, "trials": 5, "weights": (2, 4, 6, 8, 12, 16, 24, 32, 48, 60)},
        "EURLex-4K": {"m": 350, "trials": 5, "weights": (2, 4, 8, 16, 32, 64, 128)},
    }
}
SHOWN = ("NMF-GT", "CW-GT")
QUICK = {"data": {SAMPLE: {"m": 24, "trials": 2, "weights": (2, 6, 12)}}}


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column(name) for name in ("data", "m", "decoder", "method", "c")]
    table = Table("column weight", [*columns, *P_COLUMNS, *PI_COLUMNS], by=("data", "decoder"))
    for name in data.available(config["data"]):
        split, options, trials = data.load(name), config["data"][name], Trials()
        for seed in range(options["trials"]):
            for method in SHOWN:
                rng = np.random.default_rng(seed)
                draw_groups, _ = plan(split.train.Y, method, options["m"], rng)
                for c in options["weights"]:
                    for decoder, figures in train_and_judge(split, draw_groups(c, rng), seed).items():
                        trials.add((decoder, method, c), figures)
        for key in product((HARD, SOFT), SHOWN, options["weights"]):
            decoder, method, c = key
            cells = {"data": name, "m": options["m"], "decoder": DECODER_NAMES[decoder], "method": method}
            table.add(**cells, c=c, **trials.rows[key])
    return [table]


def draw(figure: Any, tables: list[Table]) -> None:
    (table,) = tables
    names = table.values("data")
    figure.set_size_inches(9, 3.4 * len(names) + 0.5)
    grid = figure.subplots(len(names), 2, squeeze=False, sharey="row")
    for (name, line), (axes, decoder) in ((a, b) for a in zip(names, grid) for b in zip(a[1], DECODED)):
        for method, style in zip(SHOWN, ("-", ":")):
            for measure, colour in (("P@1", "#b2182b"), ("P@3", "#2166ac"), ("P@5", "#333333")):
                rows = table.find(data=name, decoder=decoder, method=method)
                label = f"{method}, {measure}"
                draw_lines(axes, rows, "c", measure, label=label, color=colour, linestyle=style, marker=".")
        axes.set_xscale("log", base=2)
        title = f"{name}, m = {table.find(data=name)[0]['m']}, {decoder} decoding"
        finish(axes, title, "column weight c", "P@k" if axes is line[0] else "", legend=False)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8, frameon=False
    )


def peak(table: Table, name: str, decoder: str, method: str, measure: str = "P@5") -> dict[str, Any]:
    """The row with the largest figure."""
    rows = table.find(data=name, decoder=decoder, method=method)
    return max(rows, key=lambda row: average(row[measure]))


def differs(tables: list[Table]) -> list[str]:
    (table,) = tables
    notes = []
    for name in table.values("data"):
        for decoder in DECODED:
            tops = (peak(table, name, decoder, method) for method in SHOWN)
            listed = ", ".join(
                f"{method} at c = {top['c']} ({number(average(top['P@5']))})"
                for method, top in zip(SHOWN, tops)
            )
            notes.append(f"{name}, {decoder} decoding: P@5 is largest for {listed}.")
    return notes
