"""Training of match and rank, given a matcher: candidates, rankers, blend.

Some training rows are held out of the group classifiers and, at first, of the rankers. On them it is
decided whether centroids join the matcher, how many candidates are enough, and how matcher and ranker are
blended into a probability: choices that rows seen in training would mislead. The rankers then go on with
all rows.
"""

from dataclasses import dataclass

import numpy as np

from .graph import cooccurrence
from .metrics import precision_at, recall_at
from .rerank import Blend, Companions, LabelRanker, evidence, learn_blend, train_ranker, training_pairs
from .retrieve import CentroidIndex, label_centroids
from .rows import map_blocks

HELD = 16
"""One row in so many is held out, at most MOST of them."""
FEWEST, MOST = 64, 1000
WORTHWHILE, LIGHT = 0.03, 50_000
"""Centroids join when they raise the recall of the candidates by this much, for so many additions a row."""
ENOUGH = 0.93
"""Half the candidates do when they hold this share of the labels all of them hold."""
SWEEPS, MORE_SWEEPS = 8, 3


@dataclass(frozen=True)
class Ranking:
    ranker: LabelRanker
    centroids: CentroidIndex | None
    companions: Companions | None
    blend: Blend
    final_blend: Blend | None
    """With what the companions say."""
    n_candidates: int
    held_out: dict
    """What was measured on the held-out rows; empty without any."""


def hold_out(rows, rng):
    """Some of `rows` to hold out, ascending; none where there are few."""
    count = min(MOST, len(rows) // HELD)
    return np.sort(rng.choice(rows, count, replace=False)) if count >= FEWEST else rows[:0]


def without(row_weight, held, n):
    """Row weights (n,) with zeros for the rows `held`."""
    weights = np.ones(n, np.float32) if row_weight is None else np.array(row_weight, np.float32)
    weights[held] = 0
    return weights


def train_ranking(
    X, Y, make_matching, held, *, n_candidates="auto", centroids="auto", most, prune, row_weight=None,
    C=1.0, n_jobs=None, seed=0, progress=None,
):  # fmt: skip
    """`make_matching(centroids or None)` is the matcher; `most` the candidates to begin with."""
    partial_weight = without(row_weight, held, X.shape[0])
    centers = label_centroids(X, Y, partial_weight)
    X_held, truth = X[held], Y[held]
    judged = len(held) > 0 and truth.nnz > 0
    count = most if n_candidates == "auto" else n_candidates
    facts: dict = {"rows": len(held)} if judged else {}
    index = None if centroids is False else CentroidIndex.of(centers)
    if index is not None and centroids == "auto" and (not judged or index.work(X_held) > LIGHT):
        index = None
    elif index is not None and centroids == "auto":
        alone, joined = (
            recall_at(truth, make_matching(use).candidates(X_held, count)[0], count)
            for use in (None, index)
        )
        facts |= {"recall_by_groups": alone, "recall_with_centroids": joined}
        index = index if joined > alone + WORTHWHILE else None
    matching = make_matching(index)
    if judged and n_candidates == "auto":
        count = _enough(truth, matching.candidates(X_held, count)[0])

    blocks = map_blocks(lambda rows: matching.candidates(rows, count)[0].astype(np.int32), X, n_jobs)
    pairs = training_pairs(np.concatenate(blocks), Y)
    alpha = np.zeros(len(pairs.rows), np.float32)
    options = {"C": C, "prune": prune, "alpha": alpha, "n_jobs": n_jobs, "seed": seed, "progress": progress}
    ranker = train_ranker(X, pairs, centers, row_weight=partial_weight, max_iter=SWEEPS, **options)
    if not judged:
        return Ranking(ranker, index, None, Blend(), None, count, facts)

    labels, scores, similar = matching.candidates(X_held, count)
    margins = ranker.margins(X_held, labels)
    right = _right(truth, labels)
    blend = learn_blend(evidence(margins, scores, similar), right)
    companions = Companions.of(cooccurrence(Y))
    company = companions.company(labels, blend(margins, scores, similar))
    final = learn_blend(evidence(margins, scores, similar, company), right)
    facts |= {"recall": recall_at(truth, labels, count)}
    facts |= _quality(truth, labels, final(margins, scores, similar, company))
    centers = label_centroids(X, Y, row_weight)
    ranker = train_ranker(X, pairs, centers, row_weight=row_weight, max_iter=MORE_SWEEPS, **options)
    index = index and CentroidIndex.of(centers)
    if not final.calibrated:
        companions = final = None
    return Ranking(ranker, index, companions, blend, final, count, facts)


def _enough(truth, labels):
    """Halve the number of candidates while nearly all true labels stay among them."""
    count = labels.shape[1]
    wanted = ENOUGH * recall_at(truth, labels, count)
    while count // 2 >= 20 and recall_at(truth, labels, count // 2) >= wanted:
        count //= 2
    return count


def _right(truth, labels):
    """(n, K) bool: which candidates are true."""
    n, d = truth.shape
    keys = np.arange(n)[:, None] * d + labels
    true = np.repeat(np.arange(n), np.diff(truth.indptr)) * d + truth.indices
    return np.isin(keys, true) & (labels >= 0)


def _quality(truth, labels, logits):
    order = np.argsort(-logits, axis=1, kind="stable")[:, :5]
    best = np.take_along_axis(labels, order, axis=1)
    return {f"P@{k}": precision_at(truth, best, k) for k in (1, 3, 5) if k <= best.shape[1]}
