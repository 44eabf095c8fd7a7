"""Rows as the classifiers see them: dampened, then scaled to length 1.

    x_j  ->  sign(x_j) |x_j|^power,    x  ->  x / |x|                                              (1)

In counts and TF-IDF weights without a logarithm a few words dominate the others; power 1/2 evens them out.
Power 1 leaves rows that are dampened already as they are.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compile.kernels import MANY, helper, kernel
from .csr import places_of
from .memory import Growing, maker
from .sparse import row_pieces

BLOCK_ROWS = 512
"""Rows per block of `map_blocks`. Their intermediate results fit into the second-level cache."""


@dataclass(frozen=True)
class WordRows:
    """Texts as words of label names: those of row i are words[indptr[i] : indptr[i + 1]], in order."""

    indptr: np.ndarray  # (n + 1,) int64
    words: np.ndarray  # int32, -1 for a word of no name

    def __getitem__(self, rows: Any) -> "WordRows":
        """The rows of a slice without a step, or of an array of row ids."""
        if isinstance(rows, slice):
            first, last, _ = rows.indices(len(self.indptr) - 1)
            indptr = self.indptr[first : max(first, last) + 1]
            return WordRows(indptr - indptr[0], self.words[indptr[0] : indptr[-1]])
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return WordRows(indptr, self.words[places_of(self.indptr[:-1][rows], lengths)])

    @classmethod
    def stacked(cls, parts: Iterable["WordRows"], on_disk: bool = False) -> "WordRows":
        """The rows of all parts, in their order."""
        lengths, words = Growing(np.int64), Growing(np.int32, on_disk)
        for part in parts:
            lengths.append(np.diff(part.indptr))
            words.append(part.words)
        return cls(np.concatenate([[0], np.cumsum(lengths.finish())]), words.finish())

    def row_counts(self, n_words: int) -> np.ndarray:
        """(n_words,) int64: rows in which each word occurs."""
        counts = np.zeros(n_words, np.int64)
        for piece in row_pieces(self.indptr):
            own = self[piece]
            row = np.repeat(np.arange(len(own.indptr) - 1), np.diff(own.indptr))[own.words >= 0]
            pairs = np.unique(row * np.int64(n_words) + own.words[own.words >= 0])
            counts += np.bincount(pairs % n_words, minlength=n_words)
        return counts


@dataclass(frozen=True)
class Rows:
    """The parts of a CSR array that prediction needs, without the cost of making one, and the words."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]
    words: WordRows | None = None

    @property
    def nnz(self) -> int:
        return len(self.data)

    def __getitem__(self, rows: Any) -> "Rows":
        """The rows of a slice without a step, which share their entries with these, or of an array of row
        ids."""
        words = None if self.words is None else self.words[rows]
        if not isinstance(rows, slice):
            return with_words(self.csr()[rows], words)
        first, last, _ = rows.indices(self.shape[0])
        indptr = self.indptr[first : max(first, last) + 1]
        own = slice(indptr[0], indptr[-1])
        shape = len(indptr) - 1, self.shape[1]
        return Rows(indptr - indptr[0], self.indices[own], self.data[own], shape, words)

    def csr(self) -> sp.csr_array:
        """Return the rows as a CSR array."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)


def with_words(X: Any, words: WordRows | None) -> Any:
    """The rows X with their words; X itself if there are none."""
    return X if words is None else Rows(X.indptr, X.indices, X.data, X.shape, words)


def words_of(X: Any) -> WordRows:
    """The words of rows; none if they are not known."""
    words = getattr(X, "words", None)
    return WordRows(np.zeros(X.shape[0] + 1, np.int64), np.empty(0, np.int32)) if words is None else words


def empty_rows(X: Any) -> np.ndarray:
    """(n,) bool: rows without any feature, and without any word of a name."""
    empty = X.indptr[1:] == X.indptr[:-1]
    if not empty.any():
        return empty
    words = words_of(X)
    known = np.concatenate([[0], np.cumsum(words.words >= 0)])[words.indptr]
    return empty & (np.diff(known) == 0)


def as_rows(X: Any) -> Rows:
    """The rows of a CSR array, which share its entries."""
    return X if isinstance(X, Rows) else Rows(X.indptr, X.indices, X.data, X.shape)


def as_csr(X: Any) -> sp.csr_array:
    """The rows as a CSR array, without their words."""
    return X.csr() if isinstance(X, Rows) else X


def scale_rows(X: sp.csr_array, power: float = 1.0, unit: bool = True) -> sp.csr_array:
    """Apply eq. (1) to the CSR array X, without `unit` only its first half; rows of zeros stay as they are.

    If the values of X are in a file, so are those of the result.
    """
    if power == 1.0 and not unit:
        return X
    data = maker(X.data)(X.data.shape, X.data.dtype)
    scale(X.indptr, X.data, np.float32(power), unit, data)
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _scale(indptr, data, power, unit, out):
    """`scale` by NumPy, for the usual powers."""
    out[:] = np.copysign(np.sqrt(np.abs(data)), data) if power == 0.5 else data
    if unit:
        row, values = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), out.astype(np.float64)
        norms = np.sqrt(np.bincount(row, values * values, len(indptr) - 1))  # added up in their order
        out[:] = values / np.where(norms > 0, norms, 1)[row]
    return None if power in (0.5, 1.0) else NotImplemented


@kernel(light=_scale, limit=MANY, error_model="numpy")
def scale(indptr, data, power, unit, out):
    """out = data after eq. (1), row by row."""
    for i in range(indptr.shape[0] - 1):
        _scale_values(data, np.int64(indptr[i]), np.int64(indptr[i + 1]), power, unit, out)


@kernel(light=True, error_model="numpy")
def scale_row(indices, data, n_columns, power, unit, out):
    """`scale` of one row; returns whether its columns are different ones below `n_columns`, ascending, and
    its values finite."""
    last, right = -1, True
    for e in range(indices.shape[0]):
        right &= indices[e] > last and np.isfinite(data[e])
        last = indices[e]
    _scale_values(data, np.int64(0), np.int64(data.shape[0]), power, unit, out)
    return right and last < n_columns


@helper(error_model="numpy")
def _scale_values(data, begin, end, power, unit, out):
    """Eq. (1) for the values of one row, data[begin:end]."""
    square = 0.0
    for e in range(begin, end):
        value = data[e]
        if power == np.float32(0.5):
            value = np.copysign(np.sqrt(abs(value)), value)
        elif power != np.float32(1.0):
            value = np.copysign(abs(value) ** power, value)
        out[e] = value
        square += np.float64(value) * np.float64(value)
    if unit and square > 0.0:
        norm = np.sqrt(square)
        for e in range(begin, end):
            out[e] = np.float32(out[e] / norm)


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for, as joblib counts it."""
    from joblib import effective_n_jobs  # not needed for one block, and slow to import

    return effective_n_jobs(n_jobs)


