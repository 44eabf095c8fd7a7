"""Data-dependent groups (NMF-GT, section 3): A is sampled from a symmetric NMF of the co-occurrence.

    G = Y'Y ~ H'H,   each column of H reweighted to sum to c,   a_j drawn with these probabilities.

Labels that occur together get similar columns of H and so share groups: fewer distinct group
patterns, better classifiers.
"""

import numpy as np
import scipy.sparse as sp

from ..labels.graph import cooccurrence
from ..labels.symnmf import random_start, symmetric_nmf
from .plan import Plan
from .reweight import reweight
from .sampling import SAMPLERS

WEIGHTED = True
_BLOCK = 1024  # labels per block: bounds the working memory to a few (block, m) arrays


def nmf_groups(H, c, rng, *, sampling="fixed_size", labels=None, d=None):
    """Draw A in {0,1}^(m x d), CSR, from H (m, d); `sampling` is a key of SAMPLERS.

    With `labels`, ascending, H has columns for these of d labels only; those of others are 0.
    """
    m, n = H.shape
    labels, d = (np.arange(n), n) if labels is None else (labels, d)
    blocks = []
    for first in range(0, d, _BLOCK):
        V = np.zeros((min(_BLOCK, d - first), m))
        own = slice(*np.searchsorted(labels, (first, first + _BLOCK)))
        V[labels[own] - first] = H[:, own].T
        blocks.append(sp.csr_array(SAMPLERS[sampling](reweight(V, c), rng), dtype=np.float32))
    return sp.csr_array(sp.vstack(blocks).T)


def plan(Y, m, rng, *, progress=None, sampling="fixed_size", max_sweeps=10, tol=1e-3, max_seconds=None):
    """Factorise once, for every weight; labels that never occur are left out of that."""
    if sampling not in SAMPLERS:
        raise ValueError(f"sampling={sampling!r} is unknown; choose one of {', '.join(SAMPLERS)}.")
    G = cooccurrence(Y)
    seen = np.flatnonzero(np.diff(G.indptr))
    found = symmetric_nmf(
        G[seen][:, seen], m, rng, start=random_start(G, m, rng, seen), max_sweeps=max_sweeps, tol=tol,
        max_seconds=max_seconds, progress=progress,
    )  # fmt: skip
    drawn = {"sampling": sampling, "labels": seen, "d": G.shape[0]}
    return Plan(lambda weight, rng: nmf_groups(found.H, weight, rng, **drawn), found.reproducible)
