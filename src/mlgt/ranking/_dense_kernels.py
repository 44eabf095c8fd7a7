"""Similarity by dense features, which every label has: a kernel of vectors of labels, and its twin."""

import numpy as np

from ..compile.kernels import MANY, exceeds, kernel

MAX_PRODUCTS = 1 << 27
"""Rows times entries of the matrix for which NumPy takes less time than compiling."""
_ZERO = np.float32(0)


def _add_dense(indptr, indices, data, c_scale, weight, place_of, matrix, x, sums):
    """`add_dense` by NumPy."""
    if exceeds(len(sums), matrix.size, MAX_PRODUCTS):
        return NotImplemented
    own, row = slice(indptr[0], indptr[-1]), np.repeat(np.arange(len(sums)), np.diff(indptr))
    features, values = indices[own], np.zeros((len(sums), len(matrix)), np.float32)
    some = place_of[features] >= 0
    features, added = features[some], weight * data[own][some] * c_scale[features[some]]
    np.add.at(values, (row[some], place_of[features]), added)
    for r in range(len(matrix)):
        sums[:, : matrix.shape[1]] += values[:, r, None] * matrix[r].astype(np.float32)
    return None


@kernel(light=_add_dense, limit=MANY, error_model="numpy")
def add_dense(indptr, indices, data, c_scale, weight, place_of, matrix, x, sums):
    """Add the similarity by the dense features of each row to sums (n, d), four rows of `matrix` (q, d) at
    a time, with the same bits as by one after the other. `place_of` (p,) has the row of each feature, -1
    for others; `x` (q + 3,) is a work space of zeros."""
    q = matrix.shape[0]
    for i in range(sums.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if place_of[j] >= 0:
                x[place_of[j]] += weight * data[e] * c_scale[j]
        for r in range(0, q, 4):
            r1, r2, r3 = min(r + 1, q - 1), min(r + 2, q - 1), min(r + 3, q - 1)  # x is 0 beyond the last
            x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
            x[r] = x[r + 1] = x[r + 2] = x[r + 3] = _ZERO
            if x0 != _ZERO or x1 != _ZERO or x2 != _ZERO or x3 != _ZERO:
                for l in range(matrix.shape[1]):
                    total = sums[i, l] + x0 * np.float32(matrix[r, l])
                    total += x1 * np.float32(matrix[r1, l])
                    total += x2 * np.float32(matrix[r2, l])
                    sums[i, l] = total + x3 * np.float32(matrix[r3, l])
