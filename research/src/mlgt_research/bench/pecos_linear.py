"""PECOS: XR-Linear over hierarchical 2-means of label embeddings, and one-vs-all by the same library."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .trained import Trained, best_of_csr


class Pecos(Trained):
    """The model is saved and loaded again: its fast path is for loaded models."""

    def __init__(self, model, folder, threads):
        from pecos.xmc.xlinear.model import XLinearModel

        model.save(str(folder / "model"))
        self.model = XLinearModel.load(str(folder / "model"), is_predict_only=True)
        self.threads = threads

    def prepare(self, X: sp.csr_array) -> Any:
        return sp.csr_matrix(X)

    def predict(self, rows: Any, k: int) -> Any:
        return self.model.predict(rows, only_topk=k, threads=self.threads)

    def labels(self, found: Any, k: int) -> np.ndarray:
        return best_of_csr(found, k)

    def save(self, folder: Path) -> None:
        """The model is in the folder already."""


def xr_linear(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    X, Y = sp.csr_matrix(X), sp.csr_matrix(Y)
    embedding = LabelEmbeddingFactory.create(Y, X)
    tree = Indexer.gen(embedding, indexer_type="hierarchicalkmeans", threads=threads, seed=seed)
    return Pecos(XLinearModel.train(X, Y, C=tree, threads=threads, **options), folder, threads)


def one_vs_all(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    from pecos.xmc.xlinear.model import XLinearModel

    X, Y = sp.csr_matrix(X), sp.csr_matrix(Y)
    return Pecos(XLinearModel.train(X, Y, C=None, threads=threads, **options), folder, threads)
