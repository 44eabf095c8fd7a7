"""Candidates from words and groups together (ours), without scoring all labels by their groups.

    shortlist    the S best labels of    WEIGHT * similarity + PRIOR * prior                         (1)
    candidates   the K best of these by  group score + offset + WEIGHT * similarity                  (2)

with the similarity to the centroids (`centroids`), the prior of a label, the decoder's group score and its
offset (the prior, and what blocks add to it). A label of the shortlist shares words with the row, or is
frequent; groups then decide which of them fit the row as a whole. This finds more than (2) over all
labels, where groups lift whole families of labels none of whose words occur, and costs less: the inverted
lists of the words of a row, and S labels instead of d for the groups.

Further candidates, found by name (`names`), follow these K. A longer list goes on with the labels that (1)
and (2) find next, from longer shortlists (`LONGER`), so that it begins with the shorter one.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from .._core.sorting import space
from .._core.space import kept_copy
from ..decoding import Decoder, LabelIndex
from . import _shortlist_kernels as _kernels
from ._dense_kernels import add_dense
from .centroids import WEIGHT, CentroidIndex

SHORTLIST_FACTOR, MIN_SHORTLIST = 4, 400
"""Labels on the shortlist per candidate, and the smallest shortlist."""
LONGER = ((1000, 1500),)
"""(places, smallest shortlist) of a list beyond its candidates; after the last of these, all labels."""
PRIOR = np.float32(2.0)
START_ENTRIES = 1 << 19
"""Sums that rows with dense features begin with that are made at a time: they stay in the caches."""

NO_LABELS = np.empty(0, np.int64)
_NO_EXTRA = np.empty((1, 0), np.int64)


def shortlist(
    X: Any,
    values: np.ndarray,
    centroids: CentroidIndex,
    index: LabelIndex,
    decoder: Decoder,
    prior: np.ndarray,
    count: int,
    frequent: np.ndarray = NO_LABELS,
    beyond: int = 0,
    extra: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(labels, scores, similarities), each (n, count + E + beyond), of rows X (n, p) with group values
    (n, m); `prior` (d,) is PRIOR times that of the labels.

    In the order of (2), best first; `scores` are group score + offset. Padded with -1, -inf and 0 if fewer
    labels are in groups. `frequent` are label ids by falling prior: where few entries are added, only these
    and the labels that rise above them are looked at, which finds the same as long as no value is negative.
    `beyond` is the number of further labels, which follow the first ones whatever their scores. `extra`
    (n, E) are labels, or -1, that follow the first `count`; where they are among these, others fill their
    places.
    """
    n, d = X.shape[0], index.n_labels
    if extra is None:
        extra = _NO_EXTRA if n == 1 else np.empty((n, 0), np.int64)
    core, count = count, min(count + extra.shape[1], d)
    ends, sizes, width, most = _stages(count, beyond, d)
    frequent = frequent[:most] if centroids.nonnegative else NO_LABELS
    labels = np.empty((n, width), np.int64)
    scores, near = np.empty((n, width), np.float32), np.empty((n, width), np.float32)
    spaces = kept_copy(prior), np.empty(d + 1, np.int32), np.empty(d + 1, np.float32), *space(d)
    step = max(1, START_ENTRIES // d if len(centroids.dense) else n)
    for first in range(0, n, step):
        own = slice(first, first + step)
        rows = X.indptr[first : first + step + 1], X.indices, X.data
        _kernels.shortlist(
            *rows, centroids.indptr, centroids.labels, centroids.values, centroids.scale, prior,
            _starts(rows, centroids, prior), WEIGHT, frequent, values[own], index.indptr, index.groups,
            decoder.scale, decoder.offset, core, extra[own], sizes, ends, *spaces, labels[own], scores[own],
            near[own],
        )  # fmt: skip
    if width == count + beyond:
        return labels, scores, near
    kept = slice(count + beyond)
    return labels[:, kept], scores[:, kept], near[:, kept]


def _starts(rows, centroids, prior):
    """(n, d) what the sums of (1) for these rows, as CSR, begin with: the prior, and the similarity by
    dense features; none if no feature is dense."""
    q = len(centroids.dense)
    sums = np.tile(prior, (len(rows[0]) - 1 if q else 0, 1))
    if q:
        x = np.zeros(q + 3, np.float32)
        add_dense(*rows, centroids.scale, WEIGHT, centroids.dense_places, centroids.matrix, x, sums)
    return sums


@lru_cache(maxsize=256)
def _stages(count, beyond, d):
    """(ends, sizes, the last end, frequent labels that may be needed): the places up to ends[t] are filled
    from shortlists of sizes[t] labels. They depend on `beyond` only in their number, so that a list begins
    with every shorter one."""
    ends, sizes = [count], [min(d, max(MIN_SHORTLIST, SHORTLIST_FACTOR * count))]
    for places, size in (*LONGER, (d, d)):
        if ends[-1] < count + beyond and min(places, d) > ends[-1]:
            ends.append(min(places, d))
            sizes.append(min(d, size))
    taken = 0 if len(ends) == 1 else ends[-2]  # labels that the last shortlist does not find again
    return np.array(ends, np.int64), np.array(sizes, np.int64), ends[-1], sizes[-1] + taken


def insert(
    labels: np.ndarray,
    scores: np.ndarray,
    count: int,
    extra: np.ndarray,
    values: np.ndarray,
    index: LabelIndex,
    decoder: Decoder,
) -> tuple[np.ndarray, np.ndarray]:
    """(labels, scores) (n, K), best first, with the labels `extra` (n, E) after the first `count`, each
    label once, as `shortlist` has them."""
    joined, best = np.full(labels.shape, -1, np.int64), np.full(labels.shape, -np.inf, np.float32)
    own = index.indptr, index.groups, decoder.scale, decoder.offset
    _kernels.insert(values, *own, count, extra, labels, scores, joined, best)
    return joined, best
