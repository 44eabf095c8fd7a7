"""Count sketch: p features hashed to fewer columns, with signs, for smaller weights.

    (xS)_h = sum over the features j with column_j = h of sign_j x_j                                   (1)

Inner products are kept on average: E <xS, yS> = <x, y>, with a variance of about |x|^2 |y|^2 / width
(Charikar, Chen & Farach-Colton 2002).
"""

from dataclasses import dataclass

import numpy as np

from .._core.rows import Rows


@dataclass(frozen=True)
class CountSketch:
    columns: np.ndarray  # (p,) int32, where each feature goes
    signs: np.ndarray  # (p,) int8, -1 or 1
    width: int

    def __call__(self, X):
        """Eq. (1) for the rows of X. Features that meet stand side by side, not yet added up."""
        data = X.data * self.signs[X.indices]
        return Rows(X.indptr, self.columns[X.indices], data, (X.shape[0], self.width))


def draw_sketch(p, width, rng):
    """Columns and signs of p features, at random."""
    columns = rng.integers(width, size=p, dtype=np.int32)
    return CountSketch(columns, (2 * rng.integers(2, size=p, dtype=np.int8) - 1).astype(np.int8), width)
