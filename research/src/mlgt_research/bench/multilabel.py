"""LibMultiLabel's linear methods: one-vs-rest, and a label tree in the manner of Bonsai."""

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.sparse import label_counts
from mlgt._core.topk import top_k

from .trained import Trained

ROWS_AT_ONCE = 512
"""Rows whose dense scores of all labels are in memory at a time."""


class Linear(Trained):
    def __init__(self, model, kept=None):
        self.model, self.kept = model, kept

    def prepare(self, X: sp.csr_array) -> Any:
        return sp.csr_matrix(X, dtype=np.float64)

    def predict(self, rows: Any, k: int) -> Any:
        linear = import_module("libmultilabel.linear")
        blocks = range(0, rows.shape[0], ROWS_AT_ONCE)
        scores = (linear.predict_values(self.model, rows[at : at + ROWS_AT_ONCE]) for at in blocks)
        return np.concatenate([top_k(np.asarray(part, np.float32), k)[0] for part in scores])

    def labels(self, found: Any, k: int) -> np.ndarray:
        return found if self.kept is None else self.kept[found]

    def save(self, folder: Path) -> None:
        """Pickled, as the library does it."""
        with (folder / "model.pickle").open("wb") as file:
            pickle.dump(self.model, file)


def one_vs_rest(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    linear = import_module("libmultilabel.linear")
    return Linear(linear.train_1vsrest(*_matrices(X, Y), options=_solver(options, threads), verbose=False))


def tree(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    """Labels without rows are left out: with the 207 of EURLex-4K, its k-means raises an error."""
    linear = import_module("libmultilabel.linear")
    kept = np.flatnonzero(label_counts(Y))
    Y, X = _matrices(X, sp.csc_array(Y)[:, kept])
    np.random.seed(seed)  # noqa: NPY002 - the library draws its k-means from the global generator
    return Linear(linear.train_tree(Y, X, options=_solver(options, threads), verbose=False), kept)


def _matrices(X, Y):
    return sp.csr_matrix(Y, dtype=np.float64), sp.csr_matrix(X, dtype=np.float64)


def _solver(options, threads):
    return f"{options['options']} -m {threads}"
