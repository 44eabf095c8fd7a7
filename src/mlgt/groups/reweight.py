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
    V = without_tiny(np.asarray(V, dtype=np.float64))  # 1 / tail could overflow
    nonzeros, m = np.count_nonzero(V, axis=1), V.shape[1]
    spread = np.divide(c - nonzeros, m - nonzeros, out=np.zeros(len(V)), where=nonzeros < m)
    P = np.where(V > 0, 1.0, spread[:, None])
    rich = np.flatnonzero(nonzeros > c)
    for first in range(0, len(rich), _BLOCK_ROWS):
        own = rich[first : first + _BLOCK_ROWS]
        P[own] = np.minimum(1.0, V[own] * _factor(V[own], c)[:, None])
    return P


def without_tiny(V: np.ndarray) -> np.ndarray:
    """V without the entries that are next to nothing beside the largest of their row."""
    return np.where(V > 1e-100 * V.max(axis=1, keepdims=True), V, 0.0)


def _factor(V, c):
    """t of eq. (1) for rows with more than c non-zeros."""
    descending = -np.sort(-V, axis=1)
    # tails[q]: sum(h) without the q largest entries, which are fixed at 1
    tails = np.cumsum(descending[:, ::-1], axis=1)[:, ::-1][:, : c + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (c - np.arange(tails.shape[1])) / tails
        fits = scale * descending[:, : c + 1] <= 1.0
    fits[:, c:] = True
    return scale[np.arange(len(V)), fits.argmax(axis=1)]
