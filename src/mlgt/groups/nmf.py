"""Data-dependent groups (NMF-GT, section 3): A is sampled from a symmetric NMF of the co-occurrence.

    G = Y'Y ~ H'H,   each column of H reweighted to sum to c,   a_j drawn with these probabilities.

Labels that occur together get similar columns of H and thus share groups, which gives fewer distinct group
patterns and better classifiers.
"""

import numpy as np
import scipy.sparse as sp

from .._core.progress import Progress
from .._core.validation import check_choice
from ..labels.graph import cooccurrence
from ..labels.symnmf import random_start, symmetric_nmf
from ..tasks import run_task
from .plan import Plan
from .reweight import reweight, without_tiny
from .sampling import SAMPLERS, fill_up

WEIGHTED = True
_BLOCK_LABELS = 1024  # labels per step: bounds the working memory to a few (_BLOCK_LABELS, m) arrays
_WIDTHS = 4  # parts of a block by the number of non-zeros, so that few places of a part are empty


def nmf_groups(
    H: np.ndarray,
    c: int,
    rng: np.random.Generator,
    *,
    sampling: str = "fixed_size",
    labels: np.ndarray | None = None,
    d: int | None = None,
) -> sp.csr_array:
    """Draw A in {0,1}^(m x d), CSR, from H (m, d); `sampling` is a key of SAMPLERS.

    With `labels`, ascending, H has columns only for these of d labels; the columns of the others are 0.
    """
    m, n = H.shape
    labels, n_labels = (np.arange(n), n) if labels is None or d is None else (labels, d)
    blocks = []
    for first in range(0, n_labels, _BLOCK_LABELS):
        V = np.zeros((min(_BLOCK_LABELS, n_labels - first), m))
        own = slice(*np.searchsorted(labels, (first, first + _BLOCK_LABELS)))
        V[labels[own] - first] = H[:, own].T
        blocks.append(sp.csr_array(_draw(V, c, sampling, rng), dtype=np.float32))
    return sp.csr_array(sp.vstack(blocks).T)


def _draw(V, c, sampling, rng):
    """Boolean (rows, m): the groups of each row of V = H'. Where more than c entries are not zero, only
    these can be drawn, and only these are read, of rows with about as many of them at a time."""
    V = without_tiny(V)
    nonzeros, drawn = np.count_nonzero(V, axis=1), np.zeros(V.shape, bool)
    poor = np.flatnonzero(nonzeros <= c)
    exact = sampling == "fixed_size"
    drawn[poor] = fill_up(V[poor] > 0, c, rng) if exact else SAMPLERS[sampling](reweight(V[poor], c), rng)
    rising = np.argsort(nonzeros, kind="stable")[len(poor) :]
    for rich in np.array_split(rising, _WIDTHS):
        row, column = np.nonzero(V[rich])
        place = np.arange(len(row)) - np.searchsorted(row, row)
        packed = np.zeros((len(rich), nonzeros[rich].max(initial=1)))
        packed[row, place] = V[rich[row], column]
        drawn[rich[row], column] = SAMPLERS[sampling](reweight(packed, c), rng)[row, place]
    return drawn


def plan(
    Y: sp.csr_array,
    m: int,
    rng: np.random.Generator,
    *,
    progress: Progress | None = None,
    sampling: str = "fixed_size",
    max_sweeps: int = 10,
    tol: float = 1e-3,
    max_seconds: float | None = None,
) -> Plan:
    """Factorise once for all weights; labels that never occur do not take part."""
    check_choice("sampling", sampling, SAMPLERS)
    G = cooccurrence(Y)
    seen = np.flatnonzero(np.diff(G.indptr))
    start = random_start(G, m, rng, seen)

    def factorise():
        found = symmetric_nmf(
            G[seen][:, seen], m, rng, start=start, max_sweeps=max_sweeps, tol=tol, max_seconds=max_seconds,
            progress=progress,
        )  # fmt: skip
        return found.H.T, np.array([found.reproducible])

    V, (reproducible,) = run_task("factors", factorise)
    drawn = {"sampling": sampling, "labels": seen, "d": G.shape[0]}
    return Plan(lambda weight, rng: nmf_groups(V.T, weight, rng, **drawn), bool(reproducible))
