"""The label co-occurrence graph: G = Y'Y, with Y (n rows, d labels).

The paper writes Y with labels as rows, so its YY' is Y'Y here. G[i, j] counts the training rows that
carry both labels; the diagonal holds the label frequencies. A label without training rows is an
empty row of G.
"""

import numpy as np
import scipy.sparse as sp

from .._core.errors import MLGTError
from .._core.sparse import canonical


def cooccurrence(Y: sp.csr_array, max_row_labels: int | None = None) -> sp.csr_array:
    """Return G = Y'Y as a (d, d) CSR array of float64 counts, sorted, without explicit zeros.

    A row of k labels joins k^2 pairs, so a few rows with very many labels can fill the memory, and show
    little about which labels belong together. Rows with more than `max_row_labels` are left out.
    """
    Y = canonical(Y, np.float64)
    labels_per_row = np.diff(Y.indptr).astype(np.int64)
    if max_row_labels is not None:
        Y = Y[labels_per_row <= max_row_labels]
    try:
        G = sp.csr_array(Y.T @ Y)
    except MemoryError as error:
        row = int(labels_per_row.argmax())
        raise MLGTError(
            f"the co-occurrence of {Y.shape[1]} labels does not fit into memory. Row {row} alone, with "
            f"{labels_per_row[row]} labels, joins {labels_per_row[row] ** 2:.2g} pairs. Leave such rows "
            "out of the graph: max_row_labels=1000."
        ) from error
    G.sort_indices()
    return G


def adjacency(G: sp.csr_array) -> sp.csr_array:
    """Return G without its diagonal, int64: the graph whose vertices are labels, with edges weighted by the
    number of rows that have both."""
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
        raise MLGTError("the label graph has entries that are not counts; expected Y'Y of a 0/1 matrix Y.")
    probe = np.random.default_rng(0).integers(1, 2**20, G.shape[0])
    if (A @ probe != A.T @ probe).any():
        raise MLGTError("the label graph is not symmetric; expected Y'Y.")
    return A


def cut_weight(A: sp.csr_array, part: np.ndarray) -> int:
    """Return the weight of the edges of A between different parts, each edge once; edges of vertices in no
    part (-1) do not count."""
    of_row = np.repeat(part, np.diff(A.indptr))
    of_column = part[A.indices]
    return int(A.data[(of_row != of_column) & (of_row >= 0) & (of_column >= 0)].sum()) // 2
