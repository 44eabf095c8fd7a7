"""Figure 5, right: NMF-GT and CW-GT on EURLex-4K as the number of groups m grows.

The paper finds NMF-GT ahead for small m and behind for large m, and blames the NMF. Column weights are
searched as in Remark 1, over the range of the authors' code, 10, 20, ... 70; hard decoding and soft.
"""

from typing import Any

import numpy as np

from ..evidence.record import Column, Table
from .measure import (
    DECODER_NAMES,
    P_COLUMNS,
    PI_COLUMNS,
    WEIGHTS,
    Trials,
    design,
    draw_lines,
    finish,
    marker,
    number,
    train_and_judge,
)
from .sources import SAMPLE, Data

PAPER = "Figure 5, right"
FULL = {"data": {"EURLex-4K": (100, 200, 350, 600, 1000)}, "trials": 5, "weights": WEIGHTS}
QUICK = {"data": {SAMPLE: (12, 40)}, "trials": 1, "weights": (3, 6)}
SHOWN = ("NMF-GT", "CW-GT")


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column("data"), Column("m"), Column("method"), Column("decoder"), Column("c", digits=0)]
    table = Table("large m", [*columns, *P_COLUMNS, *PI_COLUMNS], by=("data", "m", "decoder"))
    for name in data.available(config["data"]):
        split, trials = data.load(name), Trials()
        for m in config["data"][name]:
            for method in SHOWN:
                for seed in range(config["trials"]):
                    rng = np.random.default_rng(seed)
                    A, c = design(split.train.Y, method, m, rng, config["weights"])
                    for decoder, figures in train_and_judge(split, A, seed).items():
                        trials.add((m, method, DECODER_NAMES[decoder]), figures | {"c": c})
        for (m, method, decoder), figures in trials.items():
            table.add(data=name, m=m, method=method, decoder=decoder, **figures)
    return [table]


def draw(figure: Any, tables: list[Table]) -> None:
    (table,) = tables
    name = table.rows[0]["data"]
    for axes, decoder in zip(figure.subplots(1, 2, sharey=True), ("hard", "soft")):
        for method in SHOWN:
            for measure, style in (("P@1", "-"), ("P@5", "--")):
                rows, label = table.find(method=method, decoder=decoder), f"{method}, {measure}"
                draw_lines(axes, rows, "m", measure, label=label, linestyle=style, **marker(method))
        finish(axes, f"{name}, {decoder} decoding", "groups m", "P@k")


def differs(tables: list[Table]) -> list[str]:
    (table,) = tables
    notes = []
    for decoder in ("hard", "soft"):
        pairs = [
            f"{number(table.mean('P@5', m=m, method='NMF-GT', decoder=decoder))} / "
            f"{number(table.mean('P@5', m=m, method='CW-GT', decoder=decoder))} at m = {m}"
            for m in table.values("m")
        ]
        notes.append(f"P@5 with {decoder} decoding, NMF-GT / CW-GT: {', '.join(pairs)}.")
    return notes
