"""omikuji: Parabel with its defaults, Bonsai with the options its documentation gives for it."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt.data import write_xmc

from .trained import Trained, padded


class Omikuji(Trained):
    """The model is saved before its weights are made dense for speed: on disk they are sparse."""

    def __init__(self, model, folder):
        model.save(str(folder / "model"))
        model.densify_weights(0.05)
        self.model = model

    def prepare(self, X: sp.csr_array) -> Any:
        return [
            list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist())) for a, b in zip(X.indptr, X.indptr[1:])
        ]

    def predict(self, rows: Any, k: int) -> Any:
        return [self.model.predict(row, top_k=k) for row in rows]

    def labels(self, found: Any, k: int) -> np.ndarray:
        return padded([[label for label, _ in row] for row in found], k)

    def prepare_one(self, X: sp.csr_array) -> Any:
        return self.prepare(X)[0]

    def predict_one(self, row: Any, k: int) -> Any:
        return self.model.predict(row, top_k=k)

    def save(self, folder: Path) -> None:
        """The model is in the folder already."""


def write_input(X: sp.csr_array, Y: sp.csr_array, folder: Path) -> None:
    """Write the file that omikuji reads."""
    write_xmc(folder / "train.txt", X, Y)


def omikuji(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    """omikuji has no seed."""
    from omikuji import Model

    settings = Model.default_hyper_param()
    for name, value in options.items():
        setattr(settings, name, value)
    model = Model.train_on_data(str(folder / "train.txt"), settings, n_threads=threads)
    return Omikuji(model, folder)
