"""Synthetic data beside the paper's table and beside real data; how fast it is written, how hard it is.

    [MLGT_DATA=...] python research/micro/synth.py [--out FILE]

Bound pairs: the share of all pairs of labels in a row that are pairs which occur together at least 3 times,
and more than 3 times as often as labels of their frequencies would by chance. Speed is in CPU time.
"""

import argparse
import gzip
import os
import statistics
import time
from pathlib import Path

import numpy as np

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.data.datasets import ENVIRONMENT, load
from mlgt.data.synth import PRESETS, Collection, make, make_shape, to_text
from mlgt.metrics import precision_at

SCALES = {"rcv1x": 1, "amazoncat": 0.3, "wiki10": 1, "wikilshtc": 0.02, "amazon670k": 0.1}
LEARNT = {"wiki10": 0.1, "amazon670k": 0.02}
REAL = ("Bibtex", "EURLex-4K")


def bound_pairs(Y):
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    pairs = (Y.T @ Y).tocoo()
    i, j, seen = (values[pairs.row < pairs.col] for values in (pairs.row, pairs.col, pairs.data))
    bound = (seen >= 3) & (seen > 3 * counts[i] * counts[j] / Y.shape[0])
    return seen[bound].sum() / seen.sum()


COLUMNS = [
    "n", "p", "d", "labels per row", "words per row", "labels in >= 5 rows", "unseen",
    "rows of a label: 50, 90, 99 %", "rows with the first label", "bound pairs",
]  # fmt: skip


def statistics_of(X, Y):
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    return [
        X.shape[0], X.shape[1], Y.shape[1], f"{Y.nnz / Y.shape[0]:.2f}", f"{X.nnz / X.shape[0]:.1f}",
        f"{(counts >= 5).mean():.0%}", f"{(counts == 0).mean():.1%}",
        ", ".join(f"{q:.0f}" for q in np.quantile(counts, [0.5, 0.9, 0.99])),
        f"{counts.max() / Y.shape[0]:.1%}", f"{bound_pairs(Y):.2f}",
    ]  # fmt: skip


def compare_presets():
    for name, scale in SCALES.items():
        paper = PRESETS[name]
        words = f"({paper.words_per_row})"
        yield [f"{name}, paper", paper.rows, paper.features, paper.labels, paper.labels_per_row, words] + [
            ""
        ] * 5
        train = make(name, scale=scale).train
        yield [f"{name}, scale {scale}", *statistics_of(train.X, train.Y)]


def compare_real():
    for name in REAL:
        real = load(name).train
        (n, p), d = real.X.shape, real.Y.shape[1]
        yield [name, *statistics_of(real.X, real.Y)]
        per_row = {"labels_per_row": real.Y.nnz / n, "words_per_row": real.X.nnz / n}
        made = make(rows=n, features=p, labels=d, **per_row).train
        yield ["synthetic, same sizes", *statistics_of(made.X, made.Y)]


def cpu(function):
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def measure_speed(name, words=1_500_000, repeats=5):
    """Median rows a CPU second of drawing, of text, of both, with gzip -1; gzip of the same text alone."""
    collection = Collection(make_shape(name))
    n = round(words / collection.shape.words_per_row)
    to_text(collection.draw(0, 10))
    times = []
    for _ in range(repeats):
        drawing, rows = cpu(lambda: list(collection.blocks(0, n)))
        writing, text = cpu(lambda rows=rows: b"".join(map(to_text, rows)))
        packing, _ = cpu(lambda text=text: gzip.compress(text, 1))
        default, _ = cpu(lambda text=text: gzip.compress(text, 6))
        times.append([drawing, writing, packing, default])
    drawing, writing, packing, default = (statistics.median(column) for column in zip(*times))
    seconds = [drawing, writing, drawing + writing, drawing + writing + packing, packing, default]
    return [name, *(f"{n / s:,.0f}" for s in seconds)]


def measure_difficulty(name, scale):
    train, test = make(name, scale=scale)
    frequent = np.argsort(-np.bincount(train.Y.indices, minlength=train.Y.shape[1]))[:5]
    seconds, model = cpu(lambda: MLGTClassifier(random_state=0, n_jobs=1).fit(train.X, train.Y))
    answers = {
        "most frequent labels": np.tile(frequent, (test.X.shape[0], 1)),
        f"mlgt, default, {seconds:.0f} s": model.predict_topk(test.X, 5)[0],
    }
    for method, labels in answers.items():
        figures = (f"{precision_at(test.Y, labels, k):.3f}".removeprefix("0") for k in (1, 3, 5))
        yield [f"{name}, scale {scale}", train.Y.shape[1], method, *figures]


def main():
    yield machine() + ". Training rows; seed 0."
    yield "## Sizes\n\n" + table(["data", *COLUMNS], compare_presets())
    if os.environ.get(ENVIRONMENT):
        yield "## Beside real data\n\n" + table(["data", *COLUMNS], compare_real())
    header = [
        "rows a CPU second",
        "draw",
        "text",
        "plain file",
        "gzip file",
        "gzip -1 alone",
        "gzip -6 alone",
    ]
    yield "## Speed\n\n" + table(
        header, [measure_speed(name) for name in ("amazon670k", "rcv1x", "wiki10")]
    )
    rows = [row for name, scale in LEARNT.items() for row in measure_difficulty(name, scale)]
    yield "## How hard it is\n\n" + table(["data", "labels", "method", "P@1", "P@3", "P@5"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = "\n\n".join(main()) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
