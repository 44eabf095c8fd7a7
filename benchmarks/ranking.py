"""What each part of match and rank brings, on held-out training rows.

    MLGT_DATA=... python benchmarks/ranking.py [--data EURLex-4K YSO-Finna-en] [--out FILE]

An eighth of the training rows is held out. One matcher (auto groups, searched weight) is trained on the
rest; then the ways to use it, with the CPU seconds of training on one thread, and variations of the ranker
one at a time. Test rows are not touched.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.datasets import load
from mlgt.match import make_matching
from mlgt.metrics import precision_at, recall_at
from mlgt.rerank import blend, train_ranker, training_pairs
from mlgt.rows import map_blocks, scale_rows

PRIOR, COUNT = 0.2, 100


def cpu(function):
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def best(labels, scores, k=5):
    order = np.lexsort((labels, -scores), axis=1)[:, :k]
    return np.take_along_axis(labels, order, axis=1)


def candidates(model, X, count, prior, decoder="soft"):
    """(labels, scores without prior) of the matcher."""
    options = {"prior": prior} if decoder == "soft" else None
    settings = {"decoder": decoder, "decoder_params": options, "n_candidates": 0, "candidate_prior": 0.0}
    margins, counts = model.classifiers_.margins, model.label_counts_
    matching = make_matching(margins, model.groups_, model._index, counts, settings, None)
    blocks = map_blocks(lambda rows: matching.candidates(rows, count), X)
    return tuple(np.concatenate([block[i] for block in blocks]) for i in (0, 1))


def main(name):
    data = load(name).train
    rows = np.random.default_rng(0).permutation(data.X.shape[0])
    held, kept = np.sort(rows[: len(rows) // 8]), np.sort(rows[len(rows) // 8 :])
    X, Y, truth = data.X[kept], data.Y[kept], data.Y[held]
    X, X_held = scale_rows(X), scale_rows(data.X[held])
    matching, model = cpu(lambda: MLGTClassifier(ranker=None, random_state=0, n_jobs=1).fit(X, Y))

    def row(what, labels, seconds=None, extra=""):
        figures = [f"{precision_at(truth, labels, k):.4f}".lstrip("0") for k in (1, 3, 5)]
        return [what, *figures, "" if seconds is None else f"{seconds:.1f}", extra]

    def recall(labels):
        return f"recall@{labels.shape[1]} {recall_at(truth, labels, labels.shape[1]):.3f}"

    lines = [row("hard decoding", candidates(model, X_held, 5, 0.0, "top_k")[0], matching)]
    plain, _ = candidates(model, X_held, COUNT, 0.0)
    lines.append(row("soft decoding", plain[:, :5], matching, recall(plain)))
    named, scores = candidates(model, X_held, COUNT, PRIOR)
    lines.append(row(f"soft decoding with prior {PRIOR}", named[:, :5], matching, recall(named)))
    naming, (train_named, _) = cpu(lambda: candidates(model, X, COUNT, PRIOR))
    pairs = training_pairs(train_named, Y)
    ranking, ranker = cpu(lambda: train_ranker(X, pairs, n_jobs=1))
    margins = ranker.margins(X_held, named)
    total, size = matching + naming + ranking, f"{ranker.weights.nnz / 1e6:.1f} M weights"
    lines.append(row("ranker alone", best(named, margins), total, size))
    lines.append(row("**blend, the default**", best(named, blend(margins, scores)), total, size))
    lines.append(row("blend, half the matcher", best(named, blend(margins, scores / 2)), total))
    for what, options in {
        "no pruning": {"prune": 0.0},
        "pruned at .1": {"prune": 0.1},
        "pruned at .2": {"prune": 0.2},
        "20 sweeps": {"max_iter": 20, "tol": 0.03},
        "C = .5": {"C": 0.5},
        "C = 2": {"C": 2.0},
    }.items():
        spent, other = cpu(lambda options=options: train_ranker(X, pairs, n_jobs=1, **options))
        labels = best(named, blend(other.margins(X_held, named), scores))
        lines.append(row(what, labels, total - ranking + spent, f"{other.weights.nnz / 1e6:.1f} M weights"))
    for count in (30, 50):
        fewer = training_pairs(train_named[:, :count], Y)
        spent, other = cpu(lambda fewer=fewer: train_ranker(X, fewer, n_jobs=1))
        part, part_scores = named[:, :count], scores[:, :count]
        labels = best(part, blend(other.margins(X_held, part), part_scores))
        lines.append(row(f"{count} candidates", labels, total - ranking + spent, recall(part)))
    if Y.shape[1] <= 5000:
        eye = sp.eye_array(Y.shape[1], format="csr", dtype=np.float32)
        spent, every = cpu(lambda: MLGTClassifier(eye, random_state=0, n_jobs=1).fit(X, Y))
        labels, _ = every.predict_topk(X_held, COUNT)
        lines.append(row("one-vs-all", labels[:, :5], spent, recall(labels)))
    header = ["", "P@1", "P@3", "P@5", "training CPU s", ""]
    shape = f"{model.n_groups_} groups, weight {model.column_weight_}"
    return f"### {name}: {shape}, {len(held)} held-out training rows\n\n{table(header, lines)}\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["EURLex-4K", "YSO-Finna-en"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = f"{machine()}.\n"
    for name in options.data:
        text += "\n" + main(name)
        print(text, flush=True)
        if options.out:
            options.out.write_text(text, "utf-8")
