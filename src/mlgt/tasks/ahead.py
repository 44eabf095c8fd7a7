"""Rows of a matrix in a file that is larger than the memory: read before they are used, in large runs.

A page that is missing when it is touched stops its thread, and the system reads up to megabytes around it.
Tasks that visit rows in any order would read all of the file again for each row.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.memory import available_memory, mapping
from .._core.sparse import row_pieces

STEP_BYTES, GAP_BYTES = 1 << 17, 1 << 14
"""What the system reads for a call in any case, and the gap between two rows that is read with them."""
COPY_ENTRIES = 1 << 19
"""Entries that are asked for at a time, while those before them are copied."""
MAX_GATHERED = 1 << 23
"""Most entries that are copied to memory: 64 MB."""
MAX_MEMORY_SHARE = 0.5


def exceeds_memory(X: sp.csr_array) -> bool:
    """True if X is in a file that would take more than half of the free memory."""
    if mapping(X.data) is None:
        return False
    free = available_memory()
    return free is not None and X.data.nbytes + X.indices.nbytes > MAX_MEMORY_SHARE * free


def ask_for(array: np.ndarray, first: int, last: int) -> None:
    """Let the system read the entries first .. last - 1 of an array (n,) in a file, and return at once."""
    file = mapping(array)
    if file is None or not hasattr(mmap, "MADV_WILLNEED"):
        return
    size, (start, origin) = array.itemsize, map(_address, (array, np.frombuffer(file, np.uint8)))
    begin, end = (start - origin + place * size for place in (first, last))
    for place in range(begin - begin % mmap.PAGESIZE, end, STEP_BYTES):
        file.madvise(mmap.MADV_WILLNEED, place, min(STEP_BYTES, end - place))


def ask_for_rows(X: sp.csr_array, rows: np.ndarray) -> None:
    """The same for rows of X, ascending."""
    if not len(rows):
        return
    first, last = X.indptr[rows], X.indptr[rows + 1]
    far = np.flatnonzero((first[1:] - last[:-1]) * 4 > GAP_BYTES)
    for run in zip(first[np.append(0, far + 1)].tolist(), last[np.append(far, -1)].tolist()):
        for array in (X.indices, X.data):
            ask_for(array, *run)


def gather(X: sp.csr_array, rows: np.ndarray) -> tuple[sp.csr_array, Any, np.ndarray]:
    """(X[used] in memory, used, places) with rows = used[places]; X itself and all of its rows if those of
    `rows` have more than MAX_GATHERED entries."""
    used, places = np.unique(rows, return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[used])]).astype(X.indptr.dtype)
    if indptr[-1] > MAX_GATHERED:
        return X, slice(None), rows
    indices, data = (np.empty(indptr[-1], array.dtype) for array in (X.indices, X.data))
    edges = [piece.start for piece in row_pieces(indptr, COPY_ENTRIES)]
    filled = 0
    for own in read_ahead(X, np.split(used, edges[1:])):
        some = X[own]
        span = slice(filled, filled := filled + some.nnz)
        indices[span], data[span] = some.indices, some.data
    return sp.csr_array((data, indices, indptr), shape=(len(used), X.shape[1])), used, places


@contextmanager
def any_order(X: sp.csr_array) -> Iterator[None]:
    """Let the system read single pages of X in a file, and none around them, in this context."""
    files = [file for array in (X.indices, X.data) if (file := mapping(array)) is not None]

    def advise(name):
        for file in files if hasattr(mmap, name) else ():
            file.madvise(getattr(mmap, name))

    advise("MADV_RANDOM")
    try:
        yield
    finally:
        advise("MADV_NORMAL")


def read_ahead(X: sp.csr_array, pieces: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield arrays of rows. If X is larger than the memory, the next are read while one is in use."""
    if not exceeds_memory(X):
        yield from pieces
        return
    ask_for_rows(X, np.sort(pieces[0]))
    with any_order(X):
        for piece, following in zip(pieces, [*pieces[1:], pieces[0][:0]]):
            ask_for_rows(X, np.sort(following))
            yield piece


def _address(array):
    return array.__array_interface__["data"][0]
