"""Few labels: what mlgt picks by itself, beside one-vs-all, the same with rankers, and groups.

    MLGT_DATA=... python research/micro/few_labels.py [NAME[:LABELS] ...] [--splits 2] [--out FILE]

NAME:LABELS keeps the most frequent labels of a data set, and the rows that have one of them. In each split,
at most 3,000 random training rows are held out, the others train. Figures are nDCG@5 on the held-out rows,
CPU seconds of training and CPU ms per row of prediction, means over the splits; no test row is read.
"""

import argparse
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.data.datasets import load
from mlgt.metrics import ndcg_rows
from mlgt.training import settings, tuning

NAMES = (
    "Bibtex", "Mediamill", "Debian-debtags:100", "Debian-debtags:200", "Debian-debtags:400", "EURLex-4K:60",
    "EURLex-4K:200", "EURLex-4K:300", "EURLex-4K:600", "YSO-Finna-en:200", "YSO-Finna-en:500",
    "WordNet-hypernyms:200",
)  # fmt: skip
N_HELD = 3000
TINY = 16  # labels: what "groups" are drawn from on


def never(*_):
    return False


def always(*_):
    return True


def candidates(d):
    return min(100, max(10, d // 8))


# Rules of `settings` and `tuning` that are replaced.
PICKED = {
    "mlgt": {},
    "one-vs-all": {
        (settings, "MAX_ONE_VS_ALL_LABELS"): 1 << 20,
        (settings, "_may_add_rankers"): never,
    },
    "one-vs-all, rankers": {
        (settings, "MAX_ONE_VS_ALL_LABELS"): 1 << 20,
        (settings, "_may_add_rankers"): always,
        (tuning, "RANKER_ERRORS"): -1e9,
    },
    "groups, rankers": {
        (settings, "MAX_ONE_VS_ALL_LABELS"): TINY,
        (settings, "MAX_COUNTED_LABELS"): TINY,
        (settings, "auto_n_groups"): lambda d, k: max(32, d // 2 // 32 * 32),
        (settings, "auto_candidates"): candidates,
    },
}


def frequent(data, count):
    """(X, Y) of the `count` most frequent labels."""
    counts = np.asarray(data.Y.sum(axis=0)).ravel()
    labels = np.sort(np.argsort(-counts, kind="stable")[:count])
    Y = sp.csr_array(data.Y[:, labels])
    rows = np.flatnonzero(np.diff(Y.indptr))
    return data.X[rows], Y[rows]


def measure(X, Y, rules, split):
    """(nDCG@5, training s, ms per row, whether it has rankers) of one model."""
    order = np.random.default_rng(split).permutation(X.shape[0])
    held, kept = np.split(order, [min(N_HELD, X.shape[0] // 4)])
    patches = [patch.object(module, name, value) for (module, name), value in rules.items()]
    for one in patches:
        one.start()
    try:
        began = time.process_time()
        model = MLGTClassifier(random_state=split, n_jobs=1).fit(X[kept], Y[kept])
        trained = time.process_time() - began
    finally:
        for one in patches:
            one.stop()
    began = time.process_time()
    labels, _ = model.predict_topk(X[held], 5)
    lasted = 1e3 * (time.process_time() - began) / len(held)
    every = model.n_groups_ == Y.shape[1]
    kind = ("one-vs-all" if every else "groups") + (", rankers" if model.ranker_ is not None else "")
    return ndcg_rows(Y[held], labels, 5).mean(), trained, lasted, kind


def lines_of(name, splits):
    base, _, count = name.partition(":")
    X, Y = frequent(load(base)[0], int(count or 1 << 20))
    for rules in PICKED.values():  # compiles
        measure(X[::8], Y[::8], rules, 0)
    found = {
        system: [measure(X, Y, rules, split) for split in range(splits)] for system, rules in PICKED.items()
    }
    line = [name, "; ".join(sorted({kind for *_, kind in found["mlgt"]}))]
    for i, digits in ((0, 4), (1, 2), (2, 3)):
        means = (np.mean([run[i] for run in runs]) for runs in found.values())
        line.append(", ".join(f"{mean:.{digits}f}".removeprefix("0") for mean in means))
    print(*line, sep=" | ", flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = [lines_of(name, options.splits) for name in options.names or NAMES]
    order = ", ".join(PICKED)
    header = ["data", "mlgt picks", "nDCG@5", "training CPU s", "CPU ms per row"]
    text = f"Each cell: {order}. {options.splits} splits. {machine()}.\n\n{table(header, lines)}\n"
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
