"""Rankers where every label has a classifier of its own, tried on the miniature of `tuning`.

Rankers are one more classifier per label, drawn towards its centroid, that learns from the rows of the
label and from those where it is a wrong candidate. Where labels are noisy, they order rows better than
one-vs-all, as labels with many rows can have less C; on other data they only take time.
"""

import numpy as np
import scipy.sparse as sp

from .._core.sigmoid import log_sigmoid
from .._core.sparse import label_counts
from ..ranking import Candidates, label_centroids, train_ranker, training_pairs
from ..ranking.blend import cross_ndcg
from ..ranking.ranker import label_costs

N_CANDIDATES, SWEEPS, PRUNE = 10, 8, 0.1
"""Candidates per row, sweeps of the rankers, and the magnitude below which their weights are dropped."""


def try_rankers(
    X: sp.csr_array,
    Y: sp.csr_array,
    margins: np.ndarray,
    X_held: sp.csr_array,
    Y_held: sp.csr_array,
    held_margins: np.ndarray,
    C: float,
    slope: float,
    n_jobs: int | None = None,
) -> np.ndarray:
    """nDCG@5 of each held-out row, ordered by rankers with less than C for labels with many rows.

    Rows X (n, p) with labels Y (n, d) are those that one-vs-all was trained on; its margins, (n, d), find
    the candidates of all rows. Rows are scaled.
    """
    pairs = training_pairs(best_labels(margins, N_CANDIDATES).astype(np.int32), Y)
    ranker = train_ranker(
        X, pairs, label_centroids(X, Y), C=label_costs(label_counts(Y), C), max_iter=SWEEPS, prune=PRUNE,
        n_jobs=n_jobs,
    )  # fmt: skip
    labels = best_labels(held_margins, N_CANDIDATES)
    scores = log_sigmoid(np.float32(slope) * np.take_along_axis(held_margins, labels, axis=1))
    found = Candidates(labels, scores)
    return cross_ndcg(
        found.evidence(ranker.in_bytes().margins(X_held, labels, by_feature=False)), labels, Y_held
    )


def best_labels(margins: np.ndarray, k: int) -> np.ndarray:
    """The k labels of each row with the highest margins (n, d), ties to the lowest label; all if k > d."""
    left, found = margins.copy(), np.empty((len(margins), min(k, margins.shape[1])), np.int64)
    for place in range(found.shape[1]):  # faster than sorting, as k is small
        found[:, place] = left.argmax(axis=1)
        left[np.arange(len(left)), found[:, place]] = -np.inf
    return found
