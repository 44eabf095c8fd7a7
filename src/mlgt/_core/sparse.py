"""One form for every sparse matrix that comes in: CSR, sorted, each entry stored once, no zeros.

Counting stored entries then counts the non-zeros; a matrix with duplicates or stored zeros, which SciPy
allows, would be miscounted.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .csr import CSRBuilder
from .memory import is_mapped

PIECE_ENTRIES = 1 << 20
"""Entries of a large matrix that are worked on at a time."""
_MAX_INT32 = np.iinfo(np.int32).max
_INDEX_KINDS = (np.int32, np.int64)


def canonical(matrix: Any, dtype: Any = None) -> sp.csr_array:
    """Return `matrix` (sparse or dense, 2-d) as a canonical CSR array, with 32-bit indices if they fit.

    A matrix in this form is not copied; the caller's matrix is never changed. Broken ones raise ValueError.
    """
    check_stored(matrix)
    found = sp.csr_array(matrix, dtype=dtype)
    if not found.has_canonical_format or not found.data.all():
        found = found.copy()
        found.sum_duplicates()
        found.eliminate_zeros()
    if found.indices.dtype != np.int32 and max(found.nnz, *found.shape) <= _MAX_INT32:
        indices, indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)
        found = sp.csr_array((found.data, indices, indptr), shape=found.shape)
    return found


def check_stored(matrix: Any) -> None:
    """Raise ValueError if a sparse matrix has indices outside its shape, or broken pointers or lists:
    compiled code, also SciPy's own, would read out of bounds. Entries behind the last pointer, which SciPy
    allows, and other objects pass."""
    if not sp.issparse(matrix):
        return
    if len(matrix.shape) != 2:
        raise ValueError(
            f"a sparse array ({matrix.format}) has shape {matrix.shape}; expected two dimensions, a row "
            "per example. Pass one example as a single row."
        )
    if not _FORMATS[matrix.format](matrix):
        raise ValueError(
            f"a sparse matrix ({matrix.format}, shape {matrix.shape}) is broken: its indices lie outside "
            "the shape, or its arrays do not fit together. Make it again from its entries."
        )


def _is_compressed(matrix, block=(1, 1)):
    """True if the pointers and indices of a CSR, CSC or BSR matrix are right."""
    (major, step), (minor, width) = zip(matrix.shape, block)
    if matrix.format == "csc":
        major, minor = minor, major
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if indptr.dtype != indices.dtype or indptr.dtype not in _INDEX_KINDS:
        if {indptr.dtype.kind, indices.dtype.kind} - {"i", "u"}:
            return False
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    flat = indptr.ndim == indices.ndim == 1 and data.shape == (len(indices), *block[: data.ndim - 1])
    return flat and len(indptr) == major // step + 1 and is_sound(indptr, indices, minor // width)


def _is_blocked(matrix):
    block = matrix.data.shape[1:]
    whole = len(block) == 2 and all(block) and not any(np.remainder(matrix.shape, block))
    return whole and _is_compressed(matrix, block)


def _are_inside(rows, columns, data, shape):
    """True if the lists of coordinates are whole numbers inside the shape, one pair per value."""
    for ids, size in zip((rows, columns), shape):
        ids = np.asarray(ids)
        if ids.shape != np.shape(data) or ids.ndim != 1 or (len(ids) and ids.dtype.kind not in "iu"):
            return False
        if len(ids) and not 0 <= ids.min() <= ids.max() < size:
            return False
    return True


def _are_lists(matrix):
    """True if the rows of a LIL matrix are lists of columns and values of the same length."""
    n = matrix.shape[0]
    if matrix.rows.shape != (n,) or matrix.data.shape != (n,):
        return False
    if any(type(own) is not list for lists in (matrix.rows, matrix.data) for own in lists):
        return False
    rows = [i for i, own in enumerate(matrix.rows) for _ in own]
    same = all(len(own) == len(values) for own, values in zip(matrix.rows, matrix.data))
    return same and _are_inside(rows, [j for own in matrix.rows for j in own], rows, matrix.shape)


def _are_keys(matrix):
    keys = list(matrix.keys())
    if not all(type(key) is tuple and len(key) == 2 for key in keys):
        return False
    rows, columns = zip(*keys) if keys else ((), ())
    return _are_inside(rows, columns, rows, matrix.shape)


def _are_diagonals(matrix):
    return matrix.data.ndim == 2 and matrix.offsets.shape == matrix.data.shape[:1]


_FORMATS: dict[str, Callable[[Any], bool]] = {
    "csr": _is_compressed,
    "csc": _is_compressed,
    "bsr": _is_blocked,
    "coo": lambda matrix: _are_inside(matrix.coords[0], matrix.coords[1], matrix.data, matrix.shape),
    "lil": _are_lists,
    "dok": _are_keys,
    "dia": _are_diagonals,
}


def is_sound(indptr: np.ndarray, indices: np.ndarray, n: int) -> bool:
    """True if indptr rises from 0 to at most the number of indices; those it uses are from 0 to n - 1."""
    if indptr[0] != 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
        return False
    used = indices[: indptr[-1]]
    if used.dtype.kind == "i":  # then negative ones are larger than any other
        used = used.view(f"u{used.itemsize}")
    return bool(used.max(initial=0) < max(n, 1)) and (n > 0 or len(used) == 0)


def count_occurring(Y: sp.csr_array) -> int:
    """Return the number of labels, columns of Y (n, d), that occur."""
    return len(np.unique(Y.indices))


def label_counts(Y: sp.csr_array) -> np.ndarray:
    """Return the number of rows per label, (d,) int64."""
    return column_counts(canonical(Y))


def column_counts(X: sp.csr_array) -> np.ndarray:
    """Return the number of stored entries per column of X, CSR: (p,) int64."""
    counts = np.zeros(X.shape[1], np.int64)
    for first in range(0, X.nnz, PIECE_ENTRIES):  # each piece is copied to 64-bit integers
        counts += np.bincount(X.indices[first : min(first + PIECE_ENTRIES, X.nnz)], minlength=X.shape[1])
    return counts


def row_pieces(indptr: np.ndarray, entries: int | None = None) -> Iterator[slice]:
    """Yield slices of the rows with these pointers, each of at most so many entries, or of one row; None
    stands for PIECE_ENTRIES."""
    entries = entries or PIECE_ENTRIES
    first, n = 0, len(indptr) - 1
    while first < n:
        last = int(np.searchsorted(indptr, int(indptr[first]) + entries, "right")) - 1
        yield slice(first, last := min(n, max(first + 1, last)))
        first = last


def squared_lengths(X: sp.csr_array) -> np.ndarray:
    """Return the sum of squares of each row of X, CSR, in its own type; SciPy's product of X with itself
    takes seven times as long."""
    sums = np.zeros(X.shape[0], X.data.dtype)
    for rows in row_pieces(X.indptr):
        indptr = X.indptr[rows.start : rows.stop + 1]
        squares, indptr = X.data[indptr[0] : indptr[-1]] ** 2, indptr - indptr[0]
        if not (kept := squares != 0).all():
            squares, indptr = squares[kept], np.concatenate([[0], np.cumsum(kept)])[indptr]
        filled = np.flatnonzero(np.diff(indptr))
        sums[rows.start + filled] = np.add.reduceat(squares, indptr[filled]) if len(filled) else 0
    return sums


def with_rows(X: sp.csr_array, ids: np.ndarray, rows: sp.csr_array) -> sp.csr_array:
    """Return X (n, p), CSR, with `rows` in place of those with these ids, ascending. If X is in a file, so
    is the result."""
    built = CSRBuilder(is_mapped(X.data), X.data.dtype, X.shape[1])
    for piece in row_pieces(X.indptr):
        new = slice(*np.searchsorted(ids, (piece.start, piece.stop)))
        order = np.arange(piece.stop - piece.start)
        order[ids[new] - piece.start] = len(order) + np.arange(new.stop - new.start)
        built.append(sp.csr_array(sp.vstack([X[piece], rows[new]], format="csr")[order]))
    return built.build()


def without_rows(X: sp.csr_array, ids: np.ndarray) -> sp.csr_array:
    """Return X, CSR, with nothing in the rows with these ids, ascending; in a file if X is."""
    return with_rows(X, ids, sp.csr_array((len(ids), X.shape[1]), dtype=X.data.dtype))


def among_empty(rows: sp.csr_array, ids: np.ndarray, n: int) -> sp.csr_array:
    """Return n rows, empty but for `rows`, CSR, which have these ids, ascending; it shares their arrays."""
    lengths = np.zeros(n + 1, np.int64)
    lengths[ids + 1] = np.diff(rows.indptr)
    return sp.csr_array((rows.data, rows.indices, np.cumsum(lengths)), shape=(n, rows.shape[1]))


def by_label(labels: np.ndarray, values: np.ndarray, d: int) -> sp.csr_matrix:
    """(n, d) CSR matrix with values[i, j] in column labels[i, j], columns in order; nothing for -1."""
    kept = labels >= 0
    rows = np.nonzero(kept)[0]
    found = sp.csr_matrix((values[kept], (rows, labels[kept])), shape=(len(labels), d))
    found.sort_indices()
    return found
