"""The label co-occurrence graph: G = Y'Y, with Y (n rows, d labels).

The paper writes Y with labels as rows, so its YY' is Y'Y here. G[i, j] counts the training rows that
carry both labels; the diagonal holds the label frequencies. A label without training rows is an
empty row of G.
"""

import numpy as np
import scipy.sparse as sp

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
