"""napkinXC: a probabilistic label tree, and one-vs-all (binary relevance)."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .trained import Trained, padded


class Napkin(Trained):
    """napkinXC trains into a folder and reads it again."""

    def __init__(self, model):
        self.model = model
        model.load()

    def prepare(self, X: sp.csr_array) -> Any:
        return sp.csr_matrix(X)

    def predict(self, rows: Any, k: int) -> Any:
        return self.model.predict(rows, top_k=k)

    def labels(self, found: Any, k: int) -> np.ndarray:
        return padded(found, k)

    def save(self, folder: Path) -> None:
        """The model is in the folder already."""


def _train(kind, X, Y, options, threads, seed, folder):
    import napkinxc.models

    extra = {"seed": seed} if kind == "PLT" else {}
    model = getattr(napkinxc.models, kind)(str(folder / "model"), threads=threads, **extra, **options)
    model.fit(sp.csr_matrix(X), [row.tolist() for row in np.split(Y.indices, Y.indptr[1:-1])])
    return Napkin(model)


def plt(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    return _train("PLT", X, Y, options, threads, seed, folder)


def one_vs_all(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    return _train("BR", X, Y, options, threads, seed, folder)
