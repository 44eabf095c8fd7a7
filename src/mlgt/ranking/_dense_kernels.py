"""Similarity by dense features, which every label has, by vectors of labels; and its NumPy twin."""

import numpy as np

from ..compile.kernels import helper

_ZERO = np.float32(0)


@helper(error_model="numpy")
def add_dense(indices, data, begin, end, c_scale, weight, place_of, matrix, x, sums):
    """Add the similarity by each dense feature of a row to all labels, four rows of the matrix at a time.
    Sums have the same bits as by one after the other. `x` (q + 3,) is a work space of zeros."""
    q = matrix.shape[0]
    if q == 0:
        return
    for e in range(begin, end):
        j = indices[e]
        if place_of[j] >= 0:
            x[place_of[j]] += weight * data[e] * c_scale[j]
    for r in range(0, q, 4):
        r1, r2, r3 = min(r + 1, q - 1), min(r + 2, q - 1), min(r + 3, q - 1)  # x is 0 beyond the last
        x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
        x[r] = x[r + 1] = x[r + 2] = x[r + 3] = _ZERO
        if x0 != _ZERO or x1 != _ZERO or x2 != _ZERO or x3 != _ZERO:
            for l in range(matrix.shape[1]):
                total = sums[l] + x0 * np.float32(matrix[r, l])
                total += x1 * np.float32(matrix[r1, l])
                total += x2 * np.float32(matrix[r2, l])
                sums[l] = total + x3 * np.float32(matrix[r3, l])


def add_dense_all(indices, data, row, c_scale, weight, place_of, matrix, sums):
    """`add_dense` to sums[row] for entries (indices, data) of several rows."""
    if len(matrix) == 0:
        return
    place, x = place_of[indices], np.zeros((len(sums), len(matrix)), np.float32)
    some = place >= 0
    np.add.at(x, (row[some], place[some]), weight * data[some] * c_scale[indices[some]])
    for r in range(len(matrix)):
        sums += x[:, r, None] * matrix[r].astype(np.float32)
