"""`mlgt.labels._nmf_kernels.sweep`, one vector operation per step of the derivation in `symnmf`."""

import numpy as np

from mlgt.labels._nmf_kernels import quartic_argmin


def sweep(indptr, indices, data, V, C, *_):
    change = 0.0
    for i, h in enumerate(V):
        row = slice(indptr[i], indptr[i + 1])
        is_self = indices[row] == i
        diagonal = data[row][is_self].sum()
        g = data[row][~is_self] @ V[indices[row][~is_self]]
        C -= np.outer(h, h)
        r = C @ h
        before = (diagonal - h @ h) ** 2 + 2 * h @ r - 4 * h @ g
        for j, old in enumerate(h.copy()):
            a = C[j, j] + (h @ h - old**2) - diagonal
            b = r[j] - C[j, j] * old - g[j]
            new, value = quartic_argmin(a, b)
            if value < old * (b + old * (a / 2 + old**2 / 4)):
                h[j] = new
                r += (new - old) * C[j]
        change += (diagonal - h @ h) ** 2 + 2 * h @ r - 4 * h @ g - before
        C += np.outer(h, h)
    return change
