"""What every reader of data returns: the features and the labels of the same rows."""

from dataclasses import dataclass

import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features X and labels Y of n rows.

    Both are CSR with float32 values and int32 indices (int64 past 2**31 - 1 entries); within a
    row the indices are sorted and distinct, and no zero is stored.
    """

    X: sp.csr_array  # (n, p)
    Y: sp.csr_array  # (n, d), every stored value is 1
