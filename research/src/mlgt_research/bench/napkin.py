"""napkinXC: a probabilistic label tree, and one-vs-all (binary relevance)."""

import numpy as np
import scipy.sparse as sp

from .trained import Trained, padded


class Napkin(Trained):
    """It trains into its folder and reads it again."""

    def __init__(self, model):
        self.model = model
        model.load()

    def prepare(self, X):
        return sp.csr_matrix(X)

    def predict(self, rows, k):
        return self.model.predict(rows, top_k=k)

    def labels(self, found, k):
        return padded(found, k)

    def save(self, folder):
        """It is there already."""


def _train(kind, X, Y, options, threads, seed, folder):
    import napkinxc.models

    extra = {"seed": seed} if kind == "PLT" else {}
    model = getattr(napkinxc.models, kind)(str(folder / "model"), threads=threads, **extra, **options)
    model.fit(sp.csr_matrix(X), [row.tolist() for row in np.split(Y.indices, Y.indptr[1:-1])])
    return Napkin(model)


def plt(X, Y, options, threads, seed, folder):
    return _train("PLT", X, Y, options, threads, seed, folder)


def one_vs_all(X, Y, options, threads, seed, folder):
    return _train("BR", X, Y, options, threads, seed, folder)
