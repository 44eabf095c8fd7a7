"""fastText with one-vs-all loss: a row is the words it has, without their values."""

from .trained import Trained, padded

PREFIX = "__label__"


class FastText(Trained):
    def __init__(self, model):
        self.model = model

    def prepare(self, X):
        return [words(X.indices[a:b]) for a, b in zip(X.indptr, X.indptr[1:])]

    def predict(self, rows, k):
        return self.model.predict(rows, k=k)[0]

    def labels(self, found, k):
        return padded([[int(name.removeprefix(PREFIX)) for name in row] for row in found], k)

    def save(self, folder):
        self.model.save_model(str(folder / "model.bin"))


def words(indices):
    return " ".join(f"w{j}" for j in indices.tolist())


def write_input(X, Y, folder):
    """A line a row: its labels, its words."""
    with (folder / "train.txt").open("w") as file:
        for a, b, c, d in zip(Y.indptr, Y.indptr[1:], X.indptr, X.indptr[1:]):
            if a < b:
                names = " ".join(f"{PREFIX}{l}" for l in Y.indices[a:b].tolist())
                file.write(f"{names} {words(X.indices[c:d])}\n")


def fast_text(X, Y, options, threads, seed, folder):
    import fasttext

    settings = {"thread": threads, "seed": seed, "verbose": 0, **options}
    return FastText(fasttext.train_supervised(str(folder / "train.txt"), **settings))
