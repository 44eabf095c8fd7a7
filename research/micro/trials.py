"""Other settings than the default, on held-out training rows: what would bring more, and what it costs.

    MLGT_DATA=... python research/micro/trials.py [NAME ...] [--splits 3] [--only WORD ...] [--out FILE]

In each split, 3,000 random training rows are held out, the others train. Differences to the default are in
points (1 = .01), paired by row, with the standard error of their mean over all splits. No test row is read.
"""

import argparse
import time
from contextlib import ExitStack
from importlib import import_module
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.data.datasets import load
from mlgt.metrics import hits, ndcg_rows, recall_rows
from mlgt.training import settings
from mlgt.training import train as training

blend, centroids, pairs, ranking, rest, shortlist = (
    import_module(f"mlgt.ranking.{name}")
    for name in ("blend", "centroids", "pairs", "train", "rest", "shortlist")
)
N_HELD = 3000
MEASURES = ("P@1", "P@3", "P@5", "nDCG@5", "recall@100")


def weigh(value):
    """Another weight of the similarity to centroids."""
    return [(module, "WEIGHT", np.float32(value)) for module in (centroids, shortlist, rest)]


# What differs from the default: constants of modules, and parameters.
VARIANTS = {
    "similarity weighs 5, not 7": (weigh(5), {}),
    "similarity weighs 12": (weigh(12), {}),
    "candidates: 200": ([], {"ranker_params": {"n_candidates": 200}}),
    "candidates: prior .1": ([], {"ranker_params": {"candidate_prior": 0.1}}),
    "groups: 192": ([], {"n_groups": 192}),
    "groups: 256": ([], {"n_groups": 256}),
    "groups: 512": ([], {"n_groups": 512}),
    "groups: 2,048": ([], {"n_groups": 2048}),
    "rankers: 100 sweeps": ([(ranking, "SWEEPS", 100), (ranking, "FINAL_SWEEPS", 50)], {}),
    "rankers: weights from .02 on": ([(settings, "PRUNE", 0.02), (settings, "MORE_PRUNE", ())], {}),
    "rankers: weights from .1 on": ([(settings, "MORE_PRUNE", ())], {}),
    "rankers: wrong candidates of all rows": ([(pairs, "MIN_NEGATIVE_ROWS", 1.0)], {}),
    "rankers: 128 negatives": ([(pairs, "NEGATIVES", 128)], {}),
    "rankers: 8 negatives per row": (
        [(pairs, "NEGATIVES_PER_ROW", 8), (pairs, "MIN_NEGATIVE_ROWS", 0.3)], {},
    ),
    "rankers: negatives of half of the rows": ([(pairs, "MIN_NEGATIVE_ROWS", 0.5)], {}),
    "rankers: all trained again": ([(ranking, "RENEWED_SHARE", 0.0)], {}),
    "groups: weights of half a byte": ([(training, "MAX_ROUNDING_LOSS", 1.0)], {}),
    "groups: weights of a byte": ([(settings, "FEW_BITS", 8), (training, "MAX_ROUNDING_LOSS", -1.0)], {}),
    "NMF: 3 sweeps": ([(settings, "RANKED_SWEEPS", 3)], {}),
    "NMF: 2 sweeps": ([(settings, "RANKED_SWEEPS", 2)], {}),
    "groups: tolerance .2": ([(settings, "RANKED_TOL", 0.2)], {}),
    "groups: tolerance .4": ([(settings, "RANKED_TOL", 0.4)], {}),
    "rankers: 8 and 4 sweeps": ([(ranking, "SWEEPS", 8), (ranking, "FINAL_SWEEPS", 4)], {}),
    "centroids: all entries, 50,000 additions": (
        [(centroids, "MAX_DROPPED", 0.0), (centroids, "MAX_ADDITIONS", 50_000)], {},
    ),
    "centroids: 8 % dropped": ([(centroids, "MAX_DROPPED", 0.08)], {}),
    "blend: less ridge": ([(blend, "RIDGE", 0.01)], {}),
    "quality high": ([], {"quality": "high"}),
}  # fmt: skip


def measure(Y, labels):
    """(n, measures) of the rows."""
    right = hits(Y, labels)
    found = [right[:, :k].mean(axis=1) for k in (1, 3, 5)]
    return np.stack([*found, ndcg_rows(Y, labels, 5), recall_rows(Y, labels)], axis=1)


def run(X, Y, held, seed, changes=(), parameters=None):
    """(measures by row, CPU seconds of training, those of a row in ms)."""
    kept = np.setdiff1d(np.arange(X.shape[0]), held)
    with ExitStack() as stack:
        for module, name, value in changes:
            stack.enter_context(patch.object(module, name, value))
        began = time.process_time()
        model = MLGTClassifier(random_state=seed, n_jobs=1, **(parameters or {})).fit(X[kept], Y[kept])
        trained = time.process_time()
        labels, _ = model.predict_topk(X[held], min(100, Y.shape[1]))
        done = time.process_time()
    return measure(Y[held], labels), trained - began, 1000 * (done - trained) / len(held)


def compare(name, splits, only):
    """The lines of a data set."""
    train, _ = load(name)
    X, Y = train.X, sp.csr_array(train.Y)
    chosen = {what: v for what, v in VARIANTS.items() if not only or any(word in what for word in only)}
    runs = {what: [] for what in ("default", *chosen)}
    for seed in range(splits):
        held = np.sort(np.random.default_rng(seed).permutation(X.shape[0])[: min(N_HELD, X.shape[0] // 5)])
        runs["default"].append(run(X, Y, held, seed))
        for what, variant in chosen.items():
            runs[what].append(run(X, Y, held, seed, *variant))
    base = np.concatenate([found for found, *_ in runs["default"]])
    default_cpu, default_ms = (np.array([one[i] for one in runs["default"]]) for i in (1, 2))
    lines = []
    for what, found in runs.items():
        rows = np.concatenate([one[0] for one in found])
        cells = [f"{value:.4f}" for value in rows.mean(axis=0)]
        if what != "default":
            error = (rows - base).std(axis=0) / np.sqrt(len(rows))
            cells = [f"{100 * d:+.2f} ±{100 * e:.2f}" for d, e in zip((rows - base).mean(axis=0), error)]
        cpu, ms = (np.array([one[i] for one in found]) for i in (1, 2))
        lines.append(
            [what, *cells, f"{np.median(cpu / default_cpu):.2f}", f"{np.median(ms / default_ms):.2f}"]
        )
        print(*lines[-1], sep="  ", flush=True)
    return table(["", *MEASURES, "training CPU", "time per row"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["YSO-Finna-en", "EURLex-4K"])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--out")
    options = parser.parse_args()
    text = f"{__doc__.splitlines()[0]} {machine()}.\n"
    for name in options.names:
        text += f"\n## {name}, {options.splits} splits\n\n{compare(name, options.splits, options.only)}\n"
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
