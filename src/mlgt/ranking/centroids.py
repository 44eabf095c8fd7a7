"""Candidates by similarity (ours): the labels whose training rows look most like a row.

    centroid_l = s_l / |s_l|,   s_l = sum of the rows of label l;      similarity = centroid_l x      (1)

Groups favour their frequent members, while a label with five rows is found by its words. Nothing is
trained: (1) is one sparse product.

An index holds the entries that matter to rows like those of training. An entry c of feature j adds

    |c| t_j,   t_j = the root mean square of feature j in the rows that have it                       (2)

to the similarity, and costs an addition for each row with j: the entries with the smallest (2) bring least
per addition, so they are dropped first. Rows of embeddings have all features, none of which can be spared:
these are dense, and have an entry for every label, in a matrix whose rows are added as vectors.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.arrays import (
    Arrays,
    Stored,
    array_names,
    check_ids,
    check_kind,
    check_runs,
    check_shapes,
    id_type,
)
from .._core.csr import CSRBuilder, places_of
from .._core.memory import is_mapped
from .._core.quantize import quantize_runs
from .._core.rows import as_csr, count_threads
from .._core.sparse import (
    PIECE_ENTRIES,
    among_empty,
    column_counts,
    row_pieces,
    squared_lengths,
    without_rows,
)
from ..tasks.ahead import exceeds_memory, read_ahead

WEIGHT = np.float32(7.0)
"""Weight of the similarity beside the group score."""
MAX_DROPPED = 0.03
"""Share of the squares of (2), over all additions, that may be dropped."""
MAX_ADDITIONS = 25_000
"""Additions per row above which frequent features are left out, and then more entries."""
FREQUENT, MIN_RARE_SHARE = 0.1, 0.5
"""Share of the rows above which a feature is frequent, and the share of the squared length of the rows that
the others must hold."""
DENSE, MAX_DENSE_ENTRIES = 0.5, 1 << 25
"""Share of the rows that have a dense feature, and of their entries and squared length that dense features
must hold, which stop words do not; and the entries of the largest matrix: a row takes 1.5 ms then."""
PRODUCT_ENTRIES, LARGE_PRODUCT_ENTRIES = 1 << 20, 1 << 23
"""Entries of the rows that are summed to centroids at a time: few, so that the sums stay in the caches, and
many where rows are read from a file for each part."""
SAMPLED_LABELS = 2000
"""Labels from whose centroids the work of all is estimated."""
_CHUNK = 1 << 15  # entries that are counted at a time: they fit into the cache
_SHIFT = 18  # bits of a float32 that a bin leaves out: 32 bins between a number and its double


def label_centroids(
    X: sp.csr_array, Y: sp.csr_array, row_weight: np.ndarray | None = None, n_jobs: int | None = None
) -> sp.csr_array:
    """Eq. (1): (d, p) CSR, rows of length 1, or empty for a label without rows. If X is in a file, so is
    the result, made by one thread."""
    rows = Y if row_weight is None else sp.diags_array(np.asarray(row_weight, np.float32)) @ Y
    by_label = sp.csr_array(rows.T, dtype=np.float32)
    added = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[by_label.indices], dtype=np.int64)])
    built, large = CSRBuilder(is_mapped(X.data), n_columns=X.shape[1]), exceeds_memory(X)

    def centroids(labels):
        sums = (_sums_of_copies if large else sp.csr_array.__matmul__)(by_label[labels], X)
        return unit_rows(sums.tocsc().tocsr())  # there and back, columns are sorted, in half the time

    entries = LARGE_PRODUCT_ENTRIES if large else max(PRODUCT_ENTRIES, X.shape[1])
    pieces = list(row_pieces(added[by_label.indptr], entries))
    threads = 1 if is_mapped(X.data) or len(pieces) == 1 else count_threads(n_jobs)
    with ThreadPoolExecutor(threads) as pool:
        for part in map(centroids, pieces) if threads == 1 else pool.map(centroids, pieces):
            built.append(part)
    return built.build()


def _sums_of_copies(A, X):
    """A @ X for X in a file: the same bits, since the rows are added in the same order."""
    used, same = np.unique(A.indices), sp.eye_array(A.shape[0], dtype=np.float32, format="csr")
    entries = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[used], dtype=np.int64)])
    edges = [piece.start for piece in row_pieces(entries)]
    sums = sp.csr_array((A.shape[0], X.shape[1]), dtype=np.float32)
    for rows, copy in read_ahead(X, np.split(used, edges[1:])):
        sums = sp.hstack([same, A[:, rows]], "csr") @ sp.vstack([sums, copy[rows]], "csr")
    return sums


def unit_rows(sums: sp.csr_array) -> sp.csr_array:
    """The rows of a new matrix with sorted columns, scaled to length 1 unless they are empty."""
    sums.sort_indices()
    lengths = np.sqrt(squared_lengths(sums))
    sums.data /= np.repeat(np.maximum(lengths, np.float32(1e-30)), np.diff(sums.indptr))
    return sums


@dataclass(frozen=True)
class CentroidIndex(Stored):
    """Centroids by feature: those with feature j are labels[indptr[j] : indptr[j + 1]], or all labels for
    dense features, which have no such list."""

    indptr: np.ndarray  # (p + 1,) int64
    labels: np.ndarray  # uint16, or int32 where there are more labels
    values: np.ndarray  # int8, in units of scale
    scale: np.ndarray  # (p,) float32
    dense: np.ndarray  # (q,) int32, dense features, ascending
    matrix: np.ndarray  # (q, d) int8, their entries for all labels, in units of scale

    ARRAYS = array_names("indptr", "labels", "values", "scale", "dense", "matrix")

    @classmethod
    def build(
        cls, centroids: sp.csr_array, X: sp.csr_array, max_dropped: float = MAX_DROPPED,
        others: sp.csr_array | None = None, dense: np.ndarray | None = None,
    ) -> "CentroidIndex":  # fmt: skip
        """An index of the centroids (d, p) for rows like X, entries rounded to a byte; `others` (d, p) has
        those of labels that are empty in the first array. `dense` features are found in X if None."""
        parts = [centroids] if others is None else [centroids, others]
        thinning, (d, p) = thin(parts, X, max_dropped, dense=dense), centroids.shape
        kept = sp.csr_array((d, p), dtype=np.float32)
        for part in parts:
            built = CSRBuilder(n_columns=p)
            for labels in row_pieces(part.indptr):
                built.append(_kept_entries(part[labels], thinning))
            kept = kept + built.build()
        lists = sp.csr_array(kept.T)  # labels ascend in each
        dense = np.flatnonzero(thinning.dense).astype(np.int32)
        matrix, lists = lists[dense].toarray(), without_rows(lists, dense) if len(dense) else lists
        indptr = lists.indptr.astype(np.int64)
        values, scale = quantize_runs(lists.data, indptr)
        matrix, scale[dense] = quantize_runs(matrix.ravel(), np.arange(0, matrix.size + 1, d))
        return cls(
            indptr, lists.indices.astype(id_type(d)), values, scale, dense, matrix.reshape(len(dense), d)
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays, p: int, d: int) -> "CentroidIndex":
        """Raise unless the arrays are the centroids of d labels over p features."""
        check_runs(arrays, "labels", p, d, np.int8)
        if not {"dense", "matrix"} & set(arrays):
            arrays = {**arrays, "dense": np.empty(0, np.int32), "matrix": np.empty((0, d), np.int8)}
        check_kind(arrays, "dense", np.int32)
        check_ids(arrays, "dense", p)
        check_kind(arrays, "matrix", np.int8, ndim=2)
        check_shapes(arrays, matrix=(len(arrays["dense"]), d))
        if (np.diff(arrays["dense"]) <= 0).any():
            raise ValueError("dense does not rise")
        return cls(*(arrays[name] for name in cls.ARRAYS))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, without those of dense features if there are none."""
        left_out = () if len(self.dense) else ("dense", "matrix")
        return {name: array for name, array in super().to_arrays().items() if name not in left_out}

    def with_features(self, more: int) -> "CentroidIndex":
        """The same centroids with `more` features, last, that none has."""
        indptr = np.concatenate([self.indptr, np.repeat(self.indptr[-1:], more)])
        return replace(self, indptr=indptr, scale=np.concatenate([self.scale, np.ones(more, np.float32)]))

    @cached_property
    def dense_places(self) -> np.ndarray:
        """(p,) int32: the row of `matrix` of each feature, -1 for others."""
        places = np.full(len(self.scale), -1, np.int32)
        places[self.dense] = np.arange(len(self.dense))
        return places

    @cached_property
    def nonnegative(self) -> bool:
        """True if nothing but lists without negative entries is added."""
        least = min(self.values.min(initial=0), self.scale.min(initial=0))
        return len(self.dense) == 0 and bool(least >= 0)

    def work(self, X: sp.csr_array) -> float:
        """Mean number of additions per row of X."""
        lengths = np.diff(self.indptr)
        lengths[self.dense] = self.matrix.shape[1]
        return float(lengths[X.indices].sum() / max(1, X.shape[0]))

    def centroids(self, d: int) -> sp.csr_array:
        """(d, p) CSR, the centroids of all d labels."""
        labels, matrix = self.labels.astype(np.int32, copy=False), sp.csr_array(self.matrix)
        lists = sp.csr_array((self.values, labels, self.indptr), shape=(len(self.scale), d))
        rows = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(len(self.dense), d))
        both = lists + among_empty(rows, self.dense, len(self.scale))
        return sp.csr_array((sp.diags_array(self.scale) @ both.astype(np.float32)).T)

    def similarity(self, X: sp.csr_array, ids: np.ndarray) -> np.ndarray:
        """(n, len(ids)) float32: eq. (1) of the rows of X, CSR, with the labels `ids`."""
        X = as_csr(X)
        features = np.unique(X.indices)
        lengths = self.indptr[features + 1] - self.indptr[features]
        own, indptr = places_of(self.indptr[features], lengths), np.concatenate([[0], np.cumsum(lengths)])
        labels = self.labels[own].astype(np.int32)
        shape = len(features), int(max(labels.max(initial=0), ids.max())) + 1
        found = sp.csr_array((self.values[own].astype(np.float32), labels, indptr), shape=shape)[:, ids]
        found = X[:, features] @ (sp.diags_array(self.scale[features]) @ found)
        if len(self.dense) == 0:
            return found.toarray()
        return found.toarray() + X[:, self.dense] @ (self.matrix[:, ids] * self.scale[self.dense, None])


