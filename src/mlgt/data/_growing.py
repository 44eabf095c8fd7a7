"""A CSR array that grows by rows, in memory or in files."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

NAMES = {"indices": np.int32, "data": np.float32}


class Growing:
    """Rows are added in parts; `whole` is all of them, as wide as the widest part.

    With a folder, indices and values go to files there, named after `name`, and are mapped in the end.
    """

    def __init__(self, folder, name):
        self.folder, self.name = None if folder is None else Path(folder), name
        self.parts: dict[str, list] = {key: [] for key in NAMES}
        self.counts = [np.zeros(1, np.int64)]
        self.n_rows = self.width = 0
        if self.folder is not None:
            if not self.folder.is_dir():
                raise FileNotFoundError(
                    errno.ENOENT, "the folder to keep the arrays in does not exist; create it", str(folder)
                )
            self.files = {key: self._new_file(key) for key in NAMES}

    def _new_file(self, key):
        """One that no other data in the folder is mapped from."""
        handle, path = tempfile.mkstemp(prefix=f"{self.name}-", suffix=f".{key}", dir=self.folder)
        os.close(handle)
        return Path(path)

    def add(self, part):
        self.n_rows += part.shape[0]
        self.width = max(self.width, part.shape[1])
        self.counts.append(np.diff(part.indptr).astype(np.int64))
        for key, kind in NAMES.items():
            values = getattr(part, key).astype(kind, copy=False)
            if self.folder is None:
                self.parts[key].append(values)
            else:
                with self.files[key].open("ab") as file:
                    values.tofile(file)

    def whole(self):
        indptr = np.cumsum(np.concatenate(self.counts))
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        arrays = [self._join(key, kind, int(indptr[-1])) for key, kind in NAMES.items()]
        found = sp.csr_array((arrays[1], arrays[0], indptr), shape=(self.n_rows, self.width))
        found.has_sorted_indices = found.has_canonical_format = True
        return found

    def _join(self, key, kind, size):
        if self.folder is not None and size:
            return np.memmap(self.files[key], kind, "r", shape=(size,))
        parts = self.parts.pop(key)
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, kind), *parts])
