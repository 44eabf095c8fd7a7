"""Measures as ratios of two sums over the rows: each is a pair (gains, weights), both (n,).

`found` (n, K) marks the predicted labels that are right, `true` (n,) counts the true labels of each row.
"""

from itertools import pairwise

import numpy as np

from .._core.ids import occurring_ids
from .._core.sparse import canonical


def check_ranking(Y, labels):
    """Return canonical Y (n, d) and `labels` (n, K); raise if they do not match."""
    labels = np.asarray(labels)
    Y = canonical(Y)
    if labels.ndim != 2 or labels.shape[0] != Y.shape[0]:
        raise ValueError(
            f"labels has shape {labels.shape} but Y has {Y.shape[0]} rows; expected (n, K) label ids, "
            "best first, as `predict_topk` returns."
        )
    if labels.size and labels.max() >= Y.shape[1]:
        raise ValueError(
            f"labels has id {labels.max()} but Y has {Y.shape[1]} labels, whose ids start at 0. "
            "Were the model and Y made with the same label list?"
        )
    ordered = np.sort(labels, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
        raise ValueError("labels names a label twice in a row; expected each at most once.")
    return Y, labels


def check_counts(train_counts, Y, known):
    """Raise if a label of Y has no entry in `train_counts`."""
    if known is None and len(train_counts) < Y.shape[1]:
        raise ValueError(
            f"train_counts has {len(train_counts)} entries but Y has {Y.shape[1]} labels; expected the "
            "number of training rows of each, 0 for labels without one."
        )


def renumber(known, Y, train_counts, *rankings):
    """(known, Y, train_counts, rankings) in the positions of `known`, then those of other labels of Y.

    `train_counts` are those of `known`; None for `known` keeps the ids.
    """
    if known is not None:
        known = known.with_more(occurring_ids(Y), Y.shape[1])
        Y, rankings = known.select(Y), tuple(map(known.to_positions, rankings))
    counts = np.zeros(max(Y.shape[1], len(train_counts)), np.int64)
    counts[: len(train_counts)] = train_counts
    return known, Y, counts, *rankings


def true_counts(Y):
    """(n,) number of true labels of each row."""
    return np.diff(canonical(Y).indptr)


def mean(ratio):
    """The value of a measure; 0 if the weights are."""
    gains, weights = ratio
    total = weights.sum()
    return float(gains.sum() / total) if total > 0 else 0.0


def resamples_of(n, resamples, seed, block=100):
    """Yield how often each of n rows is drawn, (draws, n), in blocks of up to `block` resamples."""
    rng = np.random.default_rng(seed)
    for first in range(0, resamples, block):
        draws = min(block, resamples - first)
        yield np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(draws)])


def bootstrap(ratios, resamples, seed):
    """95 % intervals of all measures, from the same resamples of the rows."""
    values = resampled(ratios, resamples, seed)
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    return {name: [float(a), float(b)] for name, a, b in zip(ratios, low, high)}


def resampled(ratios, resamples, seed):
    """(resamples, measures): the values of all measures on the same resamples of the rows."""
    gains, weights = (np.stack([ratio[i] for ratio in ratios.values()], axis=1) for i in (0, 1))
    values = []
    for times in resamples_of(len(gains), resamples, seed):
        totals = times @ weights
        values.append(np.divide(times @ gains, totals, out=np.zeros_like(totals), where=totals > 0))
    return np.concatenate(values)


def precision(found, k):
    return _per_row(found[:, :k].sum(axis=1) / k)


def modified_precision(found, k):
    return _per_row(np.minimum(k, found[:, :5].sum(axis=1)) / k)


def recall(found, k, true):
    return _per_row(found[:, :k].sum(axis=1) / np.maximum(true, 1))


def ndcg(found, k, true):
    gains = 1.0 / np.log2(np.arange(2, k + 2))
    best = np.concatenate([[0.0], np.cumsum(gains)])[np.minimum(true, k)]
    found = found[:, :k]
    return _per_row(found @ gains[: found.shape[1]] / np.maximum(best, gains[0]))


def psp(found, k, Y, labels, inverse_propensity):
    gained = (found * inverse_propensity[np.maximum(labels, 0)])[:, :k].sum(axis=1)
    weights = inverse_propensity[Y.indices]
    best = np.array([np.sort(weights[a:b])[::-1][:k].sum() for a, b in pairwise(Y.indptr)])
    return gained, best


def hamming(found, labels, true, d=1):
    gains, ones = _per_row((labels >= 0).sum(axis=1) + true - 2.0 * found.sum(axis=1))
    return gains, ones * d


def _per_row(gains):
    return gains, np.ones(len(gains))
