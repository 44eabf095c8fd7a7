"""A model that grew, beside one trained again and one left as it was.

    MLGT_DATA=... python research/micro/growing.py [--data EURLex-4K] [--seeds 3] [--out FILE] [--validate]

A tenth of the labels and a quarter of the training rows are held out at random. The old model sees the
other rows, without those labels; then it takes in the held-out rows, with all labels (`extend`). Beside it:

frozen        the old model, as it is
grown         `extend`
same data     trained again on all rows; the older rows lack the new labels, as they did for the old model
all labels    trained again on all rows with all labels, as if the old rows had been labelled again

P@k and PSP@5 over all labels on the test rows; "new" counts the new labels only, on the rows that have one:
the share of them among the five best. CPU seconds of one thread. --validate takes a fifth of the training
rows in place of the test rows: settings were chosen so.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import machine, spread, table
from mlgt import MLGTClassifier
from mlgt.data.datasets import load
from mlgt.metrics import evaluate, recall_at

SYSTEMS = ("frozen", "grown", "same data", "all labels")
MEASURES = ("P@1", "P@3", "P@5", "PSP@5", "recall@5, new", "CPU s")


def timed(function):
    began = time.process_time()
    result = function()
    return result, time.process_time() - began


def judge(model, X, Y, counts, n, n_old, seconds):
    """`Y` has the new labels last, from column n_old on."""
    k = min(5, len(model.classes_))
    labels, _ = model.predict_topk(X, k)
    report = evaluate(Y, labels, train_counts=counts, n_train=n)
    rows = np.flatnonzero(np.diff(sp.csr_array(Y[:, n_old:]).indptr))
    own = sp.csr_array(Y[rows])
    own.data[own.indices < n_old] = 0
    own.eliminate_zeros()
    return [report[name] for name in MEASURES[:4]] + [recall_at(own, labels[rows], 5), seconds]


def one_run(train, test, seed, share_labels=0.1, share_rows=0.25):
    rng = np.random.default_rng(seed)
    (X, Y), (n, d) = (train.X, train.Y), train.Y.shape
    new = np.sort(rng.choice(d, int(share_labels * d), replace=False))
    order = np.concatenate([np.setdiff1d(np.arange(d), new), new])
    Y, Y_test, n_old = sp.csr_array(Y[:, order]), sp.csr_array(test.Y[:, order]), d - len(new)
    later = np.zeros(n, bool)
    later[rng.choice(n, int(share_rows * n), replace=False)] = True
    first, then = np.flatnonzero(~later), np.flatnonzero(later)
    known = Y[first][:, :n_old]
    counts = np.bincount(Y.indices, minlength=d)
    settings = {"random_state": seed, "n_jobs": 1}
    figures = {}

    model, seconds = timed(lambda: MLGTClassifier(**settings).fit(X[first], known))
    figures["frozen"] = judge(model, test.X, Y_test, counts, n, n_old, seconds)
    _, seconds = timed(lambda: model.extend(X[then], Y[then]))
    figures["grown"] = judge(model, test.X, Y_test, counts, n, n_old, seconds)
    blind = sp.csr_array(sp.vstack([sp.hstack([known, sp.csr_array((len(first), len(new)))]), Y[then]]))
    rows = sp.csr_array(sp.vstack([X[first], X[then]]))
    model, seconds = timed(lambda: MLGTClassifier(**settings).fit(rows, blind))
    figures["same data"] = judge(model, test.X, Y_test, counts, n, n_old, seconds)
    model, seconds = timed(lambda: MLGTClassifier(**settings).fit(X, Y))
    figures["all labels"] = judge(model, test.X, Y_test, counts, n, n_old, seconds)
    return figures


def part(data, rows):
    return type(data)(data.X[rows], data.Y[rows])


def main(name, seeds, validate):
    train, test = load(name)
    if validate:
        order = np.random.default_rng(99).permutation(train.X.shape[0])
        cut = len(order) // 5
        train, test = part(train, np.sort(order[cut:])), part(train, np.sort(order[:cut]))
    runs = []
    for seed in range(seeds):
        runs.append(one_run(train, test, seed))
        print(seed, {name: [round(v, 4) for v in row] for name, row in runs[-1].items()}, flush=True)
    lines = []
    for system in SYSTEMS:
        columns = np.array([run[system] for run in runs]).T
        cells = [spread(list(column)) for column in columns[:-1]]
        lines.append([system, *cells, f"{columns[-1].mean():.1f}"])
    where = "a fifth of the training rows" if validate else "the test rows"
    spreads = f"mean and standard deviation of seeds 0 to {seeds - 1}"
    head = f"{name}, judged on {where}; {spreads}. {machine()}.\n\n"
    return head + table(["", *MEASURES], lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="EURLex-4K")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.data, options.seeds, options.validate)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
