"""One sweep of symmetric NMF over all rows of V, compiled; `symnmf` has the derivation."""

import math

import numpy as np

from .._core.compile import helper, kernel

MAX_LISTED = 96
"""Largest number of non-zeros of a row of V that are kept in a list."""


@kernel(error_model="numpy")
def quartic_argmin(a, b):
    """Minimise x^4/4 + a x^2/2 + b x over x >= 0, exactly; returns (x, value).

    The stationary points solve x^3 + a x + b = 0. With b < 0 one of them is positive and is the
    minimum; with b >= 0 the largest one must also beat x = 0.
    """
    if b >= 0.0 and a >= 0.0:
        return 0.0, 0.0
    discriminant = 0.25 * b * b + a * a * a / 27.0
    if discriminant > 0.0:
        if b >= 0.0:  # the only real root is negative
            return 0.0, 0.0
        t = (-0.5 * b + math.sqrt(discriminant)) ** (1.0 / 3.0)
        x = t - a / (3.0 * t)
    else:
        radius = math.sqrt(-a / 3.0)
        cube = radius * radius * radius
        if cube == 0.0:  # a and b are 0 up to underflow
            return 0.0, 0.0
        cosine = min(1.0, max(-1.0, -0.5 * b / cube))
        x = 2.0 * radius * math.cos(math.acos(cosine) / 3.0)
    # Cardano's formula cancels when a > 0 is large against |b|; Newton steps restore the digits.
    for _ in range(3):
        slope = 3.0 * x * x + a
        if slope <= 0.0:
            break
        x -= (x * x * x + a * x + b) / slope
    if x <= 0.0:
        return 0.0, 0.0
    value = x * (b + x * (0.5 * a + 0.25 * x * x))
    if value >= 0.0:
        return 0.0, 0.0
    return x, value


@helper(error_model="numpy")
def _list_nonzeros(h, columns, values):
    """Write where h is not zero to `columns`, and its values there; returns how many, or -1 if too many to
    list."""
    count = 0
    for j in range(h.shape[0]):
        if h[j] != 0.0:
            if count == columns.shape[0]:
                return -1
            columns[count], values[count] = j, h[j]
            count += 1
    return count


@helper(error_model="numpy")
def _add_outer(C, h, columns, count, sign):
    """C += sign hh', touching only the non-zeros of h where they are listed."""
    m = h.shape[0]
    if count < 0:
        for j in range(m):
            for k in range(m):
                C[j, k] += sign * h[j] * h[k]
    for p in range(count):
        j = columns[p]
        for q in range(count):
            C[j, columns[q]] += sign * h[j] * h[columns[q]]


@helper(error_model="numpy")
def _add_neighbours(indptr, indices, data, i, V, columns, values, counts, g):
    """g = sum of G_il V_l over the neighbours l != i of row i; returns G_ii."""
    diagonal = 0.0
    g[:] = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        other, weight = indices[e], data[e]
        if other == i:
            diagonal = weight
        elif counts[other] < 0:
            for j in range(V.shape[1]):
                g[j] += weight * V[other, j]
        else:
            for p in range(counts[other]):
                g[columns[other, p]] += weight * values[other, p]
    return diagonal


@helper(error_model="numpy")
def _minimise_row(h, g, C, diagonal, r):
    """Minimise over every entry of the row h in turn, eq. (3); returns the change of eq. (2).

    `r` (m,) is a work space for Ch.
    """
    m = h.shape[0]
    r[:] = 0.0
    norm = 0.0
    before = 0.0
    for j in range(m):
        if h[j] != 0.0:
            norm += h[j] * h[j]
            for k in range(m):
                r[k] += h[j] * C[j, k]
    for j in range(m):
        before += h[j] * (2.0 * r[j] - 4.0 * g[j])
    before += (diagonal - norm) ** 2
    for j in range(m):
        old = h[j]
        rest = norm - old * old
        a = C[j, j] + rest - diagonal
        b = r[j] - C[j, j] * old - g[j]
        if old == 0.0 and a >= 0.0 and b >= 0.0:
            continue  # zero is the minimum
        new, value = quartic_argmin(a, b)
        if new == old or value >= old * (b + old * (0.5 * a + 0.25 * old * old)):
            continue
        h[j] = new
        norm = rest + new * new
        step = new - old
        for k in range(m):
            r[k] += step * C[j, k]
    norm = 0.0
    after = 0.0
    for j in range(m):
        if h[j] != 0.0:
            norm += h[j] * h[j]
            after += h[j] * (2.0 * r[j] - 4.0 * g[j])
    return (diagonal - norm) ** 2 + after - before


@kernel(error_model="numpy")
def sweep(indptr, indices, data, V, C):
    """Minimise over every entry of V in turn, row by row; V and C = V'V change in place.

    Returns the change of ||G - VV'||_F^2. Rows of V become sparse at once, and their non-zeros are kept
    in lists: a row with q non-zeros, s changes and l neighbours of q non-zeros costs O(m (q + s) + l q),
    where running over whole rows costs O(m^2 + l m), most of it waiting for memory.
    """
    d, m = V.shape
    columns, values = np.empty((d, min(m, MAX_LISTED)), np.int32), np.empty((d, min(m, MAX_LISTED)))
    counts = np.empty(d, np.int64)
    for i in range(d):
        counts[i] = _list_nonzeros(V[i], columns[i], values[i])
    g = np.empty(m)
    r = np.empty(m)
    change = 0.0
    for i in range(d):
        diagonal = _add_neighbours(indptr, indices, data, i, V, columns, values, counts, g)
        _add_outer(C, V[i], columns[i], counts[i], -1.0)
        change += _minimise_row(V[i], g, C, diagonal, r)
        counts[i] = _list_nonzeros(V[i], columns[i], values[i])
        _add_outer(C, V[i], columns[i], counts[i], 1.0)
    return change
