"""He-NMFGT: blocks, their combinations, negatives, sketches; the flat model beside it.

    MLGT_DATA=... python research/micro/blocks.py [--seeds 5] [--out research/micro/results/blocks.md]
    MLGT_DATA=... python research/micro/blocks.py --ranked [--out research/micro/results/blocks_ranked.md]

With --ranked, only match and rank in blocks and in one block, on three data sets.

Hard is the paper's decoder, votes A'z with ties to the lowest label id; soft is ours. Every label joins c
groups of each of its blocks, c as chosen in the first table: of the authors' range, the one with the best
mean of P@1, P@3 and P@5 over two partitions and three combinations, on a tenth of the training rows that
took no part in training. CPU seconds on one thread, other work beside it. "paper's T" is the partition, ONE
block (the mean) and the prediction of all test rows, the rule of the paper's T_total; "in full" counts all
blocks.

The authors publish a permutation of EURLex-4K's labels with eight blocks below three levels of separators,
and merge siblings into four blocks. "Nested" trains a block with the separators above it, as their list of
merged blocks has it: a label is then in 1, 2 or 4 blocks. "One S" trains every block with all separators,
the S + C_i of the paper's text: a label is in 1 or 4. "As in the authors' script" are the places at which
their published program for EURLex-4K cuts the permutation: three blocks, all with the same S, m = 250.
"""

import argparse
import os
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from common import machine, spread, table
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt._core.rows import map_blocks, scale_rows, without
from mlgt._core.sparse import canonical, label_counts
from mlgt.blocks import BlockClassifiers, calibrate_blocks, draw_sketch, stack_groups
from mlgt.blocks.train import BlockTask, train_block
from mlgt.data.datasets import ENVIRONMENT, load
from mlgt.decoding.index import LabelIndex
from mlgt.labels.graph import cooccurrence
from mlgt.labels.partition import Partition, one_block, partition_labels, read_permutation, read_reordering
from mlgt.metrics import modified_precision_at, precision_at
from mlgt.model.fitted import FittedModel
from mlgt.model.record import BlockStructure
from mlgt.training.train import hold_out

COLUMNS = ("P@1", "P@3", "P@5", "Pi@1", "Pi@3", "Pi@5")
HEADER = ["blocks", "m", "combination", *COLUMNS, "paper's T", "in full"]
PAPER = (0.7504, 0.6108, 0.4807, 0.9265, 0.7084, 0.4807)
WEIGHTS = (10, 20, 30, 40, 50, 60, 70)  # the authors'
HARD = ("hard", "sum"), ("hard", "weighted"), ("hard", "count"), ("hard", "union")
SOFT = ("soft", "weighted"), ("soft", "calibrated")
NAMES = {"hard": "top_k", "soft": "soft"}


def authors_file():
    folder = Path(os.environ[ENVIRONMENT]) / "reorderings"
    return read_reordering(folder / "Eurlex-perm.txt", folder / "Eurlex-comm.txt")


def authors_nested():
    """The authors' eight blocks, siblings and the separator between them merged: four."""
    eight = authors_file()
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


def authors_one_separator():
    """The authors' eight blocks, siblings merged: four; all separators are one."""
    eight = authors_file()
    return one_separator(eight.permutation, eight.offsets[2 : eight.n_blocks + 1 : 2])


def authors_script():
    """The three blocks of the authors' program, by the places at which it cuts their permutation."""
    folder = Path(os.environ[ENVIRONMENT]) / "reorderings"
    return one_separator(read_permutation(folder / "Eurlex-perm.txt"), [992, 1913, 2570])


def one_separator(permutation, ends):
    """Blocks that end at these places of the permutation; what follows the last one is their separator."""
    labels = [np.sort(part) for part in np.split(permutation, ends)]
    parents = np.array([len(ends)] * len(ends) + [-1])
    return Partition(np.concatenate(labels), np.cumsum([0, *map(len, labels)]), parents)


