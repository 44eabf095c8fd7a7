"""Sparse random groups (SP-GT): every entry of A is 1 with probability 1 / (k + 1).

This is the k-disjunct construction of Ubaru & Mazumdar (ICML 2017), the paper's baseline. k is the label
sparsity the design is made for; the paper does not state the value it used. Column weights are
Binomial(m, 1 / (k + 1)), and for small m a label may be in no group at all.
"""

import numpy as np
import scipy.sparse as sp

from .._core.progress import Progress
from .plan import Plan

WEIGHTED = False


def sparse_random_groups(m: int, d: int, k: float, rng: np.random.Generator) -> sp.csr_array:
    """Draw A in {0,1}^(m x d), CSR, with independent entries of mean 1 / (k + 1)."""
    rows = [np.flatnonzero(rng.random(d) < 1.0 / (k + 1.0)) for _ in range(m)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows)
    return sp.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(m, d))


def plan(
    Y: sp.csr_array, m: int, rng: np.random.Generator, *, progress: Progress | None = None, k: float = 5
) -> Plan:
    """Nothing is computed in advance; draws do not use the weight."""
    if not k > 0:
        raise ValueError(f"k={k} must be above 0: entries of A are 1 with probability 1/(k+1).")
    return Plan(lambda weight, rng: sparse_random_groups(m, Y.shape[1], k, rng))
