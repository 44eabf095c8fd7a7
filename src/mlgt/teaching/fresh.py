"""Classifiers of labels without a training row so far, from a few new rows and many replayed ones (ours).

A classifier starts from the centroid of the label's rows and has all other rows of the lesson for
negatives, as in `ranking.ranker`, eq. (2). Five rows fit it too well: its margin is 1 on each of them and
lower on the next ones; and how often the label occurs among the new rows says nothing about how often it
will. Its bias is therefore set by rows that a classifier did not see. With the rows in FOLDS parts, each
judged by a classifier of the others, and f_t, g_t the shares of the label's own and of other rows with
margins from t on, t is the lowest margin with

    pi f_t >= PRECISION (pi f_t + (1 - pi) g_t),     margin <- r + STEEPER (margin - t),              (1)

with pi the mean frequency of the labels known so far, or that of the label in all rows so far if it is
higher, and r the margin with which a label is as likely right as wrong. A label of one row in a thousand is
right half of the time only if g_t is below that, which a thousand kept rows cannot show: beyond their TAIL
highest margins, from u on, g_t falls as they do,

    g_t = TAIL exp(-(t - u) / mean excess over u).                                                   (2)

The odds of a label fall faster below its bar than the blend has it for the margins of other labels.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import id_type
from ..ranking import LabelRanker, label_centroids, train_ranker
from ..ranking.ranker import CENTROID_WEIGHT, Pairs

FOLDS = 5
PRECISION, TAIL = 0.7, 0.05
LEAST = 0.1
STEEPER = 1.2
MIN_ROWS = 3
"""Rows of a label from which on its bias is set by (1)."""


def fit_fresh(
    X: sp.csr_array,
    Y: sp.csr_array,
    labels: np.ndarray,
    level: float,
    frequency: np.ndarray,
    *,
    prune: float,
    **options: Any,
) -> LabelRanker:
    """Classifiers (d) of the `labels` (d,) bool; the others have no weights. `level` and
    `frequency` (d,) are r and pi of eq. (1)."""
    pairs = all_pairs(Y, labels)
    start = centered(label_centroids(X, Y), X.shape[1])
    fitted = train_ranker(X, pairs, start=start, labels=labels, prune=prune, **options)
    known = np.bincount(Y.indices, minlength=Y.shape[1]) >= MIN_ROWS
    judged = np.flatnonzero(labels & known)
    if len(judged):
        margins = _judge_folds(X, Y, labels & known, judged, prune, options)
        truth = Y[:, judged].toarray() > 0
        for i, label in enumerate(judged):
            bar = lowest_bar(margins[:, i], truth[:, i], frequency[label])
            fitted.bias[label] = level + STEEPER * (fitted.bias[label] - bar)
            fitted.scale[label] = STEEPER
    return fitted


def _judge_folds(X, Y, chosen, labels, prune, options):
    """Margins (n, len(labels)) of every row by classifiers that did not see it."""
    margins, fold = np.empty((X.shape[0], len(labels)), np.float32), np.arange(X.shape[0]) % FOLDS
    pairs = all_pairs(Y, chosen)
    for part in range(FOLDS):
        weight = (fold != part).astype(np.float32)
        start = centered(label_centroids(X, Y, weight), X.shape[1])
        found = train_ranker(
            X, pairs, start=start, labels=chosen, row_weight=weight, prune=prune, **options
        )
        own = np.flatnonzero(fold == part)
        margins[own] = (X[own] @ found.weights[labels].T).toarray() + found.bias[labels]
    return margins


def lowest_bar(margins: np.ndarray, own: np.ndarray, frequency: float) -> float:
    """t of eq. (1) for rows of these margins, of which those `own` (n,) bool have the label; if none of
    these is precise enough, as if a share of LEAST were above it."""
    mine, others = np.sort(margins[own])[::-1], margins[~own]
    if not len(others):
        return -1.0
    odds = frequency / (1 - frequency) * (1 - PRECISION) / PRECISION
    for count in range(len(mine), 0, -1):
        bar = _margin_exceeded(others, odds * count / len(mine))
        if bar <= mine[count - 1]:
            return bar
    return _margin_exceeded(others, odds * LEAST)


def _margin_exceeded(others, share):
    """The margin that a share of `others` exceeds, by eq. (2)."""
    if share >= TAIL:
        return float(np.quantile(others, max(0.0, 1 - share)))
    start = np.quantile(others, 1 - TAIL)
    excess = others[others > start] - start
    return float(start + np.log(TAIL / share) * excess.mean()) if len(excess) else float(start)


def all_pairs(Y: sp.csr_array, labels: np.ndarray) -> Pairs:
    """Every row for each of the `labels` (d,) bool, and none for the others."""
    n, chosen = Y.shape[0], np.flatnonzero(labels)
    indptr = np.concatenate([[0], np.cumsum(np.where(labels, n, 0))]).astype(np.int64)
    rows = np.tile(np.arange(n, dtype=np.int32), len(chosen))
    return Pairs(indptr, rows, Y[:, chosen].toarray().T.ravel() > 0)


def centered(centers: sp.csr_array, p: int) -> LabelRanker:
    """Rankers as they are before training: CENTROID_WEIGHT times the centroid, bias -1."""
    d = centers.shape[0]
    columns = centers.indices.astype(id_type(p))
    ones, bias = np.ones(d, np.float32), np.full(d, -1.0, np.float32)
    return LabelRanker(
        centers.indptr.astype(np.int64), columns, CENTROID_WEIGHT * centers.data, ones, bias, p
    )
