"""Candidates from words and groups together (ours), without scoring all labels by their groups.

    shortlist    the S best labels of    WEIGHT * similarity + PRIOR * prior                         (1)
    candidates   the K best of these by  group score + offset + WEIGHT * similarity                  (2)

for the centroids' similarity (`centroids`), the prior of a label, the decoder's group score and its offset
(the prior, and what blocks add to it). A label of the shortlist has to speak for itself by its words, or be
frequent; groups then say which of them fit the row as a whole. That finds more than (2) over all labels,
where groups lift whole families of labels none of whose words occur, and costs less: the inverted lists of
a row's words, and S labels instead of d for the groups.
"""

import numpy as np

from . import _shortlist_kernels as _kernels
from .centroids import WEIGHT

LONGER, LEAST = 4, 400
"""The shortlist has this many times as many labels as there are candidates, and at least LEAST."""
PRIOR = np.float32(2.0)
MANY = 100_000
"""From so many labels on, only those that share a word with the row, or are frequent, are looked at."""

_ALL = np.empty(0, np.int64)


def by_frequency(prior):
    """Label ids, those of the highest prior first, as `shortlist` wants them for MANY labels; else none."""
    return np.argsort(-prior, kind="stable") if len(prior) >= MANY else _ALL


def shortlist(X, values, centroids, index, decoder, prior, count, frequent=_ALL):
    """(labels, scores, similarities), each (n, count), of rows X (n, p) with group values (n, m).

    In the order of (2), best first; `scores` are group score + offset. Padded by -1, -inf and 0 where there
    are fewer labels in groups.
    With labels by frequency, `frequent`, those that are neither frequent nor share a word with a row are
    not looked at: the same result, as long as no value is negative.
    """
    n, d = X.shape[0], index.n_labels
    size = min(d, max(LEAST, LONGER * count))
    if X.data.min(initial=0) < 0 or not centroids.nonnegative:
        frequent = _ALL
    labels = np.full((n, count), -1, np.int64)
    scores = np.full((n, count), -np.inf, np.float32)
    near = np.zeros((n, count), np.float32)
    _kernels.shortlist(
        X.indptr, X.indices, X.data, centroids.indptr, centroids.labels, centroids.values, centroids.scale,
        PRIOR * prior, WEIGHT, frequent[:size], values, index.indptr, index.groups, decoder.scale,
        decoder.offset, size, labels, scores, near,
    )  # fmt: skip
    return labels, scores - WEIGHT * near, near
