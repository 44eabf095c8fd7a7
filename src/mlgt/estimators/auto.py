"""What "auto" stands for, by the shape of the data."""

import numpy as np

from ..classifiers.solver import TILE
from ..ranking.centroids import are_light, label_centroids

FEW_LABELS = 256
"""Up to so many, one-vs-all is cheap, and nothing is gained by pooling."""

MANY_LABELS, ENOUGH_GROUPS = 50_000, 256
"""From so many labels on, words name the candidates, and so many groups are enough to judge them."""

MOST_GROUPS = 768
"""Where a ranker follows. 8 k log2(d) is more than that for rows of ten labels or so, and a third of the
groups then found candidates as good on held-out rows."""

RANKED_SWEEPS = 5
"""Of the NMF, where a ranker follows and evens out differences."""

RANKED_TOL, TOL = 0.1, 0.01
"""Of the group classifiers with a ranker, where candidates are as good as with the other; and without."""


def auto_n_groups(d, k):
    """8 k log2(d) groups for d labels, k of them a row, at most d; whole tiles of the solver."""
    wanted = int(np.ceil(8 * max(k, 1.0) * np.log2(max(d, 2))))
    return min(d, -(-wanted // TILE) * TILE)


def ranked_n_groups(d, k, by_words):
    """The same where a ranker follows: `by_words`, centroids may name its candidates."""
    return ENOUGH_GROUPS if by_words and d >= MANY_LABELS else min(MOST_GROUPS, auto_n_groups(d, k))


def fewer_groups(m, X, Y, centroids):
    """Half of m where centroids can do a part of the work, for rows are short."""
    light = are_light(label_centroids(X, Y), X) if centroids == "auto" else centroids
    return max(TILE, m // 2 // TILE * TILE) if light else m


def ranked_weight(m):
    """Of m groups, how many a label joins where a ranker follows; else Remark 1 is asked."""
    return max(1, min(16, max(4, m // 32), m // 2))


def auto_candidates(d):
    """The most candidates a row to begin with, of d labels."""
    return min(100, max(20, d // 16))
