"""The k best labels per row, exactly, in two ways that give the same bits.

With v the group values of a row, label l scores s_l = scale_l sum_{i in l} v_i + offset_l (`Decoder`).

*Product*, for many rows: all labels are scored, 64 rows side by side, and only the k best of each are kept.
It takes d c additions per row, but by vector instructions, and memory for 64 rows of scores.

*Count filter*, for a few rows, if every label is in c groups: values above `low`, those of about a quarter
of the groups, are rounded up to one of three levels between `low` and the largest value `high`, all others
to `low`:

    v_i <= low + t_i step,   t_i in {0, 1, 2, 3},   step = (high - low) / 3,                    (2)

    sum_{i in l} v_i <= c low + step T_l,            T_l = sum_{i in l} t_i.                    (3)

The totals T of all labels are counted first, 64 labels per machine word, by bit-sliced counters over the
groups with t > 0. Labels are then scored in order of falling T until (3) cannot reach the k-th best score
any more: after 3 % of them on EURLex-4K and 7 % on YSO-Finna-en. The result is exact; in the worst case all
labels are scored.

A best-first walk over the groups' members (the threshold algorithm) was measured too. It visits 53 to 78 %
of all labels on EURLex-4K and YSO-Finna-en: with c = 16 groups per label, hardly any label has none among
the forty best groups.
"""

from typing import TYPE_CHECKING

import numpy as np

from .._core.sorting import space
from ._search_kernels import (
    BLOCK_ROWS,
    even_row_scores,
    filter_top_k,
    row_scores,
    search_rows,
    select,
)
from .index import LabelIndex

if TYPE_CHECKING:
    from .decoder import Decoder

MAX_FILTER_ROWS = 8
"""Largest number of rows for which the count filter is faster than the product."""

MIN_COUNTED = 1 << 17
"""Groups of all labels below which a row's scores are cheaper than the count filter."""

MAX_INDEX_BITS = 1 << 31
"""Largest index to count with. A larger one is not worth building for a few rows."""

BLOCK_LABELS = 1 << 17
"""Labels scored at a time: 32 MB of scores per thread for BLOCK_ROWS rows, independent of d."""


def search(
    values: np.ndarray, index: LabelIndex, decoder: "Decoder", k: int, *, method: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (labels, scores), both (n, k), of group values (n, m); padded with -1 and -inf.

    `method` is "product", "row" (the product row by row) or "count_filter"; None chooses the fastest one
    that applies.
    """
    n = len(values)
    if method is None:
        counted = len(index.groups) >= MIN_COUNTED and is_countable(index, decoder)
        for_few = "count_filter" if counted else "row"
        method = for_few if n <= MAX_FILTER_ROWS else "product"
    labels, best = np.empty((n, k), np.int64), np.empty((n, k), np.float32)
    if method == "product":
        return _search_product(values, index, decoder, labels, best)
    for i in range(n):
        if method == "count_filter":
            count_filter(values[i], index, decoder, labels[i], best[i])
        else:
            _search_row(values[i], index, decoder, labels[i : i + 1], best[i : i + 1])
    return labels, best


def _search_product(values, index, decoder, labels, best):
    """Score up to BLOCK_LABELS labels at a time, and merge the best of each part with those so far; all at
    once if ties do not go to the lowest id."""
    chosen = index.labels if decoder.order is None else decoder.order
    width = len(chosen) if decoder.order is not None else min(BLOCK_LABELS, len(chosen))
    block = np.zeros((values.shape[1], BLOCK_ROWS), np.float32)
    sums, scores = np.empty(BLOCK_ROWS, np.float32), np.empty((BLOCK_ROWS, width), np.float32)
    own = values, index.indptr, index.groups, decoder.scale, decoder.offset
    search_rows(*own, chosen[:width], decoder.below, block, sums, scores, labels, best, *space(width))
    for first in range(width, len(chosen), width):
        some, some_best = np.empty_like(labels), np.empty_like(best)
        part = chosen[first : first + width]
        search_rows(*own, part, decoder.below, block, sums, scores, some, some_best, *space(width))
        both, both_best = np.concatenate([labels, some], 1), np.concatenate([best, some_best], 1)
        kept = np.argsort(-both_best, axis=1, kind="stable")[:, : labels.shape[1]]
        labels, best = np.take_along_axis(both, kept, 1), np.take_along_axis(both_best, kept, 1)
    return labels, best


def _search_row(values, index, decoder, labels, best):
    """Fill `labels` and `best` (1, k) for one row of group values (m,)."""
    scores, constants = np.empty((1, index.n_labels), np.float32), (decoder.scale, decoder.offset)
    if index.columns is None:
        row_scores(values, index.indptr, index.groups, *constants, scores[0])
    else:
        even_row_scores(values, index.columns, *constants, scores[0])
    if decoder.order is None:
        select(scores, decoder.below, labels, best, *space(index.n_labels))
    else:
        select(scores[:, decoder.order], decoder.below, labels, best, *space(index.n_labels))
        labels[:] = np.where(labels >= 0, decoder.order[labels], -1)


def is_countable(index: LabelIndex, decoder: "Decoder") -> bool:
    """Return whether eq. (3) applies: one column weight, one scale, one offset, ties to the lowest id."""
    return bool(
        index.weight is not None
        and 0 < index.weight < 256
        and index.n_groups > 1
        and index.n_groups * index.n_labels <= MAX_INDEX_BITS
        and decoder.is_even
    )


def n_counted(m: int, c: int) -> int:
    """Return the number of values above `low`: a quarter, or 5 c, as measured on EURLex-4K."""
    return min(m - 1, max(m // 4, 5 * c))


def count_filter(
    v: np.ndarray, index: LabelIndex, decoder: "Decoder", labels: np.ndarray, best: np.ndarray
) -> tuple[int, int]:
    """Fill `labels` and `best` (k,) for one row; returns (word operations, labels scored)."""
    assert index.weight is not None  # see `is_countable`
    labels.fill(-1)
    best.fill(-np.inf)
    size = n_counted(index.n_groups, index.weight)
    low, high = np.partition(v, -size - 1)[-size - 1], v.max()
    if not low < high:  # hard tests, of which many are positive: count all of these
        low = v.min() if v.min() < high else high - np.float32(1)
    return filter_top_k(
        v, index.bits, low, high, index.weight, index.groups, decoder.scale[0], decoder.offset[0],
        np.float32(decoder.floor), labels, best,
    )  # fmt: skip
