"""One form for every sparse matrix that comes in: CSR, sorted, each entry stored once, no zeros.

Counting stored entries then counts the non-zeros; a matrix with duplicates or stored zeros, which SciPy
allows, would be miscounted.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

_MAX_INT32 = np.iinfo(np.int32).max


def canonical(matrix: Any, dtype: Any = None) -> sp.csr_array:
    """Return `matrix` (sparse or dense, 2-d) as a canonical CSR array, with 32-bit indices if they fit.

    A matrix in this form is not copied; the caller's matrix is never changed.
    """
    found = sp.csr_array(matrix, dtype=dtype)
    if not found.has_canonical_format or not found.data.all():
        found = found.copy()
        found.sum_duplicates()
        found.eliminate_zeros()
    if found.indices.dtype != np.int32 and max(found.nnz, *found.shape) <= _MAX_INT32:
        indices, indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)
        found = sp.csr_array((found.data, indices, indptr), shape=found.shape)
    return found


def check_stored(matrix: object) -> None:
    """Raise ValueError if a sparse matrix has indices outside its shape or broken pointers: compiled code,
    also
    SciPy's own, would read out of bounds."""
    if hasattr(matrix, "check_format"):  # CSR, CSC, BSR
        matrix.check_format(full_check=True)
    elif isinstance(matrix, (sp.coo_array, sp.coo_matrix)):
        for ids, size in zip(matrix.coords, matrix.shape):
            if len(ids) and not 0 <= ids.min() <= ids.max() < size:
                raise ValueError(f"a sparse matrix of shape {matrix.shape} has indices outside of it.")


def count_occurring(Y: sp.csr_array) -> int:
    """Return the number of labels, columns of Y (n, d), that occur."""
    return len(np.unique(Y.indices))


def label_counts(Y: sp.csr_array) -> np.ndarray:
    """Return the number of rows per label, (d,) int64."""
    return np.bincount(canonical(Y).indices, minlength=Y.shape[1]).astype(np.int64)


def by_label(labels: np.ndarray, values: np.ndarray, d: int) -> sp.csr_matrix:
    """(n, d) CSR matrix with values[i, j] in column labels[i, j]; nothing for -1."""
    kept = labels >= 0
    rows = np.nonzero(kept)[0]
    return sp.csr_matrix((values[kept], (rows, labels[kept])), shape=(len(labels), d))
