"""Support inclusion, the linear decoder of section 2: a label is present when its groups are.

    l in yhat   <=>   |supp(a_l) minus supp(z)| <= slack                                     (1)

slack = 0 is the paper's rule. If A is (k, e)-disjunct, slack = e // 2 recovers up to k labels
through e // 2 wrong tests. A label in no group would be in every yhat; it cannot be told from its
tests and is left out instead.
"""

import numpy as np

from .lift import column_weights, lift


def decode_inclusion(margins, A, label_counts=None, *, slack=0):
    """Label scores (n, d): minus the number of negative groups, -inf beyond `slack`, eq. (1)."""
    weights = column_weights(A)
    missing = weights - lift(margins > 0, A)
    return np.where((missing <= slack) & (weights > 0), -missing, -np.inf).astype(np.float32)
