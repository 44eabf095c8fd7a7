"""Candidates from words and groups together (ours), without scoring all labels by their groups.

    shortlist    the S best labels of    WEIGHT * similarity + PRIOR * prior                         (1)
    candidates   the K best of these by  group score + offset + WEIGHT * similarity                  (2)

with the similarity to the centroids (`centroids`), the prior of a label, the decoder's group score and its
offset (the prior, and what blocks add to it). A label of the shortlist shares words with the row, or is
frequent; groups then decide which of them fit the row as a whole. This finds more than (2) over all
labels, where groups lift whole families of labels none of whose words occur, and costs less: the inverted
lists of the words of a row, and S labels instead of d for the groups.
"""

from typing import Any

import numpy as np

from ..decoding import Decoder, LabelIndex
from . import _shortlist_kernels as _kernels
from .centroids import WEIGHT, CentroidIndex

SHORTLIST_FACTOR, MIN_SHORTLIST = 4, 400
"""Labels on the shortlist per candidate, and the smallest shortlist."""
PRIOR = np.float32(2.0)
INDEXED_LABELS = 100_000
"""Number of labels from which only those are scored that share a word with the row or are frequent."""

_ALL = np.empty(0, np.int64)


def shortlist(
    X: Any,
    values: np.ndarray,
    centroids: CentroidIndex,
    index: LabelIndex,
    decoder: Decoder,
    prior: np.ndarray,
    count: int,
    frequent: np.ndarray = _ALL,
    extra: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(labels, scores, similarities), each (n, count), of rows X (n, p) with group values (n, m).

    In the order of (2), best first; `scores` are group score + offset. Padded with -1, -inf and 0 if fewer
    labels are in groups. `extra` (n, E) are further candidates, in E more columns unless they are among the
    others; -1 is none. With `frequent`, label ids by falling prior, labels that are neither frequent nor
    share a word with a row are skipped; the result is the same, as long as no value is negative.
    """
    n, d = X.shape[0], index.n_labels
    size = min(d, max(MIN_SHORTLIST, SHORTLIST_FACTOR * count))
    if X.data.min(initial=0) < 0 or not centroids.nonnegative:
        frequent = _ALL
    extra = np.empty((n, 0), np.int64) if extra is None else extra
    labels = np.full((n, count + extra.shape[1]), -1, np.int64)
    scores, near = np.full(labels.shape, -np.inf, np.float32), np.zeros(labels.shape, np.float32)
    _kernels.shortlist(
        X.indptr, X.indices, X.data, centroids.indptr, centroids.labels, centroids.values, centroids.scale,
        PRIOR * prior, WEIGHT, frequent[:size], values, index.indptr, index.groups, decoder.scale,
        decoder.offset, size, extra, labels, scores, near,
    )  # fmt: skip
    return labels, scores - WEIGHT * near, near


def append(
    labels: np.ndarray,
    scores: np.ndarray,
    extra: np.ndarray,
    values: np.ndarray,
    index: LabelIndex,
    decoder: Decoder,
) -> tuple[np.ndarray, np.ndarray]:
    """(labels, scores) (n, K) with the labels `extra` (n, E) in E more columns, as `shortlist` has them."""
    missing = np.full(extra.shape, -1, np.int64), np.full(extra.shape, -np.inf, np.float32)
    labels, scores = (np.concatenate(both, axis=1) for both in zip((labels, scores), missing))
    own = index.indptr, index.groups, decoder.scale, decoder.offset
    _kernels.append(values, *own, extra, labels, scores)
    return labels, scores
