"""Training of match and rank, given a matcher: candidates, rankers, blend.

Some training rows are held out of the group classifiers and, at first, of the rankers. On them it is
decided whether centroids join the matcher, how many candidates are enough, how the evidence is blended
into a probability, and whether labels vouch for each other: choices that rows seen in training would
mislead. The rankers of the labels those rows have then go on with all rows.
"""

from dataclasses import dataclass

import numpy as np

from .._core.rows import map_blocks
from ..labels.graph import cooccurrence
from ..metrics import hits, ndcg_rows, precision_at, recall_at, surely_better
from . import Blend, Companions, LabelRanker, evidence, learn_blend, train_ranker, training_pairs
from .centroids import CentroidIndex, label_centroids

HELD = 16
"""One row in so many is held out, at most MOST of them."""
FEWEST, MOST = 64, 1000
WORTHWHILE = 0.01
"""Centroids join when they raise the recall of the candidates by more than this."""
ENOUGH = 0.93
"""Half the candidates do when they hold this share of the labels all of them hold."""
SURE = 1.0
"""Labels vouch for each other where that raises nDCG@5 by more than so many standard errors."""
SWEEPS, MORE_SWEEPS = 8, 3
PRUNE = 0.1
"""Ranker weights below this are dropped."""


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


def candidate_pairs(matching, X, Y, count, n_jobs=None):
    """The rows each label's ranker learns from: its own, and those it is a candidate of."""
    blocks = map_blocks(lambda rows: matching.candidates(rows, count)[0].astype(np.int32), X, n_jobs)
    return training_pairs(np.concatenate(blocks), Y)


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
    index = None if centroids is False else CentroidIndex.of(centers, X)
    if centroids == "auto" and not judged:
        index = None
    elif centroids == "auto":
        alone, joined = (
            recall_at(truth, make_matching(use).candidates(X_held, count)[0], count)
            for use in (None, index)
        )
        facts |= {"recall_by_groups": alone, "recall_with_centroids": joined}
        index = index if joined > alone + WORTHWHILE else None
    matching = make_matching(index)
    if judged and n_candidates == "auto":
        count = _enough(truth, matching.candidates(X_held, count)[0])

    pairs = candidate_pairs(matching, X, Y, count, n_jobs)
    alpha = np.zeros(len(pairs.rows), np.float32)
    options = {"C": C, "prune": prune, "alpha": alpha, "n_jobs": n_jobs, "seed": seed, "progress": progress}
    ranker = train_ranker(X, pairs, centers, row_weight=partial_weight, max_iter=SWEEPS, **options)
    if not judged:
        return Ranking(ranker, index, None, Blend(), None, count, facts)

    labels, scores, similar = matching.candidates(X_held, count)
    margins = ranker.margins(X_held, labels)
    right = hits(truth, labels)
    terms = evidence(margins, scores, similar)
    blend, final = learn_blend(terms, right), None
    logits = blend(margins, scores, similar)
    if blend.calibrated:
        known = Companions.of(cooccurrence(Y[np.flatnonzero(partial_weight)]))
        more = terms | {"company": known.company(labels, logits)}
        richer, plain = (_cross_ndcg(t, right, labels, truth) for t in (more, terms))
        if surely_better(richer, plain, SURE):
            final = learn_blend(more, right)
            logits = final(margins, scores, similar, more["company"])
    companions = Companions.of(cooccurrence(Y)) if final else None
    facts |= {"recall": recall_at(truth, labels, count)} | _quality(truth, labels, logits)
    centers = label_centroids(X, Y, row_weight)
    renewed = np.bincount(truth.indices, minlength=truth.shape[1]) > 0
    with_all = train_ranker(
        X, pairs, centers, row_weight=row_weight, max_iter=MORE_SWEEPS, labels=renewed, **options
    )
    ranker = ranker.updated(with_all, renewed)
    index = index and CentroidIndex.of(centers, X)
    return Ranking(ranker, index, companions, blend, final, count, facts)


def _enough(truth, labels):
    """Halve the number of candidates while nearly all true labels stay among them."""
    count = labels.shape[1]
    wanted = ENOUGH * recall_at(truth, labels, count)
    while count // 2 >= 20 and recall_at(truth, labels, count // 2) >= wanted:
        count //= 2
    return count


def _cross_ndcg(terms, right, labels, truth):
    """nDCG@5 of each row, ranked by a blend of the `terms` that the other half of the rows taught."""
    values = np.empty(len(labels))
    half = np.arange(len(labels)) % 2 == 0
    for taught, judged in ((half, ~half), (~half, half)):
        blend = learn_blend({name: term[taught] for name, term in terms.items()}, right[taught])
        logits = blend.of({name: term[judged] for name, term in terms.items()})
        order = np.argsort(-logits, axis=1, kind="stable")[:, :5]
        best = np.take_along_axis(labels[judged], order, axis=1)
        values[judged] = ndcg_rows(truth[np.flatnonzero(judged)], best, 5)
    return values


def _quality(truth, labels, logits):
    order = np.argsort(-logits, axis=1, kind="stable")[:, :5]
    best = np.take_along_axis(labels, order, axis=1)
    return {f"P@{k}": precision_at(truth, best, k) for k in (1, 3, 5) if k <= best.shape[1]}
