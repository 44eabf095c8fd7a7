"""Diagnosis of predictions: by label, by frequency of the labels, by probability, by row.

The truth is Y (n, d); a prediction is `labels` (n, K), best first, padded with -1. `predicted` (n, K) is
the part of `labels` that the model gives as its answer, -1 elsewhere; `probability` (n, K) belongs to
`labels`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.ids import KnownIds
from .._core.sparse import canonical
from ._ratios import renumber
from .calibration import reliability
from .confusions import confused_pairs
from .measures import Matrix, hits

FREQUENCY_BANDS = (0, 1, 5, 20, 100, 1000)
"""Smallest number of training rows of the labels in each band."""
THRESHOLDS = (*(i / 20 for i in range(1, 20)), 0.99)
MIN_TRUE_ROWS = 5
"""Number of true rows that a label needs to be ranked by F1."""


@dataclass(frozen=True)
class LabelTable:
    """Rows in which each of the d labels is true, predicted, and both."""

    true: np.ndarray  # (d,) int64, as the others
    predicted: np.ndarray
    right: np.ndarray

    @property
    def f1(self) -> np.ndarray:
        """F1 of each label."""
        return 2 * self.right / np.maximum(self.true + self.predicted, 1)


def label_table(Y: Matrix, predicted: np.ndarray) -> LabelTable:
    """Count the rows, predictions and hits of each label."""
    Y, predicted = canonical(Y), np.asarray(predicted)
    d = Y.shape[1]
    found = hits(Y, predicted)
    return LabelTable(
        np.bincount(Y.indices, minlength=d),
        np.bincount(predicted[predicted >= 0], minlength=d),
        np.bincount(predicted[found], minlength=d),
    )


def worst_and_best(table: LabelTable, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return up to `count` label ids with the lowest and with the highest F1; no label is in both.

    Only labels with MIN_TRUE_ROWS true rows are ranked; if these are fewer than 2 `count`, the most
    frequent ones. Ties are broken by frequency.
    """
    order = np.argsort(-table.true, kind="stable")
    enough = max(int((table.true >= MIN_TRUE_ROWS).sum()), min(2 * count, int((table.true > 0).sum())))
    ranked = order[:enough]
    worst = ranked[np.argsort(table.f1[ranked], kind="stable")][: min(count, enough // 2)]
    others = ranked[~np.isin(ranked, worst)]
    return worst, others[np.argsort(-table.f1[others], kind="stable")][:count]


def by_frequency(
    table: LabelTable, train_counts: Sequence[int] | np.ndarray, bands: Sequence[int] = FREQUENCY_BANDS
) -> list[tuple]:
    """Sum the table over bands of labels with similar training frequency.

    Returns (fewest and most training rows, labels, true rows, predictions, hits) of each band with labels.
    """
    place = np.searchsorted(bands, np.asarray(train_counts), side="right") - 1
    most = [*(b - 1 for b in bands[1:]), None]
    found = []
    for i in range(len(bands)):
        own = place == i
        if own.any():
            counts = (int(part[own].sum()) for part in (table.true, table.predicted, table.right))
            found.append((bands[i], most[i], int(own.sum()), *counts))
    return found


@dataclass(frozen=True)
class Kept:
    """The predictions with at least a threshold of probability."""

    threshold: float
    predictions: int
    hits: int
    rows: int  # rows with at least one such prediction
    n: int
    n_true: int

    @property
    def precision(self) -> float | None:
        """Share of the predictions that is right; None without predictions."""
        return self.hits / self.predictions if self.predictions else None

    @property
    def coverage(self) -> float:
        """Share of the rows that have a prediction."""
        return self.rows / max(self.n, 1)

    @property
    def recall(self) -> float:
        """Share of the true labels that is predicted."""
        return self.hits / max(self.n_true, 1)


def coverage(
    probability: np.ndarray, right: np.ndarray, n_true: int, thresholds: Sequence[float]
) -> list[Kept]:
    """Count the predictions that are kept, and that are right, at each threshold of probability.

    `probability` and `right` (n, K) are 0 and False for padding; `n_true` is the number of true labels.
    """
    kept = [probability >= max(t, np.finfo(np.float32).tiny) for t in thresholds]
    return [
        Kept(float(t), int(k.sum()), int((right & k).sum()), int(k.any(axis=1).sum()), len(right), n_true)
        for t, k in zip(thresholds, kept)
    ]


def surest_errors(Y: Matrix, labels: np.ndarray, scores: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return (row, place) of the wrong predictions with the highest scores, at most one per row."""
    wrong = ~hits(Y, labels) & (np.asarray(labels) >= 0)
    if not wrong.any():
        return []
    score = np.where(wrong, scores, -np.inf)
    place = score.argmax(axis=1)
    surest = score[np.arange(len(score)), place]
    order = np.argsort(-surest, kind="stable")[:count]
    return [(int(i), int(place[i])) for i in order if surest[i] > -np.inf]


def missed(Y: Matrix, predicted: np.ndarray, row: int) -> np.ndarray:
    """Return the true labels of a row that are not predicted, ascending."""
    Y = canonical(Y)
    return np.setdiff1d(Y.indices[Y.indptr[row] : Y.indptr[row + 1]], predicted[row])


def diagnose(
    Y: Matrix,
    labels: np.ndarray,
    scores: np.ndarray,
    predicted: np.ndarray,
    *,
    train_counts: Sequence[int] | np.ndarray,
    probability: np.ndarray | None = None,
    names: Sequence[str] | np.ndarray | None = None,
    count: int = 5,
    first: int = 0,
    known: KnownIds | None = None,
) -> dict[str, Any]:
    """Find the worst and the best labels, the effect of frequency and thresholds, pairs of labels that are
    given instead of each other, and the surest errors.

    `labels` and `scores` (n, K) are ranked, `predicted` is `labels` with -1 beyond the predicted set;
    `names` may name more labels than `train_counts` counts. Ids are reported from `first` on, rows from 1.
    `known` are the labels that `train_counts` counts, if a model leaves out ids.
    """
    known, Y, counts, labels, predicted = renumber(known, canonical(Y), train_counts, labels, predicted)

    def label(l):
        l = l if known is None else known.ids[l]
        own = {"id": int(l) + first}
        return own if names is None or l >= len(names) else own | {"name": str(names[l])}

    table = label_table(Y, predicted)
    worst, best = worst_and_best(table, count)
    right = hits(Y, labels)
    found = {
        "worst_labels": [label(l) | _label_facts(table, l) for l in worst],
        "best_labels": [label(l) | _label_facts(table, l) for l in best],
        "by_frequency": [_band_facts(*band) for band in by_frequency(table, counts)],
    }
    if probability is not None:
        found["coverage"] = [_kept_facts(k) for k in coverage(probability, right, Y.nnz, THRESHOLDS)]
        found["calibration"] = _calibration_facts(probability[labels >= 0], right[labels >= 0])
    found["confusions"] = [_pair_facts(pair, label) for pair in confused_pairs(Y, predicted, count)]
    values = scores if probability is None else probability
    found["errors"] = [
        {
            "row": row + 1,
            "predicted": [
                label(labels[row, j]) | {"score": float(values[row, j]), "right": bool(right[row, j])}
                for j in np.flatnonzero(predicted[row] >= 0)
            ],
            "missed": [label(l) for l in missed(Y, predicted, row)],
        }
        for row, _ in surest_errors(Y, predicted, scores, count)
    ]
    return found


def _label_facts(table, l):
    counts = {name: int(getattr(table, name)[l]) for name in ("true", "predicted", "right")}
    return counts | _shares(**counts) | {"F1": float(table.f1[l])}


def _band_facts(least, most, labels, true, predicted, right):
    counts = {"true": true, "predicted": predicted, "right": right}
    return {"least": least, "most": most, "labels": labels} | counts | _shares(**counts)


def _shares(true, predicted, right):
    """Precision and recall; None if undefined."""
    return {
        "precision": right / predicted if predicted else None,
        "recall": right / true if true else None,
    }


def _calibration_facts(probability, right):
    return [
        {"probability": mean, "right": share, "labels": int(number)}
        for mean, share, number in reliability(probability, right).tolist()
    ]


def _pair_facts(pair, label):
    sides = {"true": label(pair.true), "predicted": label(pair.predicted)}
    return sides | {"rows": pair.rows, "reversed": pair.reversed}


def _kept_facts(kept):
    return {
        "threshold": kept.threshold,
        "labels_per_row": kept.predictions / max(kept.n, 1),
        "precision": kept.precision,
        "recall": kept.recall,
        "rows": kept.coverage,
    }
