"""Measures of a ranking: precision, nDCG, propensity-scored precision, recall, Hamming losses.

The truth is Y (n, d), sparse or dense 0/1; a prediction is `labels` (n, K): label ids, best first, padded
with -1. Values are fractions, averaged over all n rows. A row without true labels counts as zero in every
measure at k, and `evaluate` reports the number of such rows.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .._core.ids import KnownIds
from .._core.sparse import canonical
from . import _ratios

Matrix: TypeAlias = Any
"""NumPy array or SciPy sparse matrix."""


def hits(Y: Matrix, labels: np.ndarray) -> np.ndarray:
    """Mark the predicted labels that are true: (n, K) bool, False for padding."""
    Y, labels = _ratios.check_ranking(Y, labels)
    found = Y[np.arange(len(labels))[:, None], np.maximum(labels, 0)]
    return (np.asarray(found.todense()) > 0) & (labels >= 0)


def precision_at(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Compute P@k, the share of the k best labels that is right.

    Examples
    --------
    >>> import numpy as np
    >>> from mlgt.metrics import precision_at
    >>> Y = np.array([[1, 1, 0, 0], [0, 0, 1, 0]])
    >>> precision_at(Y, np.array([[0, 3, 1], [2, 1, 0]]), 2)
    0.5
    """
    return _ratios.mean(_ratios.precision(hits(Y, labels), k))


def highest_precision_at(Y: Matrix, k: int) -> float:
    """Compute the highest P@k that any ranking could have: rows with fewer than k labels lower it.

    Examples
    --------
    >>> from mlgt.metrics import highest_precision_at
    >>> highest_precision_at([[1, 1, 0, 0], [0, 0, 1, 0]], 2)
    0.75
    """
    true = _ratios.true_counts(Y)
    return float(np.minimum(true, k).mean() / k) if len(true) else 0.0


