"""Do probabilities hold? What share of the labels of about each probability is right, on held-out rows.

    MLGT_DATA=... python research/micro/probabilities.py [NAME[:LABELS] ...] [--splits 2] [--out FILE]

NAME:LABELS keeps the most frequent labels of a data set, and the rows that have one of them. In each split
a fifth of the training rows is held out, and `MLGTClassifier` trains on the others. Labels of the held-out
rows are put into bins by probability; each cell is the mean probability and the share that is right. F1 is
that of the sets of `predict`, mean over rows. `labels` is the sum of all probabilities per right label.
No test row is read.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

from common import machine, table
from few_labels import frequent
from mlgt import MLGTClassifier
from mlgt.data.datasets import load

NAMES = (
    "EURLex-4K:300", "EURLex-4K:1500", "YSO-Finna-en:500", "Bibtex", "Mediamill", "Debian-debtags:200",
)  # fmt: skip
EDGES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.01)


def judge(X, Y, split):
    """(probabilities, whether right) of all labels of the held-out rows, the F1 of each, kind of model."""
    order = np.random.default_rng(split).permutation(X.shape[0])
    held, kept = np.split(order, [len(order) // 5])
    model = MLGTClassifier(random_state=split, n_jobs=1).fit(X[kept], Y[kept])
    P, right = model.predict_proba(X[held]).toarray(), Y[held].toarray() > 0
    chosen = model.predict(X[held]).toarray() > 0
    F1 = 2 * (chosen & right).sum(axis=1) / np.maximum(1, chosen.sum(axis=1) + right.sum(axis=1))
    return P, right, F1.mean(), "one-vs-all" if model.ranker_ is None else "groups"


def lines_of(name, splits):
    base, _, count = name.partition(":")
    X, Y = frequent(load(base)[0], int(count or 1 << 20))
    for split in range(splits):
        P, right, F1, kind = judge(X, Y, split)
        cells = []
        for low, high in pairwise(EDGES):
            some = (low <= P) & (high > P)
            cells.append(f"{P[some].mean():.2f}, {right[some].mean():.2f}" if some.any() else "")
        line = [name, kind, *cells, f"{P.sum() / right.sum():.2f}", f"{F1:.3f}"]
        print(*line, sep="  ", flush=True)
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = [line for name in options.names for line in lines_of(name, options.splits)]
    bins = [f"{low} to {min(high, 1)}" for low, high in pairwise(EDGES)]
    text = f"{machine()}.\n\n{table(['data', 'model', *bins, 'labels', 'F1'], lines)}\n"
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
