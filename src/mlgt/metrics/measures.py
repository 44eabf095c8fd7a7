"""How good is a ranking: precision, nDCG, propensity-scored precision, recall, Hamming losses.

Truth is Y (n, d), sparse or dense 0/1; a prediction is `labels` (n, K): label ids, best first, padded
by -1 where a row has fewer. Values are fractions, averaged over all n rows. A row without true labels
counts as zero in every measure at k, and `evaluate` reports how many there are.
"""

from itertools import pairwise

import numpy as np

from .._core.sparse import canonical


def hits(Y, labels):
    """(n, K) booleans: is each predicted label a true one? Padding is not."""
    Y, labels = _check(Y, labels)
    found = Y[np.arange(len(labels))[:, None], np.maximum(labels, 0)]
    return (np.asarray(found.todense()) > 0) & (labels >= 0)


def precision_at(Y, labels, k):
    """P@k: the share of the k best that is right; a missing prediction counts as wrong."""
    return _mean(_precision(hits(Y, labels), k))


def modified_precision_at(Y, labels, k):
    """Pi@k = min(k, hits among the best 5) / k, the paper's eq. (2)."""
    return _mean(_modified_precision(hits(Y, labels), k))


def recall_at(Y, labels, k):
    """The share of a row's labels among its k best."""
    return _mean(_recall(hits(Y, labels), k, _true_counts(Y)))


def ndcg_at(Y, labels, k):
    """nDCG@k: gains 1 / log2(rank + 1), relative to the best order of the row's own labels."""
    return _mean(_ndcg(hits(Y, labels), k, _true_counts(Y)))


def ndcg_rows(Y, labels, k):
    """nDCG@k of each row, (n,)."""
    return _ndcg(hits(Y, labels), k, _true_counts(Y))[0]


def surely_better(new, old, errors=2.0):
    """Is the mean of `new` above that of `old`, row by row, by more than so many standard errors?"""
    gained = np.asarray(new) - np.asarray(old)
    return gained.mean() > errors * gained.std() / np.sqrt(len(gained))


def inverse_propensities(train_counts, n_train, A=0.55, B=1.5):
    """1 / p_l = 1 + C exp(-A log(n_l + B)), C = (log n - 1)(B + 1)^A  (Jain, Prabhu & Varma 2016)."""
    C = (np.log(n_train) - 1.0) * (B + 1.0) ** A
    return 1.0 + C * (np.asarray(train_counts, dtype=np.float64) + B) ** -A


def psp_at(Y, labels, k, inverse_propensity):
    """PSP@k: precision with hits weighted by 1 / p_l, over the largest value any ranking of these
    rows could reach (the Extreme Classification Repository's normalisation: a ratio of two means)."""
    return _mean(_psp(hits(Y, labels), k, canonical(Y), np.asarray(labels), np.asarray(inverse_propensity)))


def f1_rows(Y, labels):
    """F1 of each row's predicted set `labels` (n, k), padded by -1: 2 hits / (predicted + true)."""
    found = hits(Y, labels).sum(axis=1)
    return 2 * found / np.maximum((np.asarray(labels) >= 0).sum(axis=1) + _true_counts(Y), 1)


def reliability(probability, right, bins=10):
    """Do probabilities mean what they say? Rows (mean probability, share right, count), a row per bin.

    Bins are of equal width; empty ones are left out.
    """
    place = np.minimum((np.asarray(probability) * bins).astype(int), bins - 1).ravel()
    counts = np.bincount(place, minlength=bins)
    said = np.bincount(place, np.ravel(probability), bins)
    true = np.bincount(place, np.ravel(right), bins)
    kept = counts > 0
    return np.stack([said[kept] / counts[kept], true[kept] / counts[kept], counts[kept]], axis=1)


def calibration_error(table):
    """Expected calibration error of a `reliability` table: the mean distance of said and true, by count."""
    return float(np.average(np.abs(table[:, 0] - table[:, 1]), weights=table[:, 2])) if len(table) else 0.0


def hamming_errors(Y, labels):
    """Mean number of wrong labels a row: predicted but not true, or true but not predicted."""
    return _mean(_hamming(hits(Y, labels), np.asarray(labels), _true_counts(Y)))


