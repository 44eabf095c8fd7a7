"""Rows of a matrix in a file that is larger than the memory: copied in large runs, asked for before.

A mapped page that is missing when it is touched stops its thread, and the system reads up to megabytes
around it: tasks that visit rows in any order would read all of the file again for each row. Rows are
therefore read as from any file, those that follow being asked for meanwhile, and visited in the copy.
"""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.memory import MappedFile, available_memory, give_back, mapping
from .._core.sparse import row_pieces

LARGE_ENTRIES = 1 << 27
"""Entries of X from which on it may be larger than the memory: rows are then visited in another order."""
STEP_BYTES = 1 << 17
"""What the system reads ahead for one call."""
GAP_ENTRIES = 1 << 10
"""Entries between two rows that are read with them: a page is read in any case."""
COPY_ENTRIES = 1 << 18
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
    for own, some in read_ahead(X, np.split(used, edges[1:])):
        some = some[own]
        span = slice(filled, filled := filled + some.nnz)
        indices[span], data[span] = some.indices, some.data
    return sp.csr_array((data, indices, indptr), shape=(len(used), X.shape[1])), used, places


def read_ahead(X: sp.csr_array, pieces: list[np.ndarray]) -> Iterator[tuple[np.ndarray, sp.csr_array]]:
    """Yield (rows, X) for arrays of rows. If X is larger than the memory, it is a copy with these rows and
    others that are not defined; the next are read while one is in use."""
    if not exceeds_memory(X):
        yield from ((piece, X) for piece in pieces)
        return
    give_back()
    runs = _runs(X, pieces[0])
    _ask_for(X, *runs)
    for piece, following in zip(pieces, [*pieces[1:], pieces[0][:0]]):
        own, runs = runs, _runs(X, following)
        _ask_for(X, *runs)
        yield piece, _copy(X, *own)


def _runs(X, rows):
    """(begin, end): runs of rows with all of `rows`, and those between them if they are short."""
    if not len(rows):
        return rows, rows
    rows = np.sort(rows)
    far = np.flatnonzero(X.indptr[rows[1:]] - X.indptr[rows[:-1] + 1] > GAP_ENTRIES)
    return rows[np.append(0, far + 1)], rows[np.append(far, -1)] + 1


def _ask_for(X, begin, end):
    """Let the system read runs of rows, and return at once."""
    for array in (X.indices, X.data):
        file, origin = _place(array)
        places = [origin + X.indptr[rows].astype(np.int64) * array.itemsize for rows in (begin, end)]
        for first, last in np.stack(places, axis=1).tolist() if file is not None else ():
            for place in range(first, last, STEP_BYTES):
                os.posix_fadvise(file, place, min(STEP_BYTES, last - place), os.POSIX_FADV_WILLNEED)


def _copy(X, begin, end):
    """X with these runs of rows in memory; other rows are not defined."""
    places = np.concatenate([[0], np.cumsum(X.indptr[end] - X.indptr[begin])])
    indptr = np.zeros(X.shape[0] + 1, X.indptr.dtype)  # memory that is not written to is not used
    indptr[-1] = places[-1]
    runs = list(zip(begin.tolist(), end.tolist(), places.tolist()))
    for first, last, place in runs:
        indptr[first : last + 1] = X.indptr[first : last + 1] + (place - X.indptr[first])
    edges = [(place, int(X.indptr[first]), int(X.indptr[last])) for first, last, place in runs]
    return sp.csr_array((_entries(X.data, edges), _entries(X.indices, edges), indptr), shape=X.shape)


def _entries(array, edges):
    """A new array; for each of `edges`, (place, first, last), it has entries first .. last - 1 there."""
    copy = np.empty(sum(last - first for _, first, last in edges), array.dtype)
    (file, origin), size, view = _place(array), array.itemsize, copy.view(np.uint8).data
    for place, first, last in edges:
        own = view[place * size : (place + last - first) * size]
        if file is None or os.preadv(file, [own], origin + first * size) != len(own):
            copy[place : place + last - first] = array[first:last]
    return copy


def _place(array):
    """(number of the file, place in it) of an array in a file; None where only its mapping can be read."""
    mapped = mapping(array)
    if not (isinstance(mapped, MappedFile) and hasattr(os, "preadv") and hasattr(os, "posix_fadvise")):
        return None, 0
    start, origin = (one.__array_interface__["data"][0] for one in (array, np.frombuffer(mapped, np.uint8)))
    return mapped.number, start - origin
