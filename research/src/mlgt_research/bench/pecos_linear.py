"""PECOS: XR-Linear over hierarchical 2-means of label embeddings, and one-vs-all by the same library."""

import scipy.sparse as sp

from .trained import Trained, best_of_csr


class Pecos(Trained):
    """Saved and loaded again: its fast path is for loaded models."""

    def __init__(self, model, folder, threads):
        from pecos.xmc.xlinear.model import XLinearModel

        model.save(str(folder / "model"))
        self.model = XLinearModel.load(str(folder / "model"), is_predict_only=True)
        self.threads = threads

    def prepare(self, X):
        return sp.csr_matrix(X)

    def predict(self, rows, k):
        return self.model.predict(rows, only_topk=k, threads=self.threads)

    def labels(self, found, k):
        return best_of_csr(found, k)

    def save(self, folder):
        """It is there already."""


def xr_linear(X, Y, options, threads, seed, folder):
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    X, Y = sp.csr_matrix(X), sp.csr_matrix(Y)
    embedding = LabelEmbeddingFactory.create(Y, X)
    tree = Indexer.gen(embedding, indexer_type="hierarchicalkmeans", threads=threads, seed=seed)
    return Pecos(XLinearModel.train(X, Y, C=tree, threads=threads, **options), folder, threads)


def one_vs_all(X, Y, options, threads, seed, folder):
    from pecos.xmc.xlinear.model import XLinearModel

    X, Y = sp.csr_matrix(X), sp.csr_matrix(Y)
    return Pecos(XLinearModel.train(X, Y, C=None, threads=threads, **options), folder, threads)
