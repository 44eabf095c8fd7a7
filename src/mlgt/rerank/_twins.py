"""`_kernels.fit_labels` in plain NumPy, same signature: read this first."""

import numpy as np

from ._kernels import shuffle


def fit_labels(
    indptr, indices, data, p, norms, weights, label_ptr, rows, positive, first, last, C, tol, max_iter,
    prune, seed, bias,
):  # fmt: skip
    values, columns, counts = [], [], []
    for l in range(first, last):
        own = slice(label_ptr[l], label_ptr[l + 1])
        mine, target = rows[own], np.where(positive[own], 1.0, -1.0)
        w, b, alpha, order = np.zeros(p), 0.0, np.zeros(len(mine)), np.arange(len(mine))
        c, state = C * weights[mine], (int(seed) * 2654435761 + l) % 2**64
        for _ in range(max_iter):
            state = shuffle(order, np.uint64(state))
            before = alpha.copy()
            for i in order[c[order] > 0]:
                e = slice(indptr[mine[i]], indptr[mine[i] + 1])
                margin = target[i] * (data[e] @ w[indices[e]] + b)
                gradient = margin - 1 + alpha[i] / (2 * c[i])
                new = max(0.0, alpha[i] - gradient / (norms[mine[i]] + 1 / (2 * c[i])))
                step = target[i] * (new - alpha[i])
                alpha[i] = new
                w[indices[e]] += step * data[e]
                b += step
            if np.abs(alpha - before).max(initial=0.0) <= tol:
                break
        bias[l] = b
        kept = np.flatnonzero((np.abs(w) >= prune) & (w != 0))
        values.append(w[kept].astype(np.float32))
        columns.append(kept.astype(np.int32))
        counts.append(len(kept))
    return np.concatenate(values), np.concatenate(columns), np.array(counts, np.int64)
