"""Long lists: what k = 1000 costs beside k = 100, and what it finds.

    MLGT_DATA=... python research/micro/lists.py [--data NAME ...] [--rows N] [--out FILE]

A model is trained on three quarters of N training rows; the rest is ranked with k = 5, 100 and 1000, or all
labels if there are fewer. Times are CPU time of one thread, the least of nine runs in turn. YSO-Finna-en is
texts, whose features are made beforehand.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from common import machine, table
from mlgt.metrics import recall_at
from teaching import Rows, Texts

DATA = ("EURLex-4K", "YSO-Finna-en", "Debian-debtags")
LENGTHS = (5, 100, 1000)


def prepare(name, n_rows, seed=0):
    """(fitted model, held-out rows as it takes them, their labels by its ids)."""
    data = Texts(name) if name.startswith("YSO") else Rows(name)
    drawn = np.random.default_rng(seed).permutation(data.Y.shape[0])[:n_rows]
    test, first = np.split(drawn, [len(drawn) // 4])
    model = data.fit(first, data.Y, seed)
    if isinstance(data, Rows):
        return model.fitted_model(), data.X[test], data.Y[test]
    columns = np.array([data.ids[name] for name in model.classes_])
    return model.classifier_.fitted_model(), model.features_(data.texts[test]), data.Y[test][:, columns]


def measure(name, n_rows, repeats=9):
    model, X, Y = prepare(name, n_rows)
    lengths = [min(k, len(model.label_counts)) for k in LENGTHS]
    recall = [recall_at(Y, model.predict_topk(X, k)[0], k) for k in lengths]
    runs = []
    for _ in range(repeats):
        runs.append([])
        for k in lengths:
            start = time.process_time()
            model.predict_topk(X, k, n_jobs=1)
            runs[-1].append(time.process_time() - start)
    best = np.min(runs, axis=0) / X.shape[0] * 1e3
    cells = [f"{cost:.3f}" for cost in best]
    return [
        name,
        X.shape[0],
        lengths[-1],
        *cells,
        f"{best[2] / best[1]:.2f}",
        *(f"{r:.3f}" for r in recall),
    ]


def main(names, n_rows, out):
    header = ["data", "rows", "longest", *(f"ms, k = {k}" for k in LENGTHS), "1000 / 100"]
    header += [f"recall@{k}" for k in LENGTHS]
    lines = [measure(name, n_rows) for name in names]
    text = f"{__doc__.splitlines()[0]} {machine()}.\n\n{table(header, lines)}\n"
    if out:
        out.write_text(text, "utf-8")
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(main(options.data, options.rows, options.out))
