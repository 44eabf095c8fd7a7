"""Figure 3: Pi@k against the runtime as the number of groups grows, and against the number of blocks.

He-NMFGT on EURLex-4K as in Table 2: strict separators, c = 30 groups a label (fewer where m is small),
votes weighted, hard decoding. The paper's third plot is of Wiki10, which is not at hand; here it is
EURLex-4K too, with one block of as many groups as four have beside it. Seconds are CPU on one thread, all
blocks, with prediction; the paper's rule, one block, is in a column of its own.
"""

import time

import numpy as np

from ..bench.ours import HE_NMFGT, StageClock
from ..estimators import HierarchicalMLGTClassifier
from ..evidence.record import Column, Table, average
from .measure import PI_COLUMNS, Trials, draw_lines, finish, judge, number
from .sources import SAMPLE

PAPER = "Figure 3"
FULL = {
    "data": {
        "EURLex-4K": {"m": (50, 100, 200, 300, 400), "blocks": (1, 2, 4, 8), "at": (4, 300), "flat": 1200}
    },
    "weight": 30,
    "trials": 1,
}
QUICK = {
    "data": {SAMPLE: {"m": (8, 16), "blocks": (1, 2), "at": (2, 16), "flat": 32}},
    "weight": 4,
    "trials": 1,
}


def run(config, data):
    columns = [Column("data"), Column("blocks"), Column("m of a block"), *PI_COLUMNS]
    times = [Column("paper's T", "", 1), Column("T in full", "", 1)]
    tables = [Table(title, [*columns, *times]) for title in ("by groups", "by blocks", "flat")]
    for name in data.available(config["data"]):
        split, options, trials = data.load(name), config["data"][name], Trials()
        blocks, groups = options["at"]
        runs = [(blocks, m) for m in options["m"]] + [(l, groups) for l in options["blocks"]]
        runs = list(dict.fromkeys([*runs, (1, options["flat"])]))
        for l, m in runs:
            for seed in range(config["trials"]):
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


def measure(split, blocks, m, c, seed):
    """Pi@k and seconds of one model."""
    clock, settings = StageClock(), {"n_blocks": blocks, "n_groups": m, "column_weight": c, **HE_NMFGT}
    model = HierarchicalMLGTClassifier(random_state=seed, n_jobs=1, verbose=clock, **settings)
    began = time.process_time()
    model.fit(split.train.X, split.train.Y)
    labels, _ = model.predict_topk(split.test.X, 5)
    total = time.process_time() - began
    rest = clock.spent.get("training blocks", 0.0) * (1 - 1 / len(model.blocks_))
    return judge(split.test.Y, labels) | {"T in full": total, "paper's T": total - rest}


def draw(figure, tables):
    left, right = figure.subplots(1, 2)
    name = tables[0].rows[0]["data"]
    for measured, sign in (("Pi@1", "o"), ("Pi@3", "s"), ("Pi@5", "^")):
        draw_lines(left, tables[0].rows, "T in full", measured, marker=sign, label=measured)
        draw_lines(right, tables[1].rows, "blocks", measured, marker=sign, label=measured)
    blocks, groups = tables[0].rows[0]["blocks"], tables[1].rows[0]["m of a block"]
    sizes = " ".join(str(row["m of a block"]) for row in tables[0].rows)
    finish(left, f"{name}, {blocks} blocks, m = {sizes}", "CPU s, training and prediction", "Pi@k")
    finish(right, f"{name}, {groups} groups a block", "blocks", "Pi@k")


def differs(tables):
    by_groups, by_blocks, flat_table = tables
    first, last = by_groups.rows[0], by_groups.rows[-1]
    means = [np.mean(row[name]) for row in (first, last) for name in ("Pi@5", "T in full")]
    shown = [(row["blocks"], np.mean(row["Pi@5"]), np.mean(row["T in full"])) for row in by_blocks.rows]
    listed = ", ".join(f"{l}: {number(pi)} in {seconds:.1f} s" for l, pi, seconds in sorted(shown))
    (one,) = flat_table.rows
    return [
        f"From m = {first['m of a block']} to {last['m of a block']} Pi@5 goes from {number(means[0])} to "
        f"{number(means[2])}, and the CPU seconds from {means[1]:.1f} to {means[3]:.1f}.",
        f"Pi@5 by the number of blocks: {listed}. But more blocks are more groups in all: one block of "
        f"{one['m of a block']} groups has {number(average(one['Pi@5']))} "
        f"in {average(one['T in full']):.1f} s.",
    ]