def modified_precision_at(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Compute Pi@k = min(k, hits among the best 5) / k, the paper's eq. (2)."""
    return _ratios.mean(_ratios.modified_precision(hits(Y, labels), k))


def recall_at(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Compute the share of a row's true labels that is among its k best."""
    return _ratios.mean(_ratios.recall(hits(Y, labels), k, _ratios.true_counts(Y)))


def recall_rows(Y: Matrix, labels: np.ndarray) -> np.ndarray:
    """Compute the share of each row's true labels that is among `labels`."""
    return _ratios.recall(hits(Y, labels), labels.shape[1], _ratios.true_counts(Y))[0]


def ndcg_at(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Compute nDCG@k: gains of 1 / log2(rank + 1), relative to the best order of the row's labels."""
    return _ratios.mean(_ratios.ndcg(hits(Y, labels), k, _ratios.true_counts(Y)))


def ndcg_rows(Y: Matrix, labels: np.ndarray, k: int) -> np.ndarray:
    """Compute nDCG@k of each row."""
    return _ratios.ndcg(hits(Y, labels), k, _ratios.true_counts(Y))[0]


def surely_better(new: np.ndarray, old: np.ndarray, errors: float = 2.0) -> bool:
    """Return whether the mean of `new` exceeds that of `old`, row by row, by more than `errors` standard
    errors."""
    gained = np.asarray(new) - np.asarray(old)
    return gained.mean() > errors * gained.std() / np.sqrt(len(gained))


def inverse_propensities(
    train_counts: np.ndarray, n_train: int, A: float = 0.55, B: float = 1.5
) -> np.ndarray:
    """Compute 1 / p_l = 1 + C exp(-A log(n_l + B)), C = (log n - 1)(B + 1)^A (Jain, Prabhu & Varma
    2016)."""
    C = (np.log(n_train) - 1.0) * (B + 1.0) ** A
    return 1.0 + C * (np.asarray(train_counts, dtype=np.float64) + B) ** -A


def psp_at(Y: Matrix, labels: np.ndarray, k: int, inverse_propensity: np.ndarray) -> float:
    """Compute PSP@k: precision at k with hits weighted by 1 / p_l, relative to the best ranking.

    The normalisation is that of the Extreme Classification Repository, a ratio of two means over the rows.
    """
    ranking = canonical(Y), np.asarray(labels), np.asarray(inverse_propensity)
    return _ratios.mean(_ratios.psp(hits(Y, labels), k, *ranking))


def f1_rows(Y: Matrix, labels: np.ndarray) -> np.ndarray:
    """Compute F1 of each row's predicted set: 2 hits / (predicted + true)."""
    found = hits(Y, labels).sum(axis=1)
    return 2 * found / np.maximum((np.asarray(labels) >= 0).sum(axis=1) + _ratios.true_counts(Y), 1)


def hamming_errors(Y: Matrix, labels: np.ndarray) -> float:
    """Count the wrong labels per row: predicted but not true, or true but not predicted."""
    return _ratios.mean(_ratios.hamming(hits(Y, labels), np.asarray(labels), _ratios.true_counts(Y)))


def hamming_loss(Y: Matrix, labels: np.ndarray) -> float:
    """Compute `hamming_errors` as a share of the d labels."""
    return hamming_errors(Y, labels) / Y.shape[1]


def training_loss(Y: Matrix, labels: np.ndarray, k: int = 5) -> float:
    """Compute the paper's T-loss: Hamming errors of the k best labels of the training rows."""
    return hamming_errors(Y, np.asarray(labels)[:, :k])


def evaluate(
    Y: Matrix,
    labels: np.ndarray,
    *,
    train_counts: np.ndarray | None = None,
    n_train: int | None = None,
    known: KnownIds | None = None,
    ks: Sequence[int] = (1, 3, 5),
    resamples: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """Compute all measures of a ranking.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, d)
        True labels, 0 and 1.
    labels : ndarray of shape (n, K)
        Predicted label ids, best first, padded with -1; K should be at least max(ks).
    train_counts : array-like of shape (d,), optional
        Number of training rows of each label; PSP@k needs it, and `n_train`.
    n_train : int, optional
        Number of training rows.
    known : KnownIds, optional
        The labels that `train_counts` counts, if those are not all; the others have no training row.
    ks : sequence of int, default=(1, 3, 5)
        Values of k.
    resamples : int, default=0
        Number of bootstrap resamples of the rows for 95 % intervals; 0 for none.
    seed : int, default=0
        Seed of the resamples.

    Returns
    -------
    dict
        P@k, Pi@k, nDCG@k, PSP@k and recall@k for each k, the Hamming loss of the 5 best ("hamming"), the
        number of rows ("n"), of rows without labels ("n_unlabelled"), and "intervals" with `resamples`.

    Examples
    --------
    >>> from mlgt.metrics import evaluate
    >>> report = evaluate([[1, 1, 0, 0], [0, 0, 1, 0]], [[0, 3, 1], [2, 1, 0]], ks=(1, 3))
    >>> report["P@1"], report["recall@3"], report["n"]
    (1.0, 1.0, 2)
    """
    Y, labels = _ratios.check_ranking(Y, labels)
    found, true = hits(Y, labels), _ratios.true_counts(Y)
    ratios = {f"P@{k}": _ratios.precision(found, k) for k in ks}
    ratios |= {f"Pi@{k}": _ratios.modified_precision(found, k) for k in ks}
    ratios |= {f"nDCG@{k}": _ratios.ndcg(found, k, true) for k in ks}
    if train_counts is not None and n_train is not None:
        _ratios.check_counts(train_counts, Y, known)
        _, own_Y, counts, own = _ratios.renumber(known, Y, train_counts, labels)
        weights = inverse_propensities(counts, n_train)
        ratios |= {f"PSP@{k}": _ratios.psp(found, k, own_Y, own, weights) for k in ks}
    ratios |= {f"recall@{k}": _ratios.recall(found, k, true) for k in ks}
    ratios["hamming"] = _ratios.hamming(found[:, :5], labels[:, :5], true, Y.shape[1])
    report: dict[str, Any] = {name: _ratios.mean(ratio) for name, ratio in ratios.items()}
    report |= {"n": int(Y.shape[0]), "n_unlabelled": int((true == 0).sum())}
    return report | ({"intervals": _ratios.bootstrap(ratios, resamples, seed)} if resamples else {})
