"""The label co-occurrence graph: G = Y'Y, with Y (n rows, d labels).

The paper writes Y with labels as rows, so its YY' is Y'Y here. G[i, j] counts the training rows that
carry both labels; the diagonal holds the label frequencies. A label without training rows is an
empty row of G.
"""

import numpy as np
import scipy.sparse as sp

from .errors import MLGTError
from .sparse import canonical


def cooccurrence(Y):
    """G = Y'Y as a (d, d) CSR array of float64 counts, sorted, without explicit zeros."""
    Y = canonical(Y, np.float64)
    G = sp.csr_array(Y.T @ Y)
    G.sort_indices()
    return G


def label_counts(Y):
    """Training rows of each label, shape (d,), int64."""
    return np.bincount(canonical(Y).indices, minlength=Y.shape[1]).astype(np.int64)


def adjacency(G):
    """G without its diagonal, int64: the graph whose vertices are labels and whose edges are weighted by
    the rows they share."""
    G = canonical(G)
    if G.shape[0] != G.shape[1] or G.shape[0] == 0:
        raise MLGTError(f"the label graph has shape {G.shape}; expected (labels, labels), as of Y'Y.")
    rows = np.repeat(np.arange(G.shape[0], dtype=np.int32), np.diff(G.indptr))
    off = G.indices != rows
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[off], minlength=G.shape[0]))])
    A = sp.csr_array(
        (G.data[off].astype(np.int64), G.indices[off], indptr.astype(G.indptr.dtype)), shape=G.shape
    )
    if not (A.data == G.data[off]).all() or (A.data < 1).any():
        raise MLGTError("the label graph has entries that are no counts; expected Y'Y of a 0/1 matrix Y.")
    probe = np.random.default_rng(0).integers(1, 2**20, G.shape[0])
    if (A @ probe != A.T @ probe).any():
        raise MLGTError("the label graph is not symmetric; expected Y'Y.")
    return A
