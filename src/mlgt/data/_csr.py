"""CSR arrays from their parts, and from blocks of rows kept in memory or in files."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

DTYPES = {"indices": np.int32, "data": np.float32}


def make_csr(data, indices, indptr, n_columns):
    """A CSR array with a 32-bit index pointer where it fits."""
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))


class CSRBuilder:
    """Joins blocks of rows to one CSR array, as wide as the widest block.

    With a folder, indices and values are written to files there, named after `name`, and mapped by `build`.
    """

    def __init__(self, folder, name):
        self.folder, self.name = None if folder is None else Path(folder), name
        self.blocks: dict[str, list] = {key: [] for key in DTYPES}
        self.counts = [np.zeros(1, np.int32)]
        self.n_rows = self.n_columns = self.n_bytes = 0  # n_bytes: those in memory
        if self.folder is not None:
            if not self.folder.is_dir():
                raise FileNotFoundError(
                    errno.ENOENT, "the folder to keep the arrays in does not exist; create it", str(folder)
                )
            self.files = {key: self._new_file(key) for key in DTYPES}

    def _new_file(self, key):
        """Create a file with a unique name: other arrays may be mapped from the same folder."""
        handle, path = tempfile.mkstemp(prefix=f"{self.name}-", suffix=f".{key}", dir=self.folder)
        os.close(handle)
        return Path(path)

    def append(self, rows):
        """Add a block of rows, a canonical CSR array."""
        self.n_rows += rows.shape[0]
        self.n_columns = max(self.n_columns, rows.shape[1])
        self.counts.append(np.diff(rows.indptr))
        self.n_bytes += self.counts[-1].nbytes
        for key, dtype in DTYPES.items():
            values = getattr(rows, key).astype(dtype, copy=False)
            if self.folder is None:
                self.blocks[key].append(values)
                self.n_bytes += values.nbytes
            else:
                with self.files[key].open("ab") as file:
                    values.tofile(file)

    def build(self):
        """Return the array of all rows; call it once."""
        indptr = np.cumsum(np.concatenate(self.counts), dtype=np.int64)
        indices, data = (self._join(key, dtype, int(indptr[-1])) for key, dtype in DTYPES.items())
        built = make_csr(data, indices, indptr, self.n_columns)
        built.has_sorted_indices = built.has_canonical_format = True
        return built

    def _join(self, key, dtype, size):
        if self.folder is not None and size:
            return np.memmap(self.files[key], dtype, "r", shape=(size,))
        blocks = self.blocks.pop(key)
        return blocks[0] if len(blocks) == 1 else np.concatenate([np.empty(0, dtype), *blocks])