def map_blocks(function: Callable[[Any], Any], X: Any, n_jobs: int | None = None) -> list[Any]:
    """Apply `function` to blocks of the rows of X, in threads; returns a list in the order of the rows."""
    n, size, threads = X.shape[0], BLOCK_ROWS, 1
    if n > BLOCK_ROWS and n_jobs not in (None, 1):
        threads = count_threads(n_jobs)
        size = -(-n // (-(-n // (BLOCK_ROWS * threads)) * threads))  # as many for each, of the same size
    blocks = [X] if n <= BLOCK_ROWS else [X[first : first + size] for first in range(0, n, size)]
    threads, todo, found = min(threads, len(blocks)), iter(range(len(blocks))), [None] * len(blocks)

    def work():  # all threads take the next block from `todo`, until none is left
        try:
            for i in todo:
                found[i] = function(blocks[i])
        except BaseException:
            list(todo)  # the others stop after the blocks that they have begun
            raise

    if threads == 1:
        work()
        return found
    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
    for other in others:
        other.result()
    return found


def without(row_weight: np.ndarray | None, held: np.ndarray, n: int) -> np.ndarray:
    """Row weights (n,) with zeros for the rows `held`."""
    weights = np.ones(n, np.float32) if row_weight is None else np.array(row_weight, np.float32)
    weights[held] = 0
    return weights
