"""The type that every reader of data returns."""

from dataclasses import dataclass

import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and labels of the same n rows.

    Both are CSR arrays with float32 values and int32 indices (int64 from 2**31 entries on). Within a row
    the indices are sorted and distinct, and no zero is stored.
    """

    X: sp.csr_array
    Y: sp.csr_array