ONE, NESTED = "strict, one separator", "strict, nested"
BUDGET, FLAT = "budget 5 %, one separator", "one block (flat)"
AUTHORS_ONE, AUTHORS_NESTED = "the authors', one S", "the authors', nested"
AUTHORS_SCRIPT = "as in the authors' script"
OPTIONS = {ONE: {}, NESTED: {"branching": 2}, BUDGET: {"budget": 0.05}}
PUBLISHED = {
    AUTHORS_ONE: authors_one_separator,
    AUTHORS_NESTED: authors_nested,
    AUTHORS_SCRIPT: authors_script,
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


def make_partition(kind, Y, seed, n_blocks):
    if kind in PUBLISHED:
        return PUBLISHED[kind]()
    if kind == FLAT:
        return one_block(Y.shape[1])
    options = {"branching": n_blocks} | OPTIONS[kind]
    return partition_labels(cooccurrence(Y), np.random.default_rng(seed), n_blocks=n_blocks, **options)


def run(
    data, kind, m, seed, ways, *, c, n_blocks=4, negatives=0.0, sketch=None, hold=False, params=None
):  # fmt: skip
    """{way: {column: figure}} of one trained set of blocks, decoded in several ways."""
    (X, Y), (X_test, Y_test) = data
    clock = Clock()
    partition = clock("partition", make_partition, kind, Y, seed, n_blocks)
    rng = np.random.default_rng(seed)
    held = hold_out(np.arange(len(Y.indptr) - 1), rng) if hold else None
    weight = None if held is None else without(None, held, Y.shape[0])
    hashing = None if sketch is None else draw_sketch(X.shape[1], sketch, rng)
    rows = X if hashing is None else canonical(clock("partition", hashing, X).csr())
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
    found = {}
    for way, model in fitted_models(X, Y, held, partition, blocks, hashing, ways).items():
        model.top_k(X_test[:64], 5)  # makes what all calls share
        began = time.process_time()
        parts = map_blocks(lambda rows, model=model: model.top_k(rows, 5), X_test)
        predicting = time.process_time() - began
        figures = quality(Y_test, np.concatenate([part[0] for part in parts]))
        figures["full"] = clock.spent["partition"] + clock.spent["blocks"] + predicting
        figures["paper's T"] = figures["full"] - clock.spent["blocks"] * (1 - 1 / len(blocks))
        found[way] = figures
    return found


def fitted_models(X, Y, held, partition, blocks, hashing, ways):
    """{way: the fitted model} of trained blocks, calibrated on the rows `held` unless they are None."""
    classifiers = BlockClassifiers([block.classifiers for block in blocks], hashing)
    structure = BlockStructure(partition, [block.groups for block in blocks], "weighted")
    layout = structure.layout
    groups = stack_groups(layout.groups, layout.labels, layout.n_labels)
    if held is not None:
        calibration = calibrate_blocks(layout, classifiers.margins(X[held]), Y[held])
        structure = replace(structure, calibration=calibration)
    model = FittedModel(
        classifiers, np.arange(Y.shape[1]), label_counts(Y), *X.shape, groups=groups,
        index=LabelIndex(groups),
    )  # fmt: skip
    return {
        (name, way): replace(model, decoder_name=NAMES[name], blocks=replace(structure, combination=way))
        for name, way in ways
    }


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


def ranked(data, title, model):
    """The same row for a whole estimator, match and rank included."""
    (X, Y), (X_test, Y_test) = data
    began = time.process_time()
    labels, _ = model.fit(X, Y).predict_topk(X_test, 5)
    spent = time.process_time() - began
    figures = quality(Y_test, labels)
    row = [title, model.n_groups_, "match and rank", *(spread([figures[name]]) for name in COLUMNS), ""]
    print(*row, flush=True)
    return [*row, f"{spent:.1f}"]


def overlaps(Y):
    """Table rows: in how many blocks labels are, and the share of all label occurrences that they hold."""
    counts, rows = label_counts(Y), []
    for kind in (ONE, NESTED, AUTHORS_ONE, AUTHORS_NESTED, AUTHORS_SCRIPT):
        partition = make_partition(kind, Y, 0, 4)
        blocks = np.bincount(np.concatenate([partition.labels(i) for i in range(partition.n_blocks)]))
        for many in np.unique(blocks):
            share = counts[blocks == many].sum() / counts.sum()
            rows.append([kind, many, (blocks == many).sum(), f"{share:.3f}"])
    return rows


def choose_weight(data, seed=0):
    """(c, table rows): the column weight that is best on a tenth of the training rows, held out."""
    X, Y = data[0]
    order = np.random.default_rng(seed).permutation(X.shape[0])
    judged, trained = np.sort(order[: len(order) // 10]), np.sort(order[len(order) // 10 :])
    parts = [(X[trained], Y[trained]), (X[judged], Y[judged])]
    cells, means = [], defaultdict(list)
    for sampling in ("fixed_size", "bernoulli"):
        for kind in (ONE, AUTHORS_ONE):
            for c in WEIGHTS:
                ways = run(parts, kind, 300, seed, (*HARD[:2], SOFT[0]), c=c, params={"sampling": sampling})
                for way, found in ways.items():
                    figures = [f"{found[column]:.4f}".lstrip("0") for column in COLUMNS]
                    cells.append([f"{kind}, {sampling}", c, ", ".join(way), *figures])
                    print(*cells[-1], flush=True)
                    if sampling == "fixed_size":
                        means[c].append(np.mean([found[column] for column in COLUMNS[:3]]))
    return max(WEIGHTS, key=lambda c: np.mean(means[c])), cells


def eurlex(seeds):
    raw, data = read("EURLex-4K")
    few = min(seeds, 2)
    run([(X[:400], Y[:400]) for X, Y in data], NESTED, 20, 0, (*HARD, *SOFT), hold=True, c=4)  # compile

    c, rows = choose_weight(data)
    text = f"### Column weight, judged by held-out training rows: c = {c} is used below\n\n"
    text += table(["blocks, sampling", "c", "combination", *COLUMNS], rows)
    text += "\n\n### In how many blocks a label is trained, EURLex-4K, seed 0\n\n"
    text += table(
        ["blocks", "in so many", "labels", "share of all label occurrences"], overlaps(data[0][1])
    )
    paper = ["*the paper, He-NMFGT, l = 4*", 300, "", *(f"{p:.4f}".lstrip("0") for p in PAPER), "", ""]
    text += f"\n\n### EURLex-4K, He-NMFGT, {seeds} seeds, no negatives\n\n"
    rows = [paper]
    for kind in (ONE, NESTED, AUTHORS_ONE, AUTHORS_NESTED):
        rows += lines(data, kind, kind, 300, seeds, (*HARD, SOFT[0]), c=c)
    rows += lines(data, AUTHORS_SCRIPT, AUTHORS_SCRIPT, 250, seeds, (*HARD, SOFT[0]), c=c)
    text += table(HEADER, rows)
    text += f"\n\n### Soft, one row in 32 held out for calibration, {few} seeds\n\n"
    rows = []
    for kind in (ONE, NESTED, AUTHORS_ONE):
        rows += lines(data, kind, kind, 300, few, SOFT, c=c, hold=True)
    text += table(HEADER, rows)
    text += f"\n\n### Negatives: the share kept of rows without a label of the block, {few} seeds\n\n"
    rows = []
    for share in (0.0, 0.1, 1.0):
        title = f"{BUDGET}, negatives {share:g}"
        rows += lines(data, title, BUDGET, 300, few, (HARD[1], *SOFT), c=c, hold=True, negatives=share)
    text += table(HEADER, rows)
    text += f"\n\n### Feature sketches, {few} seeds\n\n"
    rows = []
    for width in (2500, 1000):
        title = f"{ONE}, 5000 features in {width} columns"
        rows += lines(data, title, ONE, 300, few, (HARD[1], SOFT[1]), c=c, hold=True, sketch=width)
    text += table(HEADER, rows)
    text += f"\n\n### Flat, {few} seeds, and match and rank, one seed\n\n"
    rows = []
    for m in (350, 1200):
        rows += lines(data, FLAT, FLAT, m, few, (HARD[0], SOFT[0]), c=c)
    text += table(HEADER, [*rows, ranked_blocks(raw, 4, 300, None), ranked_flat(raw)])
    return text, c


def beyond(name, kinds, n_blocks, m, c):
    """Another data set: blocks, as many groups in one block, and match and rank on both; one seed."""
    raw, data = read(name)
    options = {"c": c, "hold": True, "n_blocks": n_blocks, "negatives": 0.1}
    rows = []
    for kind in kinds:
        rows += lines(data, kind, kind, m, 1, (HARD[1], *SOFT), **options)
    rows += lines(data, FLAT, FLAT, n_blocks * m, 1, (HARD[0], SOFT[0]), c=c)
    for kind in kinds:
        rows.append(ranked_blocks(raw, n_blocks, m, OPTIONS[kind].get("budget")))
    rows.append(ranked_flat(raw))
    title = f"### {name}, {n_blocks} blocks, a tenth of the foreign rows kept, one seed"
    partitions = {kind: make_partition(kind, data[0][1], 0, n_blocks) for kind in kinds}
    listed = "\n".join(f"- {kind}: {sizes(partition)}" for kind, partition in partitions.items())
    return f"{title}\n\n{listed}\n\n{table(HEADER, rows)}"


def sizes(partition):
    return (
        f"{len(partition.separator)} of {partition.n_labels} labels in separators, {partition.sizes.max()} "
        f"in the largest block with them, {partition.lost:.3f} of the co-occurrence lost"
    )


def ranked_blocks(raw, n_blocks, m, budget):
    """Match and rank in blocks, all other settings as it picks them."""
    title = f"{n_blocks} blocks, " + ("strict" if budget is None else f"budget {budget:.0%}")
    settings = {"n_blocks": n_blocks, "n_groups": m, "budget": budget, "random_state": 0, "n_jobs": 1}
    return ranked(raw, title, HierarchicalMLGTClassifier(**settings))


def ranked_flat(raw):
    return ranked(raw, "MLGTClassifier", MLGTClassifier(random_state=0, n_jobs=1))


def read(name):
    """(train, test) pairs (X, Y): as they are, and with rows scaled."""
    raw = [(canonical(part.X, np.float32), canonical(part.Y, np.float32)) for part in load(name)]
    return raw, [(scale_rows(X), Y) for X, Y in raw]


RANKED = {
    "EURLex-4K": (4, 300, (None,)),
    "YSO-Finna-en": (4, 200, (0.05, None)),
    "WordNet-hypernyms": (5, 200, (None,)),
}
"""Blocks, groups per block and budgets of separators, by data set."""


def main_ranked(names):
    """Match and rank alone; one seed."""
    few = [(X[:3000], Y[:3000]) for X, Y in read("Debian-debtags")[0]]
    ranked_blocks(few, 2, 32, None)  # compile
    text = f"Match and rank, one seed. {machine()}."
    for name in names:
        raw, _ = read(name)
        n_blocks, m, budgets = RANKED[name]
        rows = [*(ranked_blocks(raw, n_blocks, m, budget) for budget in budgets), ranked_flat(raw)]
        text += f"\n\n### {name}\n\n{table(HEADER, rows)}"
    return text + "\n"


def main(seeds):
    text = f"Mean ± standard deviation over seeds. {machine()}.\n\n" + __doc__.split("\n\n", 3)[3].strip()
    found, c = eurlex(seeds)
    text += f"\n\n{found}\n\n"
    text += beyond("YSO-Finna-en", (BUDGET, ONE), 4, 200, c) + "\n\n"
    return text + beyond("WordNet-hypernyms", (ONE,), 5, 200, c) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ranked", nargs="*", choices=RANKED, help="only match and rank, on these data")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.seeds) if options.ranked is None else main_ranked(options.ranked or RANKED)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
