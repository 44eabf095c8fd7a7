"""Pooling: z = A OR y, for all rows at once."""

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical


def pool(Y: sp.csr_array, A: sp.csr_array) -> sp.csr_array:
    """Return Z = 1[Y A' > 0], (n, m) CSR: a group is positive when one of its labels is present."""
    Z = sp.csr_array(canonical(Y, np.float32) @ canonical(A, np.float32).T)
    Z.data[:] = 1.0
    return Z


def label_sums(S: np.ndarray, A: sp.csr_array) -> np.ndarray:
    """Return the sum of each label's group values: S (n, m) dense, A (m, d) -> S A, (n, d) float32."""
    # With labels as CSR rows, c runs of n contiguous values are added per label.
    by_label = sp.csr_array(sp.csr_array(A, dtype=np.float32).T)
    return np.ascontiguousarray((by_label @ np.asarray(S, dtype=np.float32).T).T)
