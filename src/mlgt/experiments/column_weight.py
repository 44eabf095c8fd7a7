"""Figure 5, middle: P@k of NMF-GT against the column weight c, the groups a label joins.

One factorisation a trial, from which groups of every weight are drawn; hard decoding, the paper's, and
soft, ours. The paper does not name its data set or its values.
"""

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
from .sources import SAMPLE

PAPER = "Figure 5, middle"
FULL = {
    "data": {
        "Bibtex": {"m": 120, "trials": 5, "weights": (2, 4, 6, 8, 12, 16, 24, 32, 48, 60)},
        "EURLex-4K": {"m": 350, "trials": 5, "weights": (2, 4, 8, 16, 32, 64, 128)},
    }
}
QUICK = {"data": {SAMPLE: {"m": 24, "trials": 2, "weights": (2, 6, 12)}}}


def run(config, data):
    columns = [Column("data"), Column("m"), Column("decoder"), Column("c"), *P_COLUMNS, *PI_COLUMNS]
    table = Table("column weight", columns, by=("data", "decoder"))
    for name in data.available(config["data"]):
        split, options, trials = data.load(name), config["data"][name], Trials()
        for seed in range(options["trials"]):
            rng = np.random.default_rng(seed)
            draw_groups, _ = plan(split.train.Y, "NMF-GT", options["m"], rng)
            for c in options["weights"]:
                for decoder, figures in train_and_judge(split, draw_groups(c, rng), seed).items():
                    trials.add((decoder, c), figures)
        for decoder in (HARD, SOFT):
            for c in options["weights"]:
                cells = trials.rows[decoder, c]
                table.add(data=name, m=options["m"], decoder=DECODER_NAMES[decoder], c=c, **cells)
    return [table]


def draw(figure, tables):
    (table,) = tables
    names = table.values("data")
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(names))), names):
        for decoder, style in (("hard", "-"), ("soft", "--")):
            for measure, colour in (("P@1", "#b2182b"), ("P@3", "#2166ac"), ("P@5", "#333333")):
                rows, label = table.find(data=name, decoder=decoder), f"{measure}, {decoder}"
                draw_lines(axes, rows, "c", measure, label=label, color=colour, linestyle=style, marker=".")
        axes.set_xscale("log", base=2)
        title = f"NMF-GT on {name}, m = {table.find(data=name)[0]['m']}"
        finish(axes, title, "column weight c", "P@k", legend=False)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8, frameon=False
    )


def peak(table, name, decoder, measure="P@5"):
    """The row with the largest figure."""
    return max(table.find(data=name, decoder=decoder), key=lambda row: average(row[measure]))


def differs(tables):
    (table,) = tables
    said = []
    for name in table.values("data"):
        for decoder in ("hard", "soft"):
            best, last = peak(table, name, decoder), table.find(data=name, decoder=decoder)[-1]
            said.append(
                f"{name}, {decoder} decoding: P@5 is largest at c = {best['c']} "
                f"({number(average(best['P@5']))}) and {number(average(last['P@5']))} at c = {last['c']}."
            )
    return said
