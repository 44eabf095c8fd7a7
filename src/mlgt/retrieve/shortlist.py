"""Candidates from words and groups together (ours), without scoring all labels by their groups.

    shortlist    the S best labels of    WEIGHT * similarity + PRIOR * offset                        (1)
    candidates   the K best of these by  group score + offset + WEIGHT * similarity                  (2)

for the centroids' similarity (`centroids`), the decoder's offset (the label prior) and its group score. A
label of the shortlist has to speak for itself by its words, or be frequent; groups then say which of
them fit the row as a whole. That finds more than (2) over all labels, where groups lift whole families
of labels none of whose words occur, and costs less: the inverted lists of a row's words, and S labels
instead of d for the groups.
"""

import numpy as np

from . import _kernels
from .centroids import WEIGHT

LONGER, LEAST = 4, 400
"""The shortlist has this many times as many labels as there are candidates, and at least LEAST."""
PRIOR = np.float32(2.0)


def shortlist(X, values, centroids, index, decoder, count):
    """(labels, scores, similarities), each (n, count), of rows X (n, p) with group values (n, m).

    `scores` are those of (2), best first, ties to the lowest id; padded by -1, -inf and 0 where there are
    fewer labels in groups.
    """
    n, d = X.shape[0], index.n_labels
    labels = np.full((n, count), -1, np.int64)
    scores = np.full((n, count), -np.inf, np.float32)
    near = np.zeros((n, count), np.float32)
    _kernels.shortlist(
        X.indptr, X.indices, X.data, centroids.indptr, centroids.labels, centroids.values, centroids.scale,
        PRIOR * decoder.offset, WEIGHT, values, index.indptr, index.groups, decoder.scale, decoder.offset,
        min(d, max(LEAST, LONGER * count)), labels, scores, near,
    )  # fmt: skip
    return labels, scores, near
