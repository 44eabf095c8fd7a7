"""How good is a ranking: precision, nDCG, propensity-scored precision, recall, Hamming losses.

Truth is Y (n, d), sparse or dense 0/1; a prediction is `labels` (n, K): label ids, best first, padded
by -1 where a row has fewer. Values are fractions, averaged over all n rows. A row without true labels
counts as zero in every measure at k, and `evaluate` reports how many there are.
"""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from .decode.top_k import group_votes
from .groups.pool import pool
from .rank import top_k


def hits(Y, labels):
    """(n, K) booleans: is each predicted label a true one? Padding is not."""
    Y, labels = _check(Y, labels)
    found = Y[np.arange(len(labels))[:, None], np.maximum(labels, 0)]
    return (np.asarray(found.todense()) > 0) & (labels >= 0)


def precision_at(Y, labels, k):
    """P@k: the share of the k best that is right; a missing prediction counts as wrong."""
    return float(_first(hits(Y, labels), k).sum(axis=1).mean() / k)


def modified_precision_at(Y, labels, k, top=5):
    """Pi@k = min(k, hits among the best 5) / k, the paper's eq. (2)."""
    return float(np.minimum(k, _first(hits(Y, labels), top).sum(axis=1)).mean() / k)


def recall_at(Y, labels, k):
    """The share of a row's labels among its k best."""
    found = _first(hits(Y, labels), k).sum(axis=1)
    return float((found / np.maximum(_true_counts(Y), 1)).mean())


def ndcg_at(Y, labels, k):
    """nDCG@k: gains 1 / log2(rank + 1), relative to the best order of the row's own labels."""
    gains = 1.0 / np.log2(np.arange(2, k + 2))
    dcg = _first(hits(Y, labels), k) @ gains
    best = np.concatenate([[0.0], np.cumsum(gains)])[np.minimum(_true_counts(Y), k)]
    return float((dcg / np.maximum(best, gains[0])).mean())


def inverse_propensities(train_counts, n_train, A=0.55, B=1.5):
    """1 / p_l = 1 + C exp(-A log(n_l + B)), C = (log n - 1)(B + 1)^A  (Jain, Prabhu & Varma 2016)."""
    C = (np.log(n_train) - 1.0) * (B + 1.0) ** A
    return 1.0 + C * (np.asarray(train_counts, dtype=np.float64) + B) ** -A


def psp_at(Y, labels, k, inverse_propensity):
    """PSP@k: precision with hits weighted by 1 / p_l, over the largest value any ranking of these rows
    could reach (the Extreme Classification Repository's normalisation: a ratio of two means)."""
    Y = _truth(Y)
    inverse_propensity = np.asarray(inverse_propensity)
    gained = (hits(Y, labels) * inverse_propensity[np.maximum(labels, 0)])[:, :k].sum()
    weights = inverse_propensity[Y.indices]
    best = sum(np.sort(weights[a:b])[::-1][:k].sum() for a, b in pairwise(Y.indptr))
    return float(gained / best) if best > 0 else 0.0


def hamming_errors(Y, labels):
    """Mean number of wrong labels a row: predicted but not true, or true but not predicted."""
    right = hits(Y, labels).sum()
    return float(((np.asarray(labels) >= 0).sum() + _true_counts(Y).sum() - 2 * right) / len(labels))


def hamming_loss(Y, labels):
    """`hamming_errors` as a share of the d labels."""
    return hamming_errors(Y, labels) / Y.shape[1]


def reduction_loss(Y, A, k=5, block=1024):
    """The paper's R-loss: Hamming errors after pooling and decoding Y itself, without classifiers.

    Decoding takes the k labels with the largest b = A'z; the paper's figures need k = 5.
    """
    Y = sp.csr_array(Y)
    total = 0.0
    for first in range(0, Y.shape[0], block):
        rows = Y[first : first + block]
        labels, _ = top_k(group_votes(pool(rows, A).toarray(), A), k)
        total += hamming_errors(rows, labels) * rows.shape[0]
    return total / Y.shape[0]


def training_loss(Y, labels, k=5):
    """The paper's T-loss: Hamming errors of the k best predicted labels of the training rows."""
    return hamming_errors(Y, np.asarray(labels)[:, :k])


def evaluate(Y, labels, *, train_counts=None, n_train=None, ks=(1, 3, 5)):
    """All measures of a ranking with at least max(ks) columns, by name.

    PSP@k needs the training frequencies of the labels and the number of training rows.
    """
    report = {f"P@{k}": precision_at(Y, labels, k) for k in ks}
    report |= {f"Pi@{k}": modified_precision_at(Y, labels, k) for k in ks}
    report |= {f"nDCG@{k}": ndcg_at(Y, labels, k) for k in ks}
    if train_counts is not None and n_train is not None:
        weights = inverse_propensities(train_counts, n_train)
        report |= {f"PSP@{k}": psp_at(Y, labels, k, weights) for k in ks}
    report |= {f"recall@{k}": recall_at(Y, labels, k) for k in ks}
    report["hamming"] = hamming_loss(Y, np.asarray(labels)[:, :5])
    report["n"] = int(Y.shape[0])
    report["n_unlabelled"] = int((_true_counts(Y) == 0).sum())
    return report


def _truth(Y):
    """Y as a CSR array whose stored entries are the labels."""
    Y = sp.csr_array(Y)
    if not Y.data.all():
        Y = Y.copy()
        Y.eliminate_zeros()
    return Y


def _true_counts(Y):
    return np.diff(_truth(Y).indptr)


def _first(found, k):
    if found.shape[1] < k:
        found = np.pad(found, ((0, 0), (0, k - found.shape[1])))
    return found[:, :k]


def _check(Y, labels):
    labels = np.asarray(labels)
    Y = _truth(Y)
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
    return Y, labels
