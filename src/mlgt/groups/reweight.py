"""From a column of H to inclusion probabilities: the paper's reweighting (section 3).

A column h of H is scaled to sum to c; entries above 1 are set to 1 and their excess is distributed
over the remaining entries, repeatedly until none exceeds 1. Distributed in proportion to h, this ends at

    p_j = min(1, t h_j),   t such that sum_j p_j = c,                                        (1)

if h has at least c non-zeros. With fewer, all of them become 1 and the rest of c is spread evenly over the
zeros; a label without training rows (h = 0) thus gets probability c / m everywhere. Every column sums to c.
"""

import numpy as np

_BLOCK_ROWS = 64  # rows at a time, whose arrays fit into the cache


def reweight(V: np.ndarray, c: int) -> np.ndarray:
    """Return probabilities (rows, m) of rows h of V = H' (rows, m) >= 0; each row sums to c."""
    V = np.asarray(V, dtype=np.float64)
    P = np.empty_like(V)
    for first in range(0, len(V), _BLOCK_ROWS):
        P[first : first + _BLOCK_ROWS] = _reweighted(V[first : first + _BLOCK_ROWS], c)
    return P


def without_tiny(V: np.ndarray) -> np.ndarray:
    """V without the entries that are next to nothing beside the largest of their row."""
    return np.where(V > 1e-100 * V.max(axis=1, keepdims=True), V, 0.0)


def _reweighted(V, c):
    V, m = without_tiny(V), V.shape[1]  # 1 / tail could overflow
    nonzeros = np.count_nonzero(V, axis=1)
    descending = -np.sort(-V, axis=1)
    # tails[q]: sum(h) without the q largest entries, which are fixed at 1
    tails = np.cumsum(descending[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (c - np.arange(m)) / tails
        fits = scale * descending <= 1.0
    fits[:, c:] = True
    q = fits.argmax(axis=1)
    t = scale[np.arange(len(V)), np.minimum(q, m - 1)]
    sparse = nonzeros <= c
    P = np.minimum(1.0, V * np.where(sparse, 0.0, t)[:, None])
    spread = np.divide(c - nonzeros, m - nonzeros, out=np.zeros(len(V)), where=nonzeros < m)
    return np.where(sparse[:, None], np.where(V > 0, 1.0, spread[:, None]), P)
