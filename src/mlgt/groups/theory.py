"""Theorem 1 of the paper, corrected.

Let the entries of A be drawn independently with Pr(a_ij = 1) = h_ij (the reweighted H, whose columns
sum to c), let z = A OR y and b = A'z. Then E[b_j] = c for every label j in supp(y): a label's own
groups are all positive. For j outside supp(y), a_ij and z_i are independent, so

    E[b_j] = sum_i h_ij (1 - prod_{l in supp y} (1 - h_il)) = c - sum_i h_ij prod_{l in supp y} (1 - h_il).

The paper prints the bound E[b_j] <= sum_i exp(-<y, h^(i)>). Its proof loses the factor h_ij and takes
the probability that group i is negative for the probability that it is positive, and the bound is
false: with h = 0.4 everywhere, m = 10 and |supp y| = 5, E[b_j] = 3.69 while the printed bound is 1.35.
"""

from typing import Any

import numpy as np


def expected_votes(P: np.ndarray, support: Any) -> np.ndarray:
    """Return E[b] for probabilities P (m, d): c on the support, the formula above elsewhere."""
    P = np.asarray(P, dtype=np.float64)
    silent = np.prod(1.0 - P[:, support], axis=1)
    expected = P.T @ (1.0 - silent)
    expected[support] = P[:, support].sum(axis=0)
    return expected


def printed_bound(P: np.ndarray, support: Any) -> float:
    """Return the bound of Theorem 1 as printed, for j outside the support. It does not hold."""
    return float(np.exp(-np.asarray(P)[:, support].sum(axis=1)).sum())