def hamming_loss(Y, labels):
    """`hamming_errors` as a share of the d labels."""
    return hamming_errors(Y, labels) / Y.shape[1]


def training_loss(Y, labels, k=5):
    """The paper's T-loss: Hamming errors of the k best predicted labels of the training rows."""
    return hamming_errors(Y, np.asarray(labels)[:, :k])


def evaluate(Y, labels, *, train_counts=None, n_train=None, ks=(1, 3, 5), resamples=0, seed=0):
    """All measures of a ranking with at least max(ks) columns, by name.

    PSP@k needs the training frequencies of the labels and the number of training rows. With
    `resamples` > 0, "intervals" holds the 95 % interval of each measure over that many bootstrap
    resamples of the rows.
    """
    Y, labels = _check(Y, labels)
    found, true = hits(Y, labels), _true_counts(Y)
    parts = {f"P@{k}": _precision(found, k) for k in ks}
    parts |= {f"Pi@{k}": _modified_precision(found, k) for k in ks}
    parts |= {f"nDCG@{k}": _ndcg(found, k, true) for k in ks}
    if train_counts is not None and n_train is not None:
        weights = inverse_propensities(train_counts, n_train)
        parts |= {f"PSP@{k}": _psp(found, k, Y, labels, weights) for k in ks}
    parts |= {f"recall@{k}": _recall(found, k, true) for k in ks}
    wrong, ones = _hamming(found[:, :5], labels[:, :5], true)
    parts["hamming"] = wrong, ones * Y.shape[1]
    report = {name: _mean(part) for name, part in parts.items()}
    report |= {"n": int(Y.shape[0]), "n_unlabelled": int((true == 0).sum())}
    if resamples:
        report["intervals"] = _bootstrap(parts, resamples, seed)
    return report


# Each measure is a sum over rows divided by a sum over rows: a pair (gains, weights), both (n,).


def _mean(part):
    gains, weights = part
    total = weights.sum()
    return float(gains.sum() / total) if total > 0 else 0.0


def _rows(gains):
    return gains, np.ones(len(gains))


def _precision(found, k):
    return _rows(found[:, :k].sum(axis=1) / k)


def _modified_precision(found, k):
    return _rows(np.minimum(k, found[:, :5].sum(axis=1)) / k)


def _recall(found, k, true):
    return _rows(found[:, :k].sum(axis=1) / np.maximum(true, 1))


def _ndcg(found, k, true):
    gains = 1.0 / np.log2(np.arange(2, k + 2))
    best = np.concatenate([[0.0], np.cumsum(gains)])[np.minimum(true, k)]
    found = found[:, :k]
    return _rows(found @ gains[: found.shape[1]] / np.maximum(best, gains[0]))


def _psp(found, k, Y, labels, inverse_propensity):
    gained = (found * inverse_propensity[np.maximum(labels, 0)])[:, :k].sum(axis=1)
    weights = inverse_propensity[Y.indices]
    best = np.array([np.sort(weights[a:b])[::-1][:k].sum() for a, b in pairwise(Y.indptr)])
    return gained, best


def _hamming(found, labels, true):
    return _rows((labels >= 0).sum(axis=1) + true - 2.0 * found.sum(axis=1))


def _bootstrap(parts, resamples, seed, block=100):
    """95 % intervals of all measures, from the same resamples of the rows."""
    rng = np.random.default_rng(seed)
    gains, weights = (np.stack([part[i] for part in parts.values()], axis=1) for i in (0, 1))
    n = len(gains)
    values = []
    for first in range(0, resamples, block):
        draws = min(block, resamples - first)
        times = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(draws)])
        totals = times @ weights
        values.append(np.divide(times @ gains, totals, out=np.zeros_like(totals), where=totals > 0))
    low, high = np.quantile(np.concatenate(values), [0.025, 0.975], axis=0)
    return {name: [float(a), float(b)] for name, a, b in zip(parts, low, high)}


def _true_counts(Y):
    return np.diff(canonical(Y).indptr)


def _check(Y, labels):
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