class Thinning(NamedTuple):
    """An index keeps the entries with |entry| * typical[feature] >= threshold."""

    typical: np.ndarray  # (p,) float32: t of eq. (2), 0 for a feature that is left out
    threshold: float
    light: bool
    """True if MAX_ADDITIONS are not exceeded before MAX_DROPPED is reached."""
    dense: np.ndarray
    """(p,) bool: features of which every entry is kept."""


def _kept_entries(centroids, thinning):
    """The entries of centroids that an index holds, scaled to rows of length 1 again."""
    kept = np.abs(centroids.data) * thinning.typical[centroids.indices] >= thinning.threshold
    kept |= thinning.dense[centroids.indices]
    indptr = np.concatenate([[0], np.cumsum(kept)])[centroids.indptr]
    owner, values = np.repeat(np.arange(centroids.shape[0]), np.diff(indptr)), centroids.data[kept]
    lengths = np.sqrt(np.bincount(owner, values**2, minlength=centroids.shape[0]))
    values /= lengths[owner].astype(np.float32)
    return sp.csr_array((values, centroids.indices[kept], indptr), shape=centroids.shape)


def thin(
    parts: Sequence[sp.csr_array], X: sp.csr_array, max_dropped: float = MAX_DROPPED, share: float = 1.0,
    dense: np.ndarray | None = None,
) -> Thinning:  # fmt: skip
    """What an index of centroids keeps for rows like X. They are in one or several arrays (d, p), which
    have this share of them. `dense` features are found in X if None.

    A word in every tenth text says little about its labels, but is an entry of nearly every centroid. If
    the index is too heavy, such features are left out, unless they hold most of the rows' length.
    """
    n, used, squares = X.shape[0], column_counts(X).astype(np.float64), np.zeros(X.shape[1])
    for first in range(0, X.nnz, PIECE_ENTRIES):
        own = slice(first, min(first + PIECE_ENTRIES, X.nnz))
        squares += np.bincount(X.indices[own], X.data[own] ** 2, minlength=X.shape[1])
    mean = squares.sum() / max(1, X.nnz)  # for features that X does not have
    typical = np.sqrt(np.where(used > 0, squares / np.maximum(used, 1), mean)).astype(np.float32)
    limit, d = MAX_ADDITIONS * share * max(1, n), parts[0].shape[0] / share
    whole = np.zeros(len(used), bool)
    whole[_dense_features(used, squares, n, int(MAX_DENSE_ENTRIES / d)) if dense is None else dense] = True
    found = _thin_to(limit, max_dropped, parts, typical, used * ~whole, whole)
    rare = used <= FREQUENT * n
    if not found.light and squares[rare].sum() >= MIN_RARE_SHARE * squares.sum():
        few = np.where(rare, typical, np.float32(0))
        found = _thin_to(limit, max_dropped, parts, few, used * (rare & ~whole), whole)
    return found._replace(light=found.light and whole.sum() * d <= MAX_ADDITIONS)


