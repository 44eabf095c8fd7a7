"""Pooling: z = A OR y, for all rows at once."""

import numpy as np
import scipy.sparse as sp

from ..sparse import canonical


def pool(Y, A):
    """Z = 1[Y A' > 0], (n, m) CSR: a group is positive when one of its labels is present."""
    Z = sp.csr_array(canonical(Y, np.float32) @ canonical(A, np.float32).T)
    Z.data[:] = 1.0
    return Z
