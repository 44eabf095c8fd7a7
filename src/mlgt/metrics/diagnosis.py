"""Where is a ranking good and where not: by label, by how rare labels are, by probability, by row.

Truth is Y (n, d); a prediction is `labels` (n, K), best first, padded by -1, as in `metrics`; `predicted`
is the part of it that is given out as the answer, the rest -1 too; `probability` (n, K) goes with `labels`.
"""

from dataclasses import dataclass

import numpy as np

from .._core.sparse import canonical
from .measures import hits, reliability

BANDS = (0, 1, 5, 20, 100, 1000)
"""Labels are told apart by their training rows: 0, 1 to 4, 5 to 19, 20 to 99, 100 to 999, more."""
THRESHOLDS = (*(i / 20 for i in range(1, 20)), 0.99)


@dataclass(frozen=True)
class LabelTable:
    """How often each of the d labels is true, predicted, and both."""

    true: np.ndarray  # (d,) int64, as the others
    predicted: np.ndarray
    right: np.ndarray

    @property
    def f1(self):
        return 2 * self.right / np.maximum(self.true + self.predicted, 1)


def label_table(Y, predicted):
    """Count each label's rows, predictions and hits."""
    Y, predicted = canonical(Y), np.asarray(predicted)
    d = Y.shape[1]
    found = hits(Y, predicted)
    return LabelTable(
        np.bincount(Y.indices, minlength=d),
        np.bincount(predicted[predicted >= 0], minlength=d),
        np.bincount(predicted[found], minlength=d),
    )


def worst_and_best(table, count, at_least=5):
    """(worst, best): up to `count` label ids each, by F1, no label in both.

    Only labels with `at_least` true rows are judged, since one row says little of a label; where fewer than
    2 `count` labels have so many, the most frequent ones. Among equals the one with more rows comes first.
    """
    order = np.argsort(-table.true, kind="stable")
    enough = max(int((table.true >= at_least).sum()), min(2 * count, int((table.true > 0).sum())))
    judged = order[:enough]
    worst = judged[np.argsort(table.f1[judged], kind="stable")][: min(count, enough // 2)]
    others = judged[~np.isin(judged, worst)]
    return worst, others[np.argsort(-table.f1[others], kind="stable")][:count]


def by_frequency(table, train_counts, bands=BANDS):
    """A row per band of training frequency: least and most training rows, labels, and of these labels
    together: true rows, predictions, hits. Bands without a label are left out."""
    place = np.searchsorted(bands, np.asarray(train_counts), side="right") - 1
    most = [*(b - 1 for b in bands[1:]), None]
    found = []
    for i in range(len(bands)):
        own = place == i
        if own.any():
            counts = (int(part[own].sum()) for part in (table.true, table.predicted, table.right))
            found.append((bands[i], most[i], int(own.sum()), *counts))
    return found


def coverage(probability, right, n_true, thresholds):
    """What is left, and how right it is, when only predictions of at least a probability are kept.

    `probability` and `right` (n, K), 0 and False where there is no label; `n_true` the true labels of all
    rows. One `Kept` per threshold.
    """
    kept = [probability >= max(t, np.finfo(np.float32).tiny) for t in thresholds]
    return [
        Kept(float(t), int(k.sum()), int((right & k).sum()), int(k.any(axis=1).sum()), len(right), n_true)
        for t, k in zip(thresholds, kept)
    ]


@dataclass(frozen=True)
class Kept:
    """The predictions of at least a probability."""

    threshold: float
    predictions: int
    hits: int
    rows: int
    """Rows with at least one such prediction."""
    n: int
    n_true: int

    @property
    def precision(self):
        return self.hits / self.predictions if self.predictions else None

    @property
    def coverage(self):
        return self.rows / max(self.n, 1)

    @property
    def recall(self):
        return self.hits / max(self.n_true, 1)


def surest_errors(Y, labels, scores, count):
    """Rows (row, place): the wrong predictions with the highest scores, one a row, surest first."""
    wrong = ~hits(Y, labels) & (np.asarray(labels) >= 0)
    if not wrong.any():
        return []
    score = np.where(wrong, scores, -np.inf)
    place = score.argmax(axis=1)
    surest = score[np.arange(len(score)), place]
    order = np.argsort(-surest, kind="stable")[:count]
    return [(int(i), int(place[i])) for i in order if surest[i] > -np.inf]


def missed(Y, predicted, row):
    """The true labels of a row that are not predicted, ascending."""
    Y = canonical(Y)
    return np.setdiff1d(Y.indices[Y.indptr[row] : Y.indptr[row + 1]], predicted[row])


def diagnose(Y, labels, scores, predicted, *, train_counts, probability=None, names=None, count=5, first=0):
    """All of the above as plain lists and dicts, for JSON, terminals and pages.

    `scores` (n, K) order the labels; `probability` (n, K) where they stand for one. `names` (d,) are the
    labels', if they have any; ids are counted from `first`, rows from 1. Columns of Y beyond `train_counts`
    and `names` are labels the model does not know. `count` is how many labels at either end and how many
    errors to show.
    """
    Y = canonical(Y)

    def label(l):
        own = {"id": int(l) + first}
        return own if names is None or l >= len(names) else own | {"name": str(names[l])}

    counts = np.zeros(Y.shape[1], np.int64)
    counts[: len(train_counts)] = train_counts
    table = label_table(Y, predicted)
    worst, best = worst_and_best(table, count)
    found = {
        "worst_labels": [label(l) | _label_facts(table, l) for l in worst],
        "best_labels": [label(l) | _label_facts(table, l) for l in best],
        "by_frequency": [_band_facts(*band) for band in by_frequency(table, counts)],
    }
    right = hits(Y, labels)
    if probability is not None:
        found["coverage"] = [_kept_facts(k) for k in coverage(probability, right, Y.nnz, THRESHOLDS)]
        said = reliability(probability[labels >= 0], right[labels >= 0])
        found["calibration"] = [
            {"probability": p, "right": share, "labels": int(number)} for p, share, number in said.tolist()
        ]
    given = scores if probability is None else probability
    found["errors"] = [
        {
            "row": row + 1,
            "predicted": [
                label(labels[row, j]) | {"score": float(given[row, j]), "right": bool(right[row, j])}
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
    own = {"least": least, "most": most, "labels": labels}
    own |= {"true": true, "predicted": predicted, "right": right}
    return own | _shares(true, predicted, right)


def _shares(true, predicted, right):
    """None where there is nothing to take a share of."""
    return {
        "precision": right / predicted if predicted else None,
        "recall": right / true if true else None,
    }


def _kept_facts(kept):
    return {
        "threshold": kept.threshold,
        "labels_per_row": kept.predictions / max(kept.n, 1),
        "precision": kept.precision,
        "recall": kept.recall,
        "rows": kept.coverage,
    }
