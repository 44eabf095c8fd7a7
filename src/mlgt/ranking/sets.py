"""Log-odds of ranked labels -> the set of labels to predict."""

import numpy as np

from .._core.sigmoid import sigmoid


def best_sets(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """The labels (n, k), best first, that maximise the expected F1 of each row; -1 beyond them."""
    beyond = np.arange(labels.shape[1]) >= expected_f1_cut(sigmoid(logits))[:, None]
    return np.where(beyond, -1, labels)


def expected_f1_cut(probability: np.ndarray) -> np.ndarray:
    """The number of labels to keep per row, (n,), at least 1, for the largest expected F1.

    `probability` (n, k) falls along the rows. With the j best kept, F1 = 2 hits / (j + true labels), and
    with both taken at their expectations

        F1(j) ~ 2 (p_1 + .. + p_j) / (j + p_1 + .. + p_k).
    """
    hits = np.cumsum(probability, axis=1, dtype=np.float64)
    kept = np.arange(1, probability.shape[1] + 1)
    return 1 + np.argmax(hits / (kept + hits[:, -1:]), axis=1)
