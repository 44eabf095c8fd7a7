"""omikuji: Parabel with its defaults, Bonsai with the options its documentation gives for it."""

from mlgt.data import write_xmc

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


def write_input(X, Y, folder):
    """The rows in a file, which is what it reads."""
    write_xmc(folder / "train.txt", X, Y)


def omikuji(X, Y, options, threads, seed, folder):
    """It has no seed."""
    from omikuji import Model

    settings = Model.default_hyper_param()
    for name, value in options.items():
        setattr(settings, name, value)
    model = Model.train_on_data(str(folder / "train.txt"), settings, n_threads=threads)
    return Omikuji(model, folder)
