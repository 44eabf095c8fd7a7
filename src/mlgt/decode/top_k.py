"""The paper's decoder (section 3, analysis): the top k coordinates of b = A'z.

b counts a label's positive groups, so it is full of ties, and ties decide the figures. `top_k` gives
them to the lowest label id, as the paper's code does; `top_k_frequency` (ours) gives them to the
label that is more frequent in training, by an offset below 1/2 that never reorders different counts.
"""

import numpy as np

from .lift import lift


def group_votes(Z, A):
    """b = A'z for every row: Z (n, m) in {0,1} -> (n, d)."""
    return lift(Z, A)


def decode_top_k(margins, A, label_counts=None):
    """Label scores b = A'z with z = 1[margin > 0]; ties are left to the ranking (lowest id)."""
    return group_votes(margins > 0, A)


def decode_top_k_frequency(margins, A, label_counts):
    """b = A'z, ties by training frequency, then by lowest id."""
    _, rank = np.unique(label_counts, return_inverse=True)
    return group_votes(margins > 0, A).astype(np.float64) + rank / (2.0 * len(label_counts))
