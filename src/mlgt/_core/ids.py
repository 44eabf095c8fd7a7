"""The ids of labels or features that a model knows, numbered 0, 1, ... inside it.

Files may number their labels with gaps, or count many that never occur. If more than half of the ids never
occur in training, a model leaves them out, so that they cost neither time nor memory. Inside such a model
labels and features have positions; its callers have ids, which are columns of their Y and X.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .memory import maker

MIN_IDS = 1000
"""Number of ids below which none is left out, as they cost next to nothing."""
PIECE = 1 << 20
"""Entries of a matrix that are renumbered at a time."""


@dataclass(frozen=True, eq=False)
class KnownIds:
    """Distinct `ids` below `total`; ids[i] has the position i."""

    ids: np.ndarray  # (known,) int64
    total: int

    @cached_property
    def _order(self):
        """The positions in the order of their ids; None if the ids ascend."""
        return None if (self.ids[1:] > self.ids[:-1]).all() else np.argsort(self.ids, kind="stable")

    @cached_property
    def _ascending(self):
        return self.ids if self._order is None else self.ids[self._order]

    def to_ids(self, positions: Any) -> np.ndarray:
        """The ids at these positions; -1 stays -1."""
        positions = np.asarray(positions)
        return np.where(positions < 0, -1, self.ids[np.maximum(positions, 0)])

    def to_positions(self, ids: Any) -> np.ndarray:
        """The positions of these ids; -1 for ids that are not known, and for -1."""
        ids = np.asarray(ids)
        place = np.minimum(np.searchsorted(self._ascending, ids), len(self.ids) - 1)
        found = self._ascending[place] == ids
        return np.where(found, place if self._order is None else self._order[place], -1)

    def select(self, matrix: sp.csr_array) -> sp.csr_array:
        """The known columns of a matrix (n, total), by position: (n, known).

        It shares the values of the matrix if none is dropped or moved. If the matrix is in a file, so is
        the result.
        """
        make = maker(matrix.indices)
        indices, dropped = make(matrix.indices.shape, np.int32), 0
        for piece in _pieces(len(indices)):
            indices[piece] = self.to_positions(matrix.indices[piece])
            dropped += int(np.count_nonzero(indices[piece] < 0))
        parts = matrix.data, indices, matrix.indptr
        if dropped:
            parts = _without_negative(*parts, len(indices) - dropped, make)
        elif self._order is not None or not matrix.has_sorted_indices:
            values = make(matrix.data.shape, matrix.data.dtype)
            values[:] = matrix.data
            parts = values, indices, matrix.indptr
        found = sp.csr_array(parts, shape=(matrix.shape[0], len(self.ids)))
        found.sort_indices()
        return found

    def spread(self, matrix: sp.csr_array) -> sp.csr_array:
        """The reverse of `select`: (n, known) -> (n, total)."""
        parts = matrix.data.copy(), self.ids[matrix.indices], matrix.indptr
        found = sp.csr_array(parts, shape=(matrix.shape[0], self.total))
        found.sort_indices()
        return found

    def spread_scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores (n, known) as (n, total), -inf for ids that are not known."""
        spread = np.full((len(scores), self.total), -np.inf, scores.dtype)
        spread[:, self.ids] = scores
        return spread

    def spread_counts(self, counts: np.ndarray) -> np.ndarray:
        """Counts (known,) as (total,), 0 for ids that are not known."""
        spread = np.zeros(self.total, counts.dtype)
        spread[self.ids] = counts
        return spread

    def with_more(self, ids: np.ndarray, total: int) -> "KnownIds":
        """The same positions, then those of other `ids`, which may be known already, below `total`."""
        new = ids[self.to_positions(ids) < 0]
        return KnownIds(np.concatenate([self.ids, new]), total)


def _pieces(count):
    return (slice(first, min(first + PIECE, count)) for first in range(0, count, PIECE))


def _without_negative(data, indices, indptr, count, make):
    """(data, indices, indptr) of the `count` entries with an index from 0 on."""
    values, columns = make((count,), data.dtype), make((count,), indices.dtype)
    end, pointers = 0, np.full_like(indptr, count)
    for piece in _pieces(len(indices)):
        kept = indices[piece] >= 0
        before = np.concatenate([[0], np.cumsum(kept)])
        rows = slice(*np.searchsorted(indptr, [piece.start, piece.stop]))
        pointers[rows] = end + before[indptr[rows] - piece.start]
        own = slice(end, end + before[-1])
        values[own], columns[own] = data[piece][kept], indices[piece][kept]
        end = own.stop
    return values, columns, pointers


def occurring_ids(matrix: sp.csr_array) -> np.ndarray:
    """The columns with an entry, ascending; the cost does not depend on the number of columns."""
    if matrix.shape[1] > matrix.nnz + MIN_IDS:
        return np.unique(matrix.indices).astype(np.int64)
    seen = np.zeros(matrix.shape[1], bool)
    seen[matrix.indices] = True
    return np.flatnonzero(seen)


def label_classes(names: Any, known: KnownIds | None, d: int) -> np.ndarray:
    """The names of all labels if there are names, else the ids of the d known ones."""
    if names is not None:
        return np.array(names, object)
    return np.arange(d) if known is None else known.ids


def find_known(matrix: sp.csr_array, listed: np.ndarray | None = None) -> KnownIds | None:
    """The columns that occur or are `listed`; None if that is half of them, and none is left out."""
    total = matrix.shape[1]
    if total < MIN_IDS:
        return None
    ids = occurring_ids(matrix)
    if listed is not None:
        ids = np.union1d(ids, listed).astype(np.int64)
    return KnownIds(ids if len(ids) else np.zeros(1, np.int64), total) if 2 * len(ids) < total else None


def find_more(known: KnownIds | None, before: int, matrix: sp.csr_array) -> KnownIds | None:
    """The ids that a model of `before` ids knows with the new rows `matrix` (n, before or more).

    New columns that never occur are left out if the model leaves out some already, or if more than half of
    all columns would be left out.
    """
    total = matrix.shape[1]
    if known is not None:
        return known.with_more(occurring_ids(matrix), total)
    if total < max(MIN_IDS, 2 * before):
        return None
    found = KnownIds(np.arange(before), before).with_more(occurring_ids(matrix), total)
    return found if 2 * len(found.ids) < total else None
