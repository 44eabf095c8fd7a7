"""A'z for a block of rows: the product that all decoding comes down to."""

import numpy as np
import scipy.sparse as sp


def lift(S, A):
    """Sum of each label's group values: S (n, m) dense, A (m, d) -> S A, (n, d) float32."""
    # Labels as CSR rows: c runs of n contiguous values are added per label.
    by_label = sp.csr_array(sp.csr_array(A, dtype=np.float32).T)
    return np.ascontiguousarray((by_label @ np.asarray(S, dtype=np.float32).T).T)
