"""Constant-weight groups (CW-GT) after Gallager's low-density parity-check codes (supplement, A.1).

The m rows are divided into c bands. Within a band every label has exactly one 1, so every label
joins exactly c groups. In the first band the ones descend: its row i holds the i-th run of
consecutive labels. Every other band is a random column permutation of the first.

Neither m / c nor d / (rows of a band) needs to be whole: bands differ by at most one row, runs by at most
one label.
"""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from .._core.progress import Progress
from .plan import Plan

WEIGHTED = True


def constant_weight_groups(m: int, d: int, c: int, rng: np.random.Generator) -> sp.csr_array:
    """Draw A in {0,1}^(m x d), CSR, with c ones in every column."""
    if c > m:
        raise ValueError(f"c={c} exceeds m={m}: every label joins c different groups. Pass c<={m}.")
    edges = np.linspace(0, m, c + 1).astype(np.int64)
    columns = np.arange(d)
    rows = np.empty((c, d), np.int64)
    for band, (first, last) in enumerate(pairwise(edges)):
        position = columns if band == 0 else rng.permutation(d)
        rows[band] = first + position * (last - first) // d
    ones = np.ones(c * d, np.float32)
    return sp.csr_array((ones, (rows.ravel(), np.tile(columns, c))), shape=(m, d))


def plan(Y: sp.csr_array, m: int, rng: np.random.Generator, *, progress: Progress | None = None) -> Plan:
    """Nothing is computed before the weight is known."""
    return Plan(lambda weight, rng: constant_weight_groups(m, Y.shape[1], weight, rng))
