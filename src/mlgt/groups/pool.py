"""Pooling: z = A OR y, for all rows at once."""

import numpy as np
import scipy.sparse as sp

from .._core.csr import CSRBuilder
from .._core.memory import is_mapped
from .._core.sparse import canonical, row_pieces


def pool(Y: sp.csr_array, A: sp.csr_array) -> sp.csr_array:
    """Return Z = 1[Y A' > 0], (n, m) CSR: a group is positive when one of its labels is present. If Y is in
    a file, so is Z."""
    Y, by_label = canonical(Y, np.float32), sp.csr_array(canonical(A, np.float32).T)
    built = CSRBuilder(is_mapped(Y.data), n_columns=A.shape[0])
    for rows in row_pieces(Y.indptr):
        Z = sp.csr_array(Y[rows] @ by_label)
        Z.sort_indices()
        Z.data[:] = 1.0
        built.append(Z)
    return built.build()


def label_sums(S: np.ndarray, A: sp.csr_array) -> np.ndarray:
    """Return the sum of each label's group values: S (n, m) dense, A (m, d) -> S A, (n, d) float32."""
    # With labels as CSR rows, c runs of n contiguous values are added per label.
    by_label = sp.csr_array(sp.csr_array(A, dtype=np.float32).T)
    return np.ascontiguousarray((by_label @ np.asarray(S, dtype=np.float32).T).T)


def is_permutation(A: sp.csr_array) -> bool:
    """True if every label is a group of its own."""
    m, d = A.shape
    return bool(m == d == A.nnz and len(np.unique(A.indices)) == d and (np.diff(A.indptr) == 1).all())
