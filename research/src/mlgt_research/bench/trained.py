"""A trained system, as the benchmark measures it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp


class Trained(ABC):
    """Predicts with rows in the form its library takes; that form is made before the clock starts."""

    stages: Mapping[str, float] = MappingProxyType({})
    """CPU seconds of parts of the training, if they are known."""
    n_blocks = 1

    def prepare(self, X: sp.csr_array) -> Any:
        """Rows as `predict` takes them."""
        return X

    @abstractmethod
    def predict(self, rows: Any, k: int) -> Any:
        """The k best labels, in the form its library returns."""

    def labels(self, found: Any, k: int) -> np.ndarray:
        """The result of `predict` as label ids (n, k), best first, padded with -1."""
        return found

    def prepare_one(self, X: sp.csr_array) -> Any:
        """A single row as `predict_one` takes it."""
        return self.prepare(X)

    def predict_one(self, row: Any, k: int) -> Any:
        return self.predict(row, k)

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model below the folder."""


def padded(lists: Sequence, k: int) -> np.ndarray:
    """Lists of labels as an array (n, k), padded with -1."""
    labels = np.full((len(lists), k), -1, np.int64)
    for row, found in zip(labels, lists):
        row[: min(k, len(found))] = found[:k]
    return labels


def best_of_csr(scores: sp.csr_array, k: int) -> np.ndarray:
    """The k columns with the largest stored values of each row."""
    scores = sp.csr_matrix(scores)
    found = []
    for begin, end in zip(scores.indptr[:-1], scores.indptr[1:]):
        order = np.argsort(-scores.data[begin:end], kind="stable")[:k]
        found.append(scores.indices[begin:end][order])
    return padded(found, k)
