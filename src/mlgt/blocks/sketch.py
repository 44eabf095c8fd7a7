"""Count sketch: p features hashed to fewer columns, with signs, for smaller weights.

    (xS)_h = sum over the features j with column_j = h of sign_j x_j                                   (1)

Inner products are kept on average: E <xS, yS> = <x, y>, with a variance of about |x|^2 |y|^2 / width
(Charikar, Chen & Farach-Colton 2002).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.arrays import Arrays, Stored, array_names, check_ids, check_kind, check_shapes
from .._core.rows import Rows


@dataclass(frozen=True)
class CountSketch(Stored):
    columns: np.ndarray  # (p,) int32, where each feature goes
    signs: np.ndarray  # (p,) int8, -1 or 1
    width: int

    ARRAYS = array_names("columns", "signs")

    def __call__(self, X: Any) -> Rows:
        """Eq. (1) for the rows of X. Entries that share a column are stored side by side, not summed."""
        data = X.data * self.signs[X.indices]
        return Rows(X.indptr, self.columns[X.indices], data, (X.shape[0], self.width))

    @classmethod
    def from_arrays(cls, arrays: Arrays, p: int, width: int) -> "CountSketch":
        """Raise unless the arrays map p features to `width` columns."""
        check_shapes(arrays, columns=(p,), signs=(p,))
        check_kind(arrays, "columns", np.int32)
        check_kind(arrays, "signs", np.int8)
        check_ids(arrays, "columns", width)
        if (np.abs(arrays["signs"]) != 1).any():
            raise ValueError("signs has values beside -1 and 1")
        return cls(np.asarray(arrays["columns"]), np.asarray(arrays["signs"]), int(width))


def draw_sketch(p: int, width: int, rng: np.random.Generator) -> CountSketch:
    """Draw columns and signs for p features."""
    columns = rng.integers(width, size=p, dtype=np.int32)
    return CountSketch(columns, (2 * rng.integers(2, size=p, dtype=np.int8) - 1).astype(np.int8), width)
