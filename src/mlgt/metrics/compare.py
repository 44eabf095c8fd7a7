"""Two answers to the same rows, compared row by row.

A measure is a ratio of sums over the rows, and its difference that of two ratios,

    D = sum_i g_i^B / sum_i w_i^B - sum_i g_i^A / sum_i w_i^A,                                       (1)

with a 95 % interval from resamples of the rows, the same for A and B: what makes a row hard for both does
not widen it. F1 of a label, or of labels of similar frequency, has g = 2 hits and w = predicted + true.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical
from . import _ratios
from .diagnosis import FREQUENCY_BANDS
from .measures import Matrix, f1_rows, hits

OVERALL = ("P@1", "P@3", "P@5", "nDCG@5", "recall@5", "F1")
"""The measures of a comparison; F1 is that of the answer, the mean over the rows."""


@dataclass(frozen=True)
class Ranked:
    """A ranking of labels, best first, and the part of it that is the answer; all are (n, K)."""

    labels: np.ndarray  # padded with -1
    values: np.ndarray  # probabilities or scores
    predicted: np.ndarray  # `labels`, with -1 for labels that are not part of the answer


def compare_rankings(
    Y: Matrix,
    a: Ranked,
    b: Ranked,
    *,
    train_counts: Sequence[int] | np.ndarray,
    count: int = 5,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Compare two answers to the rows of Y (n, d).

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, d)
        True labels, 0 and 1.
    a, b : Ranked
        The answers, with columns of Y as labels.
    train_counts : array-like of shape (d,)
        Number of training rows of each label, which makes bands of labels.
    count : int, default=5
        Number of labels and of rows that became better, and worse.
    resamples : int, default=1000
        Number of bootstrap resamples of the rows for 95 % intervals.
    seed : int, default=0
        Seed of the resamples.

    Returns
    -------
    dict
        "measures", "by_frequency" and "labels", each with the values of both answers ("a", "b"), their
        "difference", b - a, and its "interval"; "rows" whose answer changed most, better and worse; and
        numbers of rows.
    """
    Y = canonical(Y)
    counted = [_Counts(Y, answer) for answer in (a, b)]
    bands, band_ratios = _bands(counted, np.asarray(train_counts))
    changed = _changed_labels(counted, count)
    pairs = list(zip(*(_overall(Y, answer) for answer in (a, b))))
    measures = {name: (one, other) for name, (one, other) in zip(OVERALL, pairs)}
    label_ratios = [tuple(own.f1(np.array([l])) for own in counted) for l in changed]
    found = paired_differences([*measures.values(), *band_ratios, *label_ratios], resamples, seed)
    n, m = len(measures), len(measures) + len(band_ratios)
    labels = [{"label": int(l)} | _label_counts(counted, l) | own for l, own in zip(changed, found[m:])]
    f1 = [f1_rows(Y, answer.predicted) for answer in (a, b)]
    same = [set(x[x >= 0]) == set(y[y >= 0]) for x, y in zip(a.predicted, b.predicted)]
    return {
        "n": int(Y.shape[0]),
        "n_unlabelled": int((np.diff(Y.indptr) == 0).sum()),
        "n_same": sum(same),
        "n_better": int((f1[1] > f1[0]).sum()),
        "n_worse": int((f1[1] < f1[0]).sum()),
        "measures": dict(zip(measures, found[:n])),
        "by_frequency": [band | own for band, own in zip(bands, found[n:m])],
        "labels": labels,
        "rows": _changed_rows(Y, (a, b), f1, count),
    }


def paired_differences(pairs: Sequence[Any], resamples: int, seed: int) -> list[dict[str, Any]]:
    """Compute eq. (1) for pairs of ratios, (A, B) each, with intervals from the same resamples."""
    sides = [dict(enumerate(side)) for side in zip(*pairs)]
    values = [[_ratios.mean(ratio) for ratio in side.values()] for side in sides]
    if resamples and len(pairs) and len(pairs[0][0][0]):
        drawn = _ratios.resampled(sides[1], resamples, seed) - _ratios.resampled(sides[0], resamples, seed)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    else:
        low = high = np.array(values[1]) - np.array(values[0])
    return [
        {"a": x, "b": y, "difference": y - x, "interval": [float(l), float(h)]}
        for x, y, l, h in zip(*values, low, high)
    ]


