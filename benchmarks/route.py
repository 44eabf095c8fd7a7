"""Blocks with and without routing: what is asked, what is lost, what it costs.

    mlgt synth DATA --preset amazon670k --scale 0.1
    python benchmarks/route.py DATA [--blocks 16] [--groups 128] [--out FILE.md]

Blocks of NMF groups, soft decoding, no rankers, separators of 5 %, one thread. Without `route` the
separators are in every block, as in the paper; with it they are a block of their own. CPU seconds of
training, and milliseconds a row on 5,000 test rows.
"""

import argparse
import time
from pathlib import Path

from common import machine, table
from large import read
from mlgt import HierarchicalMLGTClassifier
from mlgt.metrics import precision_at

ROUTES = (None, 0.0, 0.01, 0.05)


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


def main(folder, blocks, groups):
    train, test = read(folder, "train"), read(folder, "test")
    run(train, test, 0.01, blocks, groups)  # compile
    header = ["", "P@1", "P@3", "P@5", "blocks asked", "labels lost", "training CPU s", "ms a row"]
    lines = [run(train, test, route, blocks, groups) for route in ROUTES]
    shape = f"{train.X.shape[0]:,} rows, {train.Y.shape[1]:,} labels, {groups} groups a block"
    return f"{shape}. {machine()}.\n\n{table(header, lines)}\n"


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
