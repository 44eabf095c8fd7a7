"""Classifiers of labels without a training row so far, from a few new rows and many replayed ones (ours).

A classifier starts from the centroid of the label's rows and has all other rows of the lesson for
negatives, as in `ranking.ranker`, eq. (2). Five rows fit it too well: its margin is 1 on each of them and
lower on the next ones. The rows are therefore also judged in FOLDS parts, each by a classifier of the
others; `teaching.calibrate` sets scale and bias by these margins.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import id_type
from ..ranking import LabelRanker, label_centroids, train_ranker
from ..ranking.pairs import Pairs
from ..ranking.ranker import CENTROID_WEIGHT

FOLDS = 5
MIN_ROWS = 3
"""Rows of a label from which on it is judged by rows that its classifier did not see."""


@dataclass(frozen=True)
class FreshLabels:
    """Classifiers of new labels, and what classifiers say of rows that they did not see."""

    ranker: LabelRanker  # of all labels; others have no weights
    judged: np.ndarray  # (f,) ids of new labels with MIN_ROWS or more
    margins: np.ndarray  # (n, f) float32
    similarities: np.ndarray  # (n, f) float32, to the centroids


def fit_fresh(
    X: sp.csr_array, Y: sp.csr_array, labels: np.ndarray, *, prune: float, **options: Any
) -> FreshLabels:
    """Classifiers (d) of the `labels` (d,) bool, from rows X (n, p) of labels Y (n, d)."""
    start = centered(label_centroids(X, Y), X.shape[1])
    fitted = train_ranker(X, all_pairs(Y, labels), start=start, labels=labels, prune=prune, **options)
    chosen = labels & (np.bincount(Y.indices, minlength=Y.shape[1]) >= MIN_ROWS)
    judged = np.flatnonzero(chosen)
    margins, near = (np.empty((X.shape[0], len(judged)), np.float32) for _ in range(2))
    pairs, fold = all_pairs(Y, chosen), np.arange(X.shape[0]) % FOLDS
    for part in range(FOLDS if len(judged) else 0):
        weight, own = (fold != part).astype(np.float32), np.flatnonzero(fold == part)
        centers = label_centroids(X, Y, weight)
        found = train_ranker(
            X, pairs, start=centered(centers, X.shape[1]), labels=chosen, row_weight=weight, prune=prune,
            **options,
        )  # fmt: skip
        margins[own] = (X[own] @ found.weights[judged].T).toarray() + found.bias[judged]
        near[own] = (X[own] @ centers[judged].T).toarray()
    return FreshLabels(fitted, judged, margins, near)


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
