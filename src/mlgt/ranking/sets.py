"""Log-odds of ranked labels -> the set of labels to predict."""

import numpy as np

from .._core.sigmoid import sigmoid

SURE = 1.1
"""Least log-odds from which on a label that came after training is predicted: 75 %."""
SUREST = 4.0
"""The most that is asked of one, and the log-odds of a remembered label: 98 %."""
_NONE = np.empty(0, np.int64)


def best_sets(
    labels: np.ndarray, logits: np.ndarray, doubted: np.ndarray = _NONE, bars: np.ndarray = _NONE
) -> np.ndarray:
    """The labels (n, k), best first, that maximise the expected F1 of each row; -1 elsewhere.

    Labels `doubted` (f,) are left out where their log-odds are below their `bars` (f,).
    """
    counted = np.ones(labels.shape, bool)
    if len(doubted):
        order = np.argsort(doubted)
        place = order[np.minimum(np.searchsorted(doubted, labels, sorter=order), len(doubted) - 1)]
        counted = (doubted[place] != labels) | (logits >= bars[place])
    cut = expected_f1_cut(sigmoid(logits), counted)
    return np.where(counted & (np.arange(labels.shape[1]) < cut[:, None]), labels, -1)


def expected_f1_cut(probability: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
    """The number of labels to keep per row, (n,), at least 1, for the largest expected F1.

    `probability` (n, k) falls along the rows. With the j best kept, F1 = 2 hits / (j + true labels), and
    with both taken at their expectations

        F1(j) ~ 2 (p_1 + .. + p_j) / (j + p_1 + .. + p_k).

    Of labels (n, k) bool, only those `counted` are kept, and count.
    """
    if counted is None:
        counted = np.ones(probability.shape, bool)
    hits = np.cumsum(np.where(counted, probability, 0), axis=1, dtype=np.float64)
    kept = np.maximum(np.cumsum(counted, axis=1), 1)
    return 1 + np.argmax(hits / (kept + hits[:, -1:]), axis=1)
