"""`mlgt.ranking._kernels.fit_labels`: the linear SVM of each label, on a dense weight vector."""

import numpy as np
from numba import njit

from mlgt.ranking import _kernels

shuffle = njit(lambda order, size, state: _kernels.shuffle(order, size, state))


def fit_labels(
    indptr, indices, data, norms, weights, label_ptr, rows, positive, s_ptr, s_columns, s_values, s_factor,
    s_bias, first, last, C, tol, max_iter, prune, seed, wanted, space, *rest,
):  # fmt: skip
    p, (filled, alpha, bias, counts, values, columns) = len(space), rest[-6:]
    for l in range(first, last):
        if filled + p > len(values):
            return l, filled
        if not wanted[l]:
            continue
        own = slice(label_ptr[l], label_ptr[l + 1])
        mine, target, a = rows[own], np.where(positive[own], 1.0, -1.0), alpha[own]
        w, b, order = np.zeros(p), s_bias[l] + a @ target, np.arange(len(mine))
        w[s_columns[s_ptr[l] : s_ptr[l + 1]]] = s_factor * s_values[s_ptr[l] : s_ptr[l + 1]]
        for i in np.flatnonzero(a):
            e = slice(indptr[mine[i]], indptr[mine[i] + 1])
            w[indices[e]] += a[i] * target[i] * data[e]
        c, state, active = C[l] * weights[mine], (int(seed) * 2654435761 + l) % 2**64, len(mine)
        for _ in range(max_iter):
            whole = active == len(mine)
            state = shuffle(order, active, np.uint64(state))
            before, visit = a.copy(), 0
            while visit < active:
                i = order[visit]
                visit += 1
                if c[i] == 0:
                    continue
                e = slice(indptr[mine[i]], indptr[mine[i] + 1])
                margin = target[i] * (data[e] @ w[indices[e]] + b)
                gradient = margin - 1 + a[i] / (2 * c[i])
                new = max(0.0, a[i] - gradient / (norms[mine[i]] + 1 / (2 * c[i])))
                if new == a[i] and margin - 1 > _kernels.SHRINK_MARGIN:
                    visit, active = visit - 1, active - 1
                    order[visit], order[active] = order[active], order[visit]
                step = target[i] * (new - a[i])
                a[i] = new
                w[indices[e]] += step * data[e]
                b += step
            if np.abs(a - before).max(initial=0.0) <= tol:
                if whole:
                    break
                active = len(mine)
        bias[l] = b
        kept = np.flatnonzero((np.abs(w) >= prune) & (w != 0))
        counts[l], stop = len(kept), filled + len(kept)
        values[filled:stop], columns[filled:stop] = w[kept], kept
        filled = stop
    return last, filled
