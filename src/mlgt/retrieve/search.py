"""The k best labels of each row, exactly, in two ways that give the same bits.

With v the group values of a row, label l scores s_l = scale_l sum_{i in l} v_i + offset_l (`Decoder`).

*Product*, for many rows: all labels are scored, 64 rows side by side, and only the k best of each are
kept. d c additions a row, but vector additions; no n x d array exists.

*Count filter*, for a few rows, where every label is in c groups: values above `low`, those of a quarter
of the groups or so, are rounded up to one of three levels between `low` and the largest value `high`,
all others to `low`:

    v_i <= low + t_i step,   t_i in {0, 1, 2, 3},   step = (high - low) / 3,                    (2)

    sum_{i in l} v_i <= c low + step T_l,            T_l = sum_{i in l} t_i.                    (3)

The totals T of all labels are counted first, 64 labels per machine word, by bit-sliced counters over the
groups with t > 0. Labels are then scored in order of falling T until (3) cannot reach the k-th best score
any more: after 3 % of them on EURLex-4K and 7 % on YSO-Finna-en. Nothing is approximate; in the worst case
all labels are scored.

A best-first walk over the groups' members (the threshold algorithm) was measured too: it must look at 53
to 78 % of all labels on EURLex-4K and YSO-Finna-en, since with c = 16 groups a label hardly any label has
none among the forty best groups.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from . import _kernels
from ._kernels import ROWS, filter_top_k, product_top_k, row_top_k

FEW = 8
"""Up to this many rows the count filter is faster than the product."""

BLOCK = 512
"""Rows predicted at a time: their margins and values stay in the second cache."""

_NO_ORDER = np.empty(0, np.int64)


class Rows(NamedTuple):
    """What this stage needs of a CSR array, without the cost of making one: for single rows."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]


def group_margins(X, coef, intercept):
    """X coef + intercept, (n, m) float32, row by row: a row's bits do not depend on its neighbours."""
    out = np.empty((X.shape[0], coef.shape[1]), np.float32)
    _kernels.margins(X.indptr, X.indices, X.data, coef, intercept, out)
    return out


def unit_rows(X):
    """A CSR array with the rows of X scaled to length 1; rows of zeros stay as they are."""
    data = np.empty_like(X.data)
    _kernels.unit_rows(X.indptr, X.data, data)
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def map_blocks(function, X, n_jobs=None):
    """Apply `function` to blocks of the rows of X, in threads; a list in the order of the rows."""
    blocks = [X[first : first + BLOCK] for first in range(0, X.shape[0], BLOCK)] or [X]
    threads = 1 if n_jobs in (None, 1) or len(blocks) == 1 else min(effective_n_jobs(n_jobs), len(blocks))
    if threads == 1:
        return [function(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, blocks))


def search(values, index, decoder, k, *, method=None):
    """(labels, scores) (n, k) of group values (n, m); padded by -1 and -inf.

    `method` is "product", "row" (the product row by row) or "count_filter"; None takes the fastest that
    applies.
    """
    n = len(values)
    labels = np.full((n, k), -1, np.int64)
    best = np.full((n, k), -np.inf, np.float32)
    if method is None:
        few = "count_filter" if countable(index, decoder) else "row"
        method = few if n <= FEW else "product"
    if method == "count_filter":
        for i in range(n):
            count_filter(values[i], index, decoder, labels[i], best[i])
        return labels, best
    order = _NO_ORDER if decoder.order is None else decoder.order
    floor = np.float32(decoder.floor)
    if method == "row":
        for i in range(n):
            row_top_k(
                values[i], index.indptr, index.groups, decoder.scale, decoder.offset, floor, order,
                labels[i], best[i],
            )  # fmt: skip
        return labels, best
    block = np.zeros((values.shape[1], ROWS), np.float32)
    for first in range(0, n, ROWS):
        rows = slice(first, min(first + ROWS, n))
        block[:, : rows.stop - first] = values[rows].T
        product_top_k(
            block, index.indptr, index.groups, decoder.scale, decoder.offset, floor, order,
            labels[rows], best[rows],
        )  # fmt: skip
    return labels, best


def countable(index, decoder):
    """Does eq. (3) apply: one column weight, one scale, one offset, ties to the lowest id?"""
    return (
        index.weight is not None
        and 0 < index.weight < 256
        and index.n_groups > 1
        and decoder.order is None
        and (decoder.scale == decoder.scale[0]).all()
        and (decoder.offset == decoder.offset[0]).all()
    )


def n_counted(m, c):
    """How many values lie above `low`: a quarter, or 5 c, as measured on EURLex-4K and YSO-Finna-en."""
    return min(m - 1, max(m // 4, 5 * c))


def count_filter(v, index, decoder, labels, best):
    """Fill `labels` and `best` (k,) for one row; returns (word operations, labels scored)."""
    size = n_counted(index.n_groups, index.weight)
    low, high = np.partition(v, -size - 1)[-size - 1], v.max()
    if not low < high:  # hard tests, many of them positive: count all that are
        low = v.min() if v.min() < high else high - np.float32(1)
    return filter_top_k(
        v, index.bits, low, high, index.weight, index.groups, decoder.scale[0], decoder.offset[0],
        np.float32(decoder.floor), labels, best,
    )  # fmt: skip
