"""One sweep of symmetric NMF over all rows of V, compiled; `symnmf` has the derivation."""

import math

from numpy import uint32, uint64

from .._core.prefetch import prefetch
from ..compile.kernels import helper, kernel

MAX_LISTED = 96
"""Largest number of non-zeros of a row of V that are kept in a list."""
AHEAD = 4
"""Places between a neighbour that is added and the one whose list is asked for."""


@helper(error_model="numpy")
def quartic_argmin(a, b):
    """Minimise x^4/4 + a x^2/2 + b x over x >= 0; returns (x, value).

    The stationary points solve x^3 + a x + b = 0. With b < 0 one of them is positive and is the
    minimum; with b >= 0 the largest one must also beat x = 0. Newton's steps begin above it, where the
    cubic is convex, and fall towards it.
    """
    if b >= 0.0 and a >= 0.0:
        return 0.0, 0.0
    if a > 0.0:
        x = -b / a
        if x * x > a:  # a power takes as long as three steps
            x = min(x, (-b) ** (1.0 / 3.0))
    else:
        x = math.sqrt(-a) + max(-b, 0.0) ** (1.0 / 3.0)
    for _ in range(60):  # up to 30 were seen
        slope = 3.0 * x * x + a
        if x <= 0.0 or slope <= 0.0:  # there is no root, or a and b are 0 up to underflow
            return 0.0, 0.0
        step = (x * (x * x + a) + b) / slope
        x -= step
        if step <= 1e-10 * x:  # the next one would be its square
            break
    value = x * (b + x * (0.5 * a + 0.25 * x * x))
    if value >= 0.0:
        return 0.0, 0.0
    return x, value


@helper(error_model="numpy")
def _list_nonzeros(V, i, columns, values, counts):
    """Write where row i of V is not zero to columns[i], its values there to values[i], and how many there
    are to counts[i]: -1 if too many to list."""
    count = 0
    for j in range(V.shape[1]):
        if V[i, j] != 0.0:
            if count == columns.shape[1]:
                counts[i] = -1
                return
            columns[i, count], values[i, count] = j, V[i, j]
            count += 1
    counts[i] = count


@helper(error_model="numpy")
def _add_outer(C, V, i, columns, values, counts, sign):
    """C += sign hh', h row i of V, touching only its non-zeros where they are listed."""
    m = V.shape[1]
    if counts[i] < 0:
        for j in range(m):
            for k in range(m):
                C[j, k] += sign * V[i, j] * V[i, k]
    for p in range(counts[i]):
        j, factor = columns[i, p], sign * values[i, p]
        for q in range(uint64(counts[i])):
            C[j, uint32(columns[i, q])] += factor * values[i, q]


@helper(error_model="numpy")
def _add_neighbours(indptr, indices, data, i, V, columns, values, counts, g):
    """g = sum of G_il V_l over the neighbours l != i of row i; returns G_ii."""
    diagonal = 0.0
    for j in range(V.shape[1]):
        g[j] = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        if e + AHEAD < indptr[i + 1]:
            _prefetch_list(indices[e + AHEAD], columns, values, counts)
        other, weight = indices[e], data[e]
        if other == i:
            diagonal = weight
        elif counts[other] < 0:
            for j in range(V.shape[1]):
                g[j] += weight * V[other, j]
        else:
            for p in range(uint64(counts[other])):
                g[uint32(columns[other, p])] += weight * values[other, p]
    return diagonal


@helper(error_model="numpy")
def _prefetch_list(i, columns, values, counts):
    """Ask for the first non-zeros of row i."""
    first = i * columns.shape[1]
    prefetch(counts, i)
    for line in range(3):
        prefetch(columns, first + 8 * line)
        prefetch(values, first + 8 * line)


@helper(error_model="numpy")
def _minimise_row(V, i, g, C, diagonal, columns, counts, r):
    """Minimise over every entry of row i of V in turn, eq. (3); returns the change of eq. (2), that of (3)
    times 4, summed over the entries.

    `r` (m,) is a work space for Ch, h the row.
    """
    m = V.shape[1]
    norm = change = 0.0
    for j in range(m):
        r[j] = 0.0
    for s in range(counts[i] if counts[i] >= 0 else m):
        j = columns[i, s] if counts[i] >= 0 else s
        if V[i, j] != 0.0:
            norm += V[i, j] * V[i, j]
            _add_row(C, j, V[i, j], r, 0)
    for j in range(m):
        old = V[i, j]
        rest = norm - old * old
        a = C[j, j] + rest - diagonal
        b = r[j] - C[j, j] * old - g[j]
        if old == 0.0 and a >= 0.0 and b >= 0.0:
            continue  # zero is the minimum
        new, value = quartic_argmin(a, b)
        before = old * (b + old * (0.5 * a + 0.25 * old * old))
        if new == old or value >= before:
            continue
        V[i, j] = new
        norm = rest + new * new
        change += 4.0 * (value - before)
        _add_row(C, j, new - old, r, j + 1)  # entries before have had their turn
    return change


@helper(error_model="numpy")
def _add_row(C, j, factor, r, first):
    """r += factor C_j, from entry `first` on."""
    for k in range(uint64(first), uint64(r.shape[0])):
        r[k] += factor * C[j, k]


@kernel(error_model="numpy")
def sweep(indptr, indices, data, V, C, columns, values, counts, g, r):
    """Minimise over every entry of V in turn, row by row; V and C = V'V change in place.

    Returns the change of ||G - VV'||_F^2. Rows of V become sparse at once, and their non-zeros are kept
    in lists: a row with q non-zeros, s changes and l neighbours of q non-zeros costs O(m (q + s) + l q),
    where running over whole rows costs O(m^2 + l m), most of it waiting for memory. `columns`, `values` (d,
    at most MAX_LISTED), `counts` (d,), g and r (m,) are work spaces.
    """
    d = V.shape[0]
    for i in range(d):
        _list_nonzeros(V, i, columns, values, counts)
    change = 0.0
    for i in range(d):
        diagonal = _add_neighbours(indptr, indices, data, i, V, columns, values, counts, g)
        _add_outer(C, V, i, columns, values, counts, -1.0)
        change += _minimise_row(V, i, g, C, diagonal, columns, counts, r)
        _list_nonzeros(V, i, columns, values, counts)
        _add_outer(C, V, i, columns, values, counts, 1.0)
    return change
