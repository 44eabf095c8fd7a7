"""fastText: a row is the words it has, without their values."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .trained import Trained, padded

PREFIX = "__label__"


class FastText(Trained):
    def __init__(self, model):
        self.model = model

    def prepare(self, X: sp.csr_array) -> Any:
        return [words(X.indices[a:b]) for a, b in zip(X.indptr, X.indptr[1:])]

    def predict(self, rows: Any, k: int) -> Any:
        return self.model.predict(rows, k=k)[0]

    def labels(self, found: Any, k: int) -> np.ndarray:
        return padded([[int(name.removeprefix(PREFIX)) for name in row] for row in found], k)

    def save(self, folder: Path) -> None:
        self.model.save_model(str(folder / "model.bin"))


def words(indices: np.ndarray) -> str:
    return " ".join(f"w{j}" for j in indices.tolist())


def write_input(X: sp.csr_array, Y: sp.csr_array, folder: Path) -> None:
    """Write one line per row: its labels, then its words."""
    with (folder / "train.txt").open("w") as file:
        for a, b, c, d in zip(Y.indptr, Y.indptr[1:], X.indptr, X.indptr[1:]):
            if a < b:
                names = " ".join(f"{PREFIX}{l}" for l in Y.indices[a:b].tolist())
                file.write(f"{names} {words(X.indices[c:d])}\n")


def fast_text(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    import fasttext

    settings = {"thread": threads, "seed": seed, "verbose": 0, **options}
    return FastText(fasttext.train_supervised(str(folder / "train.txt"), **settings))
