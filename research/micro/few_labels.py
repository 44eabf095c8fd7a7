"""Few labels: what mlgt picks by itself, beside one-vs-all, the same with C = 1 for all, and groups.

    MLGT_DATA=... python research/micro/few_labels.py [NAME[:LABELS] ...] [--splits 2] [--out FILE]

NAME:LABELS keeps the most frequent labels of a data set, and the rows that have one of them; `demo` is the
data of `mlgt demo`, without its test packages. In each split,
at most 3,000 random training rows are held out, the others train. Figures are nDCG@5 on the held-out rows,
CPU seconds of training and CPU ms per row of prediction, means over the splits; no test row is read.
"""

import argparse
import math
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.data.datasets import load, load_debtags
from mlgt.metrics import ndcg_rows
from mlgt.training import settings
from mlgt.training.sizes import TILE, auto_n_groups

NAMES = (
    "Bibtex", "Mediamill", "Debian-debtags:100", "Debian-debtags:200", "Debian-debtags:400",
    "Debian-debtags", "demo", "EURLex-4K:60", "EURLex-4K:200", "EURLex-4K:600", "EURLex-4K:1000",
    "EURLex-4K:2000", "YSO-Finna-en:200", "YSO-Finna-en:500", "YSO-Finna-en:1000", "YSO-Finna-en:2000",
    "WordNet-hypernyms:200", "WordNet-hypernyms:800", "WordNet-hypernyms:2000",
)  # fmt: skip
N_HELD = 3000


def fewer_groups(d, k):
    """The number of groups that mlgt would choose, or half of the labels if that is less."""
    return min(auto_n_groups(d, k), max(TILE, d // 2 // TILE * TILE))


NEVER, ALWAYS = (lambda *_: math.inf), (lambda *_: 0.0)
# Rules of `settings` that are replaced.
PICKED = {
    "mlgt": {},
    "one-vs-all": {(settings, "pooled_work"): NEVER},
    "one-vs-all, C = 1": {
        (settings, "pooled_work"): NEVER,
        (settings, "COSTS"): (1.0,),
        (settings, "ONE_VS_ALL_TOL"): settings.TOL,
    },
    "groups, rankers": {(settings, "pooled_work"): ALWAYS, (settings, "auto_n_groups"): fewer_groups},
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
    train, _ = load_debtags() if base == "demo" else load(base)
    X, Y = frequent(train, int(count or 1 << 20))
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
