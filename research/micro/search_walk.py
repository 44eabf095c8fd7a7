"""How far must a best-first walk over the groups go before it may stop?

    MLGT_DATA=... python research/micro/search_walk.py [--out FILE]

The threshold algorithm: visit groups by falling value and score the labels met, until no unseen label can
reach the 5th best score. An unseen label has all its c groups among those not visited, so its score is at
most the mean of the next c values. Soft decoding with real classifiers; means over 300 test rows. The share
of labels that the count filter of `mlgt.decoding.search` scores stands beside it.
"""

import argparse
from pathlib import Path

import numpy as np

from common import machine, table
from mlgt._core.rows import scale_rows
from mlgt.classifiers.train import train
from mlgt.data.datasets import load
from mlgt.decoding import decode_soft
from mlgt.decoding.index import LabelIndex
from mlgt.decoding.search import count_filter
from mlgt.groups import CONSTRUCTIONS, pool

DESIGNS = (
    ("EURLex-4K", "nmf", 350, 16),
    ("EURLex-4K", "constant_weight", 350, 8),
    ("YSO-Finna-en", "nmf", 448, 16),
)


def walk(v, members, k=5):
    """(groups visited, share of labels met) for one row of group values."""
    c = members.shape[1]
    fifth = np.sort(v[members].mean(axis=1))[-k]
    order = np.argsort(-v)
    sums = np.concatenate([[0.0], np.cumsum(v[order])])
    reachable = (sums[c:] - sums[:-c]) / c  # the best an unseen label can have after 0, 1, ... groups
    visited = int(np.argmax(reachable < fifth)) if (reachable < fifth).any() else len(v)
    return visited, np.isin(members, order[:visited]).any(axis=1).mean()


def measure(name, construction, m, c, n=300):
    data, test = load(name)
    rng = np.random.default_rng(0)
    A = CONSTRUCTIONS[construction].plan(data.Y, m, rng).draw(c, rng)
    classifiers = train(scale_rows(data.X), pool(data.Y, A), tol=1e-2, n_jobs=-1)
    decoder, index = decode_soft(A), LabelIndex(A)
    members = index.groups.reshape(-1, c)
    found = []
    for v in decoder.values(classifiers.margins(scale_rows(test.X[:n]))):
        labels, best = np.full(5, -1), np.full(5, -np.inf, np.float32)
        scored = count_filter(v, index, decoder, labels, best)[1] / index.n_labels
        found.append((*walk(v, members), scored))
    visited, met, scored = np.mean(found, axis=0)
    return [name, construction, m, c, f"{visited:.0f}", f"{met:.0%}", f"{scored:.1%}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    header = ["data", "groups", "m", "c", "groups visited", "labels met", "labels the filter scores"]
    text = f"{machine()}.\n\n{table(header, [measure(*design) for design in DESIGNS])}\n"
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
