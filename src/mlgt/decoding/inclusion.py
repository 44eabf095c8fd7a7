"""Support inclusion, the linear decoder of section 2: a label is present when its groups are.

    l in yhat   <=>   |supp(a_l) minus supp(z)| <= slack                                     (1)

slack = 0 is the paper's rule. If A is (k, e)-disjunct, slack = e // 2 recovers up to k labels through e //
2 wrong tests. A label in no group has no tests; eq. (1) would put it into every yhat, so it is left out.
The score is minus the number of negative groups.
"""

import numpy as np
import scipy.sparse as sp

from .decoder import Decoder, column_weights, hard_tests, offset_without_groups


def decode_inclusion(
    A: sp.csr_array, label_counts: np.ndarray | None = None, *, slack: float = 0
) -> Decoder:
    """s_l = |supp(a_l) and supp(z)| - |supp(a_l)|, possible if >= -slack, eq. (1)."""
    if not 0 <= slack < np.inf:
        raise ValueError(f"slack={slack} must be a number of at least 0, of wrong tests to tolerate.")
    weights = column_weights(A)
    return Decoder(
        values=hard_tests,
        scale=np.ones_like(weights),
        offset=offset_without_groups(weights) - weights,
        floor=-float(slack),
    )
