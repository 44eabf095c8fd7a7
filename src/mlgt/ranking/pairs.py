"""The rows that each ranker learns from: eq. (1) of `ranker`."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.memory import Growing, empty_on_disk, is_mapped
from .._core.sparse import canonical, row_pieces
from ..tasks.ahead import LARGE_ENTRIES, MAX_GATHERED

PIECE_CANDIDATES = 8_000_000
"""Candidates of the rows that are sorted by label at a time."""
MAX_LABEL_ENTRIES = 7 * MAX_GATHERED // 8
"""Entries of the rows of a label that are enough, if there is much data."""

NEGATIVES, NEGATIVES_PER_ROW, MIN_NEGATIVE_ROWS = 64, 12, 0.125
"""Wrong candidates that suffice for a ranker if centroids find them, in the mean, and per row of its label;
and the smallest share of the rows whose candidates are used. Fewer cost precision on WordNet-hypernyms,
with five per row of a label, and on EURLex-4K, where rows are long and groups find the candidates."""


class Pairs(NamedTuple):
    """Training rows of each label: those of label l are rows[indptr[l] : indptr[l + 1]]."""

    indptr: np.ndarray  # (d + 1,) int64
    rows: np.ndarray  # int32
    positive: np.ndarray  # bool


def training_pairs(candidates: np.ndarray, Y: sp.csr_array) -> Pairs:
    """Positives from Y (n, d), negatives from the candidates (n, K) that are none; in files if
    the candidates are."""
    Y = canonical(Y)
    if not is_mapped(candidates):
        pairs = _pairs_by_label(candidates, Y)
        rows = pairs.indices.astype(np.int32, copy=False)
        return Pairs(pairs.indptr.astype(np.int64), rows, pairs.data >= 2)
    step = max(1, PIECE_CANDIDATES // max(1, candidates.shape[1]))
    pieces = [slice(first, first + step) for first in range(0, len(candidates), step)]
    counts = sum(
        np.diff(_pairs_by_label(candidates[own], Y[own]).indptr.astype(np.int64)) for own in pieces
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    rows, positive = (empty_on_disk((indptr[-1],), dtype) for dtype in (np.int32, bool))
    filled = indptr[:-1].copy()
    for own in pieces:
        pairs = _pairs_by_label(candidates[own], Y[own])
        found = np.diff(pairs.indptr)
        places = np.repeat(filled - pairs.indptr[:-1], found) + np.arange(len(pairs.indices))
        rows[places], positive[places] = own.start + pairs.indices, pairs.data >= 2
        filled += found
    return Pairs(indptr, rows, positive)


def negative_rows(Y: sp.csr_array, count: int, seed: int) -> np.ndarray | None:
    """Rows with enough wrong candidates for all labels, with `count` candidates per row that centroids
    found, ascending; None for all rows."""
    (n, d), wrong = Y.shape, max(1, count * Y.shape[0] - Y.nnz)
    share = max(MIN_NEGATIVE_ROWS, NEGATIVES * d / wrong, NEGATIVES_PER_ROW * Y.nnz / wrong)
    return None if share >= 1 else np.sort(np.random.default_rng(seed).permutation(n)[: int(share * n)])


def limit_pairs(pairs: Pairs, X: sp.csr_array, seed: int) -> Pairs:
    """Some of the pairs, chosen at random, of labels whose rows have more than MAX_LABEL_ENTRIES, if X has
    LARGE_ENTRIES: a copy of the rows of a label then has at most this size. To leave out wrong candidates
    first, or to raise C instead, ranks worse."""
    if X.nnz < LARGE_ENTRIES:
        return pairs
    lengths, rng = np.diff(X.indptr), np.random.default_rng(seed)
    parts = [Growing(array.dtype, is_mapped(pairs.rows)) for array in pairs[1:]]
    counts = np.diff(pairs.indptr)
    for labels in row_pieces(pairs.indptr):
        own = slice(pairs.indptr[labels.start], pairs.indptr[labels.stop])
        label = np.repeat(np.arange(labels.stop - labels.start), counts[labels])
        entries = np.bincount(label, lengths[pairs.rows[own]], minlength=labels.stop - labels.start)
        kept = rng.random(len(label)) < (MAX_LABEL_ENTRIES / np.maximum(entries, MAX_LABEL_ENTRIES))[label]
        counts[labels] = np.bincount(label[kept], minlength=len(entries))
        for part, array in zip(parts, pairs[1:]):
            part.append(array[own][kept])
    return Pairs(np.concatenate([[0], np.cumsum(counts)]), *(part.finish() for part in parts))


def _pairs_by_label(candidates, Y):
    """(n, d) CSC: 1 where a label is a candidate, 2 more where it is right."""
    found = candidates >= 0
    indptr = np.concatenate([[0], np.cumsum(found.sum(1))])
    matched = sp.csr_array((np.ones(indptr[-1], np.int8), candidates[found], indptr), shape=Y.shape)
    right = sp.csr_array((np.full(Y.nnz, 2, np.int8), Y.indices, Y.indptr), shape=Y.shape)
    return sp.csc_array(matched + right)
