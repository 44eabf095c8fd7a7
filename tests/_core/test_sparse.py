"""Sparse matrices whose indices lie outside their shape never reach compiled code."""

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt import MLGTClassifier, Predictor


def broken(kind, shape):
    """A matrix that SciPy makes without complaint."""
    X = sp.random_array(shape, density=0.2, format="csr", dtype=np.float32, random_state=0)
    X.data[:] = 1
    if kind == "index too large":
        X.indices[3] = shape[1] + 1_000_000
    elif kind == "negative index":
        X.indices[3] = -5
    elif kind == "falling pointers":
        X.indptr[2] = X.indptr[4]
        X.indptr[3] = 0
    elif kind == "pointers beyond the data":
        X.indptr[-1] = 10**6
    elif kind == "coo":
        X = X.tocoo()
        X.coords[1][3] = shape[1] + 1_000_000
    return X


KINDS = ["index too large", "negative index", "falling pointers", "pointers beyond the data", "coo"]


@pytest.mark.parametrize("kind", KINDS)
def test_broken_matrices_are_refused(kind, topics):
    X, Y = topics[0]
    model = MLGTClassifier(n_groups=12, ranker=None, random_state=0).fit(X, Y)
    for ask in (model.predict_topk, model.predict, Predictor(model).predict_topk):
        with pytest.raises(ValueError):  # noqa: PT011  the words are SciPy's
            ask(broken(kind, (20, X.shape[1])))
    with pytest.raises(ValueError):  # noqa: PT011
        MLGTClassifier().fit(broken(kind, X.shape), Y)
    with pytest.raises(ValueError):  # noqa: PT011
        MLGTClassifier().fit(X, broken(kind, Y.shape))
