"""omikuji: Parabel with its defaults, Bonsai with the options its documentation gives for it."""

from ..data import write_xmc
from .trained import Trained, padded


class Omikuji(Trained):
    """Saved before its weights are made dense for speed: on disk they are sparse."""

    def __init__(self, model, folder):
        model.save(str(folder / "model"))
        model.densify_weights(0.05)
        self.model = model

    def prepare(self, X):
        return [
            list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist())) for a, b in zip(X.indptr, X.indptr[1:])
        ]

    def predict(self, rows, k):
        return [self.model.predict(row, top_k=k) for row in rows]

    def labels(self, found, k):
        return padded([[label for label, _ in row] for row in found], k)

    def prepare_one(self, X):
        return self.prepare(X)[0]

    def predict_one(self, row, k):
        return self.model.predict(row, top_k=k)

    def save(self, folder):
        """It is there already."""


def omikuji(X, Y, options, threads, seed, folder):
    """It has no seed, and reads its rows from a file."""
    from omikuji import Model

    path = folder / "train.txt"
    write_xmc(path, X, Y)
    settings = Model.default_hyper_param()
    for name, value in options.items():
        setattr(settings, name, value)
    model = Model.train_on_data(str(path), settings, n_threads=threads)
    return Omikuji(model, folder)
