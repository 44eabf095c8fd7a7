"""Classifiers of labels without a training row so far, from a few new rows and many replayed ones (ours).

A classifier starts from the centroid of the label's rows and has all other rows of the lesson for
negatives, as in `ranking.ranker`, eq. (2). Five rows fit it too well: its margin is 1 on each of them and
lower on the next ones, so that the label would never be predicted; and how often the label occurs among the
new rows says nothing about how often it will. Its bias is therefore set by rows that a classifier did not
see. With the rows in FOLDS parts, each judged by a classifier of the others, and f_t, g_t the shares of the
label's own and of other rows with margins from t on (g_t as if one more row had), t is the lowest margin
with (half way to the next)

    pi f_t >= PRECISION (pi f_t + (1 - pi) g_t),     margin <- r + FLATTER (margin - t),              (1)

with pi the assumed frequency of the label, its share of all training rows but at least FREQUENCY, and r the
margin from which on the model predicts a known label. Weights from few rows are less sure than others, so
that the margin is made flatter around t.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..ranking import LabelRanker, label_centroids, train_ranker
from ..ranking.ranker import CENTROID_WEIGHT, Pairs

FOLDS = 5
PRECISION, FREQUENCY = 0.7, 0.01
FLATTER = 0.7
MIN_ROWS = 3
"""Rows of a label from which on its bias is set by (1)."""


def fit_fresh(
    X: sp.csr_array,
    Y: sp.csr_array,
    labels: np.ndarray,
    level: float,
    n_rows: int,
    *,
    prune: float,
    **options: Any,
) -> LabelRanker:
    """Classifiers (d) of the `labels` (d,) bool; the others have no weights. `level` is r of eq. (1),
    `n_rows` the training rows so far."""
    pairs = all_pairs(Y, labels)
    start = centered(label_centroids(X, Y), X.shape[1])
    fitted = train_ranker(X, pairs, start=start, labels=labels, prune=prune, **options)
    known = np.bincount(Y.indices, minlength=Y.shape[1]) >= MIN_ROWS
    judged = np.flatnonzero(labels & known)
    if len(judged):
        margins = _judge_folds(X, Y, labels & known, judged, prune, options)
        truth = Y[:, judged].toarray() > 0
        for i, label in enumerate(judged):
            often = max(FREQUENCY, truth[:, i].sum() / (n_rows + 1))
            bar = lowest_bar(margins[:, i], truth[:, i], min(0.5, often))
            fitted.bias[label] = level + FLATTER * (fitted.bias[label] - bar)
            fitted.scale[label] = FLATTER
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
    """t of eq. (1) for rows of these margins, of which those `own` (n,) bool have the label, half way to
    the next lower margin; the highest margin of other rows if none is precise enough."""
    order = np.lexsort((own, -margins))
    right = np.cumsum(own[order]) / max(1, own.sum())
    wrong = (np.cumsum(~own[order]) + 1) / ((~own).sum() + 1)
    precise = frequency * right >= PRECISION * (frequency * right + (1 - frequency) * wrong)
    good = np.flatnonzero(own[order] & precise)
    if not len(good):
        return float(margins[~own].max(initial=-1.0))
    return float(margins[order[good[-1] : good[-1] + 2]].mean())


def all_pairs(Y: sp.csr_array, labels: np.ndarray) -> Pairs:
    """Every row for each of the `labels` (d,) bool, and none for the others."""
    n, chosen = Y.shape[0], np.flatnonzero(labels)
    indptr = np.concatenate([[0], np.cumsum(np.where(labels, n, 0))]).astype(np.int64)
    rows = np.tile(np.arange(n, dtype=np.int32), len(chosen))
    return Pairs(indptr, rows, Y[:, chosen].toarray().T.ravel() > 0)


def centered(centers: sp.csr_array, p: int) -> LabelRanker:
    """Rankers as they are before training: CENTROID_WEIGHT times the centroid, bias -1."""
    d = centers.shape[0]
    columns = centers.indices.astype(np.uint16 if p <= 1 << 16 else np.int32)
    ones, bias = np.ones(d, np.float32), np.full(d, -1.0, np.float32)
    return LabelRanker(
        centers.indptr.astype(np.int64), columns, CENTROID_WEIGHT * centers.data, ones, bias, p
    )
