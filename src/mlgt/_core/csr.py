"""CSR arrays from their parts, and from blocks of rows kept in memory or in files."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .memory import Growing


def short_pointers(indptr: np.ndarray) -> np.ndarray:
    """A new array of the pointers of CSR rows, 32-bit if they fit. Kernels are compiled once for each type
    of their arguments, so rows that do not come from `canonical` should have the types that it gives."""
    return indptr.astype(np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64)


def make_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_columns: int) -> sp.csr_array:
    """A CSR array with 32-bit pointers if they fit."""
    return sp.csr_array((data, indices, short_pointers(indptr)), shape=(len(indptr) - 1, n_columns))


def places_of(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """starts[j], starts[j] + 1, ..., lengths[j] of them, for each j: where the entries of some rows are."""
    return np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())


class CSRBuilder:
    """Joins blocks of rows to one CSR array, as wide as the widest block, and as `n_columns`; its indices
    and values are in files if they are to be on disk."""

    def __init__(self, on_disk: bool = False, dtype: Any = np.float32, n_columns: int = 0) -> None:
        self.indices, self.data = Growing(np.int32, on_disk), Growing(dtype, on_disk)
        self.counts = Growing(np.int32)
        self.n_columns = n_columns

    @property
    def n_rows(self) -> int:
        return self.counts.size

    @property
    def n_bytes(self) -> int:
        """Size of what is in memory."""
        return sum(part.n_bytes for part in (self.indices, self.data, self.counts))

    def append(self, rows: sp.csr_array) -> None:
        """Add a block of rows, a canonical CSR array."""
        self.n_columns = max(self.n_columns, rows.shape[1])
        self.counts.append(np.diff(rows.indptr))
        self.indices.append(rows.indices)
        self.data.append(rows.data)

    def build(self) -> sp.csr_array:
        """Return the array of all rows; call it once."""
        indptr = np.concatenate([[0], np.cumsum(self.counts.finish(), dtype=np.int64)])
        built = make_csr(self.data.finish(), self.indices.finish(), indptr, self.n_columns)
        built.has_sorted_indices = built.has_canonical_format = True
        return built
