"""Figure 3: Pi@k against the runtime as the number of groups grows, and against the number of blocks.

He-NMFGT on EURLex-4K as in Table 2: strict separators, c = 40 groups per label (fewer where m is small),
votes weighted, hard decoding; one block is NMF-GT. The paper's third plot is of Wiki10, which is not at
hand: here it is of EURLex-4K, with one block of as many groups as four have beside it, and of a stand-in.
Seconds are CPU on one thread, all blocks, with prediction; the paper's rule, one block, is in a column of
its own.
"""

import time
from typing import Any

import numpy as np

from mlgt.data.datasets import Split
from mlgt.estimators.methods import make_estimator

from ..bench.ours import fit_timed
from ..evidence.record import Column, Table, average
from .measure import PI_COLUMNS, Trials, draw_lines, finish, judge, number
from .sources import SAMPLE, STAND_IN, Data

PAPER = "Figure 3"
FULL = {
    "data": {
        "EURLex-4K": {"m": (50, 100, 200, 300, 400), "blocks": (1, 2, 4, 8), "at": (4, 300), "flat": 1200},
        "Wiki10-synth": {"m": (300,), "blocks": (2, 5, 10), "at": (5, 300), "flat": 1500},
    },
    "weight": 40,
    "trials": 3,
}
QUICK = {
    "data": {SAMPLE: {"m": (8, 16), "blocks": (1, 2), "at": (2, 16), "flat": 32}},
    "weight": 4,
    "trials": 1,
}


def run(config: dict[str, Any], data: Data) -> list[Table]:
    columns = [Column("data"), Column("blocks"), Column("m of a block"), *PI_COLUMNS]
    times = [Column("paper's T", "", 1), Column("T in full", "", 1)]
    tables = [Table(title, [*columns, *times]) for title in ("by groups", "by blocks", "flat")]
    for name in data.available(config["data"]):
        split, options, trials = data.load(name), config["data"][name], Trials()
        blocks, groups = options["at"]
        runs = [(blocks, m) for m in options["m"]] + [(l, groups) for l in options["blocks"]]
        runs = list(dict.fromkeys([*runs, (1, options["flat"])]))
        for l, m in runs:
            for seed in range(1 if name.endswith(STAND_IN) else config["trials"]):
                trials.add((l, m), measure(split, l, m, min(config["weight"], m // 3), seed))
        for (l, m), figures in trials.items():
            cells = {"data": name, "blocks": l, "m of a block": m, **figures}
            if l == blocks:
                tables[0].add(**cells)
            if m == groups:
                tables[1].add(**cells)
            if (l, m) == (1, options["flat"]):
                tables[2].add(**cells)
    return tables


def measure(split: Split, blocks: int, m: int, c: int, seed: int) -> dict[str, float]:
    """Pi@k and seconds of one model; one block is NMF-GT."""
    settings = {"n_groups": m, "column_weight": c, "random_state": seed, "n_jobs": 1}
    if blocks > 1:
        settings["n_blocks"] = blocks
    estimator = make_estimator("nmf-gt" if blocks == 1 else "he-nmfgt", **settings)
    began = time.process_time()
    model, clock = fit_timed(estimator, split.train.X, split.train.Y)
    labels, _ = model.predict_topk(split.test.X, 5)
    total = time.process_time() - began
    trained = len(getattr(model, "blocks_", [None]))  # fewer where the graph has no such separators
    rest = clock.spent.get("training blocks", 0.0) * (1 - 1 / trained)
    return judge(split.test.Y, labels) | {"T in full": total, "paper's T": total - rest}


def draw(figure: Any, tables: list[Table]) -> None:
    names = tables[1].values("data")
    left, *rights = figure.subplots(1, 1 + len(names))
    by_groups = tables[0].find(data=names[0])
    for measured, sign in (("Pi@1", "o"), ("Pi@3", "s"), ("Pi@5", "^")):
        draw_lines(left, by_groups, "T in full", measured, marker=sign, label=measured)
        for right, name in zip(rights, names):
            rows = tables[1].find(data=name)
            draw_lines(right, rows, "blocks", measured, marker=sign, label=measured)
    sizes = [row["m of a block"] for row in by_groups]
    title = f"{names[0]}, m = {min(sizes)} to {max(sizes)}"
    finish(left, title, f"CPU s of {by_groups[0]['blocks']} blocks, with prediction", "Pi@k")
    for right, name in zip(rights, names):
        groups = tables[1].find(data=name)[0]["m of a block"]
        finish(right, f"{name}, m = {groups}", "blocks", legend=False)


def differs(tables: list[Table]) -> list[str]:
    by_groups, by_blocks, flat_table = tables
    notes = []
    for name in by_blocks.values("data"):
        sizes = by_groups.find(data=name)
        first, last = sizes[0], sizes[-1]
        if len(sizes) > 1:
            means = [np.mean(row[figure]) for row in (first, last) for figure in ("Pi@5", "T in full")]
            notes.append(
                f"{name}: from m = {first['m of a block']} to {last['m of a block']} Pi@5 goes from "
                f"{number(means[0])} to {number(means[2])}, and the CPU seconds from {means[1]:.1f} to "
                f"{means[3]:.1f}."
            )
        rows = by_blocks.find(data=name)
        shown = sorted((row["blocks"], np.mean(row["Pi@5"]), np.mean(row["T in full"])) for row in rows)
        listed = ", ".join(f"{l}: {number(pi)} in {seconds:.1f} s" for l, pi, seconds in shown)
        (one,) = flat_table.find(data=name)
        notes.append(
            f"{name}: Pi@5 by the number of blocks, {listed}. But more blocks are more groups in all: one "
            f"block of {one['m of a block']} groups has {number(average(one['Pi@5']))} in "
            f"{average(one['T in full']):.1f} s."
        )
    return notes