def _dense_features(used, squares, n, most):
    """Up to `most` features, those with the largest squares, which most of n rows have; none if these hold
    little of the rows."""
    dense = np.flatnonzero(used > DENSE * n)
    if any(part[dense].sum() <= DENSE * part.sum() for part in (used, squares)):
        return dense[:0]
    return np.sort(dense[np.argsort(-squares[dense], kind="stable")[:most]])


def _thin_to(limit, max_dropped, parts, typical, used, dense):
    """The thinning for at most `limit` additions for all rows, whose features have `used` entries each but
    for the `dense` ones."""
    n_bins = 1 << 31 - _SHIFT
    work, squares = np.zeros(n_bins), np.zeros(n_bins)  # additions, and squares of (2), by bins of (2)
    for part, first in ((some, i) for some in parts for i in range(0, some.nnz, _CHUNK)):
        own = slice(first, first + _CHUNK)
        feature = part.indices[own]
        value, times = np.abs(part.data[own]) * typical[feature], used[feature]
        bins = value.view(np.int32) >> _SHIFT
        work += np.bincount(bins, times, n_bins)
        squares += np.bincount(bins, times * value**2, n_bins)
    dropped, above = np.cumsum(squares), np.cumsum(work[::-1])[::-1]
    small = int(np.searchsorted(dropped, max_dropped * dropped[-1], "right")) if dropped[-1] > 0 else 0
    heavy = int(np.count_nonzero(above > limit))
    threshold = float(np.array(max(1, small, heavy) << _SHIFT, np.int32).view(np.float32))
    return Thinning(typical, threshold, heavy <= max(1, small), dense)


def are_light(X: sp.csr_array, Y: sp.csr_array) -> bool:
    """True if an index of the centroids of Y (n, d) is light. Its work is the sum over its labels, so that
    some of them suffice to estimate it."""
    chosen = np.arange(0, Y.shape[1], max(1, Y.shape[1] // SAMPLED_LABELS))
    centroids = label_centroids(X, sp.csr_array(Y[:, chosen]))
    return thin([centroids], X, share=len(chosen) / Y.shape[1]).light
