"""Margins of all group classifiers: XW + b, row by row."""

from typing import Any

import numpy as np

from ..compile.kernels import kernel

MAX_SPARED = 1 << 21
"""Bytes of an input up to which NumPy takes less time than compiling a kernel."""


def group_margins(X: Any, coef: Any, intercept: Any, scale: Any = None) -> np.ndarray:
    """Return X coef + intercept, (n, m) float32, row by row: a row's bits do not depend on its neighbours.

    With `scale` (m,) the weights are bytes in units of it.
    """
    out = np.empty((X.shape[0], coef.shape[1]), np.float32)
    if scale is None:
        margins_of_floats(X.indptr, X.indices, X.data, coef, intercept, out)
    else:
        margins_of_bytes(X.indptr, X.indices, X.data, coef, scale, intercept, out)
    return out


def _margins(indptr, indices, data, W, b, out):
    """`margins_of_floats` by NumPy."""
    out[:] = b
    _add_rows(indptr, indices, data, W, out)


def _margins_of_bytes(indptr, indices, data, Q, scale, b, out):
    """`margins_of_bytes` by NumPy."""
    out[:] = 0.0
    _add_rows(indptr, indices, data, Q, out)
    out[:] = out * scale + b


def _add_rows(indptr, indices, data, W, out):
    """out[i] += sum_e data[e] W[indices[e]], four entries at a time, then the rest; all rows together."""

    def products(rows, e):
        at = indptr[rows] + e
        return data[at, None] * W[indices[at]].astype(np.float32, copy=False)

    lengths = indptr[1:] - indptr[:-1]
    for first in range(0, lengths.max(initial=0), 4):
        rows = np.flatnonzero(lengths >= first + 4)
        if len(rows):
            total = products(rows, first)
            for e in range(first + 1, first + 4):
                total += products(rows, e)
            out[rows] += total
        for e in range(first, first + 3):
            rows = np.flatnonzero((lengths > e) & (lengths < first + 4))
            out[rows] += products(rows, e)


@kernel(light=_margins, limit=MAX_SPARED, error_model="numpy")
def margins_of_floats(indptr, indices, data, W, b, out):
    """out[i] = b + sum_e data[e] W[indices[e]], four rows of W at a time."""
    n, m = out.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = b[j]
        e, end = indptr[i], indptr[i + 1]
        while e + 4 <= end:
            w0, w1, w2, w3 = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            x0, x1, x2, x3 = data[e], data[e + 1], data[e + 2], data[e + 3]
            for j in range(m):
                out[i, j] += x0 * W[w0, j] + x1 * W[w1, j] + x2 * W[w2, j] + x3 * W[w3, j]
            e += 4
        while e < end:
            w0, x0 = indices[e], data[e]
            for j in range(m):
                out[i, j] += x0 * W[w0, j]
            e += 1


@kernel(light=_margins_of_bytes, limit=MAX_SPARED, error_model="numpy")
def margins_of_bytes(indptr, indices, data, Q, scale, b, out):
    """out[i] = b + scale sum_e data[e] Q[indices[e]], Q (p, m) int8, four rows of it at a time."""
    n, m = out.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = 0.0
        e, end = indptr[i], indptr[i + 1]
        while e + 4 <= end:
            q0, q1, q2, q3 = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            x0, x1, x2, x3 = data[e], data[e + 1], data[e + 2], data[e + 3]
            for j in range(m):
                out[i, j] += (
                    x0 * np.float32(Q[q0, j])
                    + x1 * np.float32(Q[q1, j])
                    + x2 * np.float32(Q[q2, j])
                    + x3 * np.float32(Q[q3, j])
                )
            e += 4
        while e < end:
            q0, x0 = indices[e], data[e]
            for j in range(m):
                out[i, j] += x0 * np.float32(Q[q0, j])
            e += 1
        for j in range(m):
            out[i, j] = out[i, j] * scale[j] + b[j]
