"""Blocks with and without routing: which blocks are used, what is lost, what it costs.

    mlgt synth DATA --preset amazon670k --scale 0.1
    python research/micro/route.py DATA [--blocks 16] [--groups 128] [--out FILE.md]

Blocks of NMF groups, soft decoding, no rankers, separators of 5 %, one thread. Without `route` the
separators are in every block, as in the paper; with it they are a block of their own. CPU seconds of
training, and milliseconds per row on 5,000 test rows.

The second table compares two routers by how many blocks they must evaluate to lose 1, 5 or 10 % of the
labels of test rows that occur in training: one classifier per block, and one per node of the separator
tree, where a block is ranked by the sum of the log-probabilities on its path from the root.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import machine, table
from large import read
from mlgt import HierarchicalMLGTClassifier
from mlgt._core.rows import scale_rows
from mlgt._core.sigmoid import log_sigmoid
from mlgt.blocks import block_ranks, block_targets, smallest_route
from mlgt.classifiers.train import train as train_groups
from mlgt.labels.graph import cooccurrence
from mlgt.labels.partition import partition_labels, separators_apart
from mlgt.metrics import precision_at

ROUTES = (None, 0.0, 0.01, 0.05)
LOSSES = (0.01, 0.05, 0.1)


def run(train, test, route, blocks, groups):
    model = HierarchicalMLGTClassifier(
        n_blocks=blocks, n_groups=groups, budget=0.05, branching=2, route=route, ranker=None,
        random_state=0, n_jobs=1,
    )  # fmt: skip
    began = time.process_time()
    model.fit(train.X, train.Y)
    seconds = time.process_time() - began
    X, Y = test.X[:5000], test.Y[:5000]
    model.predict_topk(X[:100], 5)
    began = time.process_time()
    labels, _ = model.predict_topk(X, 5)
    ms = 1e3 * (time.process_time() - began) / X.shape[0]
    router, n_blocks = model.router_, model.partition_.n_blocks
    return [
        "as in the paper" if route is None else f"route={route:g}",
        *(f"{precision_at(Y, labels, k):.4f}".removeprefix("0") for k in (1, 3, 5)),
        f"{n_blocks if router is None else router.n_routes} of {n_blocks}",
        "" if router is None else f"{router.lost:.2%}",
        f"{seconds:.1f}",
        f"{ms:.3f}",
    ]


def routers(train, test, blocks):
    """Blocks to evaluate at each of LOSSES, by a classifier per block and one per node of the tree."""
    partition = partition_labels(
        cooccurrence(train.Y), np.random.default_rng(0), n_blocks=blocks, budget=0.05, branching=2
    )
    apart = separators_apart(partition)
    targets = block_targets(train.Y, apart)
    below = sp.lil_array((partition.n_blocks, partition.n_nodes), dtype=np.float32)
    for block in range(partition.n_blocks):
        node = block
        while node >= 0:
            below[block, node] = 1
            node = partition.parents[node]
    below = sp.csr_array(below)
    nodes = sp.csr_array(targets[:, : partition.n_blocks] @ below)
    nodes.data[:] = 1

    X, X_test = scale_rows(train.X), scale_rows(test.X[:5000])
    seen = sp.diags_array((np.bincount(train.Y.indices, minlength=train.Y.shape[1]) > 0).astype(np.float32))
    truth = sp.csr_array(test.Y[:5000] @ seen)
    truth.eliminate_zeros()
    own = [apart.labels(i) for i in range(apart.n_blocks)]
    options = {"C": 1.0, "tol": 0.1, "n_jobs": 1, "seed": 0}
    by_block = train_groups(X, targets, **options).margins(X_test)
    paths = log_sigmoid(train_groups(X, nodes, **options).margins(X_test)) @ below.T.toarray()
    always = np.ones((len(paths), apart.n_blocks - partition.n_blocks), np.float32)  # the separators
    by_node = np.concatenate([paths, always], axis=1)
    lines = []
    for name, scores in (("a classifier per block", by_block), ("a classifier per node", by_node)):
        routes = [smallest_route(block_ranks(scores), truth, own, loss)[0] for loss in LOSSES]
        lines.append([name, *(f"{count} of {len(own)}" for count in routes)])
    return lines


def main(folder, blocks, groups):
    train, test = read(folder, "train"), read(folder, "test")
    run(train, test, 0.01, blocks, groups)  # compile
    header = ["", "P@1", "P@3", "P@5", "blocks evaluated", "labels lost", "training CPU s", "ms per row"]
    lines = [run(train, test, route, blocks, groups) for route in ROUTES]
    shape = f"{train.X.shape[0]:,} rows, {train.Y.shape[1]:,} labels, {groups} groups a block"
    text = f"{shape}. {machine()}.\n\n{table(header, lines)}\n"
    header = ["blocks to evaluate, to lose", *(f"{loss:.0%}" for loss in LOSSES)]
    for count in (blocks, 4 * blocks):
        text += f"\n{table(header, routers(train, test, count))}\n"
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--groups", type=int, default=128)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.folder, options.blocks, options.groups)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