def is_sure(facts: dict[str, Any]) -> bool:
    """Return whether the interval of a difference leaves out zero."""
    low, high = facts["interval"]
    return low > 0 or high < 0


class _Counts:
    """True labels, answered labels and hits, each (n, d) CSR of ones."""

    def __init__(self, Y, answer):
        rows, columns = np.nonzero(answer.predicted >= 0)
        ones = np.ones(len(rows), np.float64)
        self.true = sp.csr_array(Y > 0, dtype=np.float64)
        self.predicted = sp.csr_array((ones, (rows, answer.predicted[rows, columns])), shape=Y.shape)
        self.right = sp.csr_array(self.predicted.multiply(self.true))

    def totals(self):
        """(true, predicted, right) rows of each label."""
        parts = (self.true, self.predicted, self.right)
        return np.stack([np.bincount(part.indices, minlength=part.shape[1]) for part in parts])

    def f1(self, labels):
        """F1 of some labels together, as a ratio."""
        chosen = np.zeros(self.true.shape[1])
        chosen[labels] = 1
        return 2 * (self.right @ chosen), (self.predicted + self.true) @ chosen


def _overall(Y, answer):
    """The ratios of OVERALL."""
    found, true = hits(Y, answer.labels), _ratios.true_counts(Y)
    ratios = [_ratios.precision(found, k) for k in (1, 3, 5)]
    ratios += [_ratios.ndcg(found, 5, true), _ratios.recall(found, 5, true)]
    return [*ratios, (f1_rows(Y, answer.predicted), np.ones(Y.shape[0]))]


def _bands(counted, train_counts):
    """([{least, most, labels}], [ratios of F1 of A and B]) of bands that have true or answered labels."""
    place = np.searchsorted(FREQUENCY_BANDS, train_counts, side="right") - 1
    most = [*(b - 1 for b in FREQUENCY_BANDS[1:]), None]
    occurs = sum(own.totals().sum(axis=0) for own in counted) > 0
    bands, ratios = [], []
    for i, least in enumerate(FREQUENCY_BANDS):
        own = np.flatnonzero((place == i) & occurs)
        if len(own):
            bands.append({"least": least, "most": most[i], "labels": len(own)})
            ratios.append(tuple(side.f1(own) for side in counted))
    return bands, ratios


def _changed_labels(counted, count):
    """The labels whose F1 rose most, then those whose F1 fell most, each times the label's rows."""
    totals = [own.totals() for own in counted]
    a, b = (2 * right / np.maximum(true + predicted, 1) for true, predicted, right in totals)
    gain = (b - a) * sum(true + predicted for true, predicted, _ in totals)
    order = np.argsort(-gain, kind="stable")
    better = [l for l in order[:count] if gain[l] > 0]
    worse = [l for l in order[::-1][:count] if gain[l] < 0]
    return [*better, *worse[::-1]]


def _label_counts(counted, label):
    totals = [own.totals()[:, label].tolist() for own in counted]
    (true, *a), (_, *b) = totals
    return {"true": true, "predicted": [a[0], b[0]], "right": [a[1], b[1]]}


def _changed_rows(Y, answers, f1, count):
    """The rows whose F1 rose most, and those whose F1 fell most; by nDCG@5 among equals."""
    true = _ratios.true_counts(Y)
    order = [_ratios.ndcg(hits(Y, answer.labels), 5, true)[0] for answer in answers]
    gain = f1[1] - f1[0]
    ranked = np.lexsort((np.arange(len(gain)), -(order[1] - order[0]), -gain))
    found = {
        "better": [i for i in ranked[:count] if gain[i] > 0],
        "worse": [i for i in ranked[::-1][:count] if gain[i] < 0],
    }
    return {end: [_row_facts(Y, answers, f1, i) for i in rows] for end, rows in found.items()}


def _row_facts(Y, answers, f1, i):
    truth = Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
    facts = {"row": int(i), "true": truth.tolist(), "F1": [float(own[i]) for own in f1]}
    for name, answer in zip("ab", answers):
        given = np.flatnonzero(answer.predicted[i] >= 0)
        facts[name] = [
            {
                "label": int(answer.predicted[i, j]),
                "value": float(answer.values[i, j]),
                "right": bool(answer.predicted[i, j] in truth),
            }
            for j in given
        ]
    return facts
