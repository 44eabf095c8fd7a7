"""The answer of a model: a ranking of labels per row, and the part of it that the model predicts."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.sigmoid import sigmoid
from ..metrics import Ranked


@dataclass(frozen=True)
class Answer:
    """The candidates of a model, best first, and the part of them that it predicts; all are (n, K)."""

    labels: np.ndarray
    scores: np.ndarray
    predicted: np.ndarray
    """The labels that `predict` chooses, -1 elsewhere."""
    probability: np.ndarray | None = None
    """None if the model is not calibrated."""

    @classmethod
    def from_model(cls, model: Any, X: Any, k: int | None = None) -> "Answer":
        """Predict rows: the sets with the largest expected F1, else 5 labels; with `k`, the k best."""
        calibrated = model.calibrated_ and X.shape[0] > 0
        wanted = max(model.n_candidates_, k or 0) if calibrated else k
        known = len(model.fitted_model().label_counts)
        labels, scores = model.predict_topk(X, None if wanted is None else min(wanted, known))
        if k is not None:
            predicted = np.where(np.arange(labels.shape[1]) < k, labels, -1)
        else:
            predicted = model.fitted_model().sets(labels, scores) if calibrated else labels
        return cls(labels, scores, predicted, sigmoid(scores) if calibrated else None)

    @property
    def values(self) -> np.ndarray:
        """Probabilities, or scores if there are none."""
        return self.scores if self.probability is None else self.probability

    def ranked(self, positions: Callable[[np.ndarray], np.ndarray]) -> Ranked:
        """Return the answer with other label ids, by a function that keeps -1."""
        return Ranked(positions(self.labels), self.values, positions(self.predicted))


def taught_rows(model: Any, X: Any) -> list[int]:
    """Return the rows of X that a `Predictor` was taught last, and so remembers."""
    fitted = model.fitted_model()
    if fitted.sample is None or not fitted.sample.sizes[2] or not X.shape[0]:
        return []
    rows = fitted.scaled(X)
    return [i for i, _ in fitted.sample.recall(rows if sp.issparse(rows) else rows.csr())]


def in_blocks(predict: Any, X: Any, k: Any, progress: Any, size: int = 4096) -> Iterator[Any]:
    """Yield predict(rows, k) of blocks of rows, and report the progress."""
    for first in range(0, X.shape[0], size):
        yield predict(X[first : first + size], k)
        if progress is not None:
            progress(min(first + size, X.shape[0]), X.shape[0])


def timed_topk(
    model: Any, X: Any, update: Callable[[int, int], object] | None = None, k: int = 5
) -> tuple[np.ndarray, float]:
    """Return the labels of all rows, and milliseconds per row without compilation."""
    k = min(k, len(model.fitted_model().label_counts))
    if X.shape[0] == 0:
        return np.empty((0, k), int), 0.0
    for few in (1, 16):  # compile, and map the model's files; few and many rows are searched differently
        model.predict_topk(X[:few], k)
    began = time.perf_counter()
    labels = np.concatenate([block[0] for block in in_blocks(model.predict_topk, X, k, update)])
    return labels, 1e3 * (time.perf_counter() - began) / len(labels)
