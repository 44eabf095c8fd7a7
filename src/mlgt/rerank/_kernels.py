"""Compiled kernels of the ranker: fit the labels of a range, score candidates."""

import numpy as np
from numba import uint64

from ..compile import kernel

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)


@kernel(error_model="numpy")
def shuffle(order, state):
    """Fisher and Yates with a linear congruential generator; returns its next state."""
    for i in range(order.shape[0] - 1, 0, -1):
        state = state * _MULTIPLIER + _INCREMENT
        j = (state >> uint64(33)) % uint64(i + 1)
        order[i], order[j] = order[j], order[i]
    return state


@kernel(error_model="numpy", fastmath=True)
def fit_labels(
    indptr, indices, data, p, norms, weights, label_ptr, rows, positive, first, last, C, tol, max_iter,
    prune, seed, bias,
):  # fmt: skip
    """Dual coordinate descent for labels first .. last-1, one after another on a shared weight vector.

    Returns the kept weights as (values, columns, counts per label); writes `bias`. `dual_descent` has
    the step, eq. (3).
    """
    w = np.zeros(p, np.float32)
    touched = np.zeros(p, np.bool_)
    used = np.empty(p, np.int32)
    capacity = 1024
    values, columns = np.empty(capacity, np.float32), np.empty(capacity, np.int32)
    counts = np.zeros(last - first, np.int64)
    filled = 0
    for l in range(first, last):
        begin, size = label_ptr[l], label_ptr[l + 1] - label_ptr[l]
        alpha = np.zeros(size, np.float32)
        order = np.arange(size)
        state = uint64(seed) * uint64(2654435761) + uint64(l)
        b = np.float32(0.0)
        n_used = 0
        for _ in range(max_iter):
            state = shuffle(order, state)
            moved = np.float32(0.0)
            for visit in range(size):
                i = order[visit]
                row = rows[begin + i]
                if weights[row] == 0.0:
                    continue
                half = np.float32(0.5) / (C * weights[row])
                target = np.float32(1.0) if positive[begin + i] else np.float32(-1.0)
                margin = b
                for e in range(indptr[row], indptr[row + 1]):
                    margin += data[e] * w[indices[e]]
                old = alpha[i]
                slack = np.float32(1.0) - target * margin
                new = max(np.float32(0.0), old + (slack - half * old) / (norms[row] + half))
                if new == old:
                    continue
                alpha[i] = new
                moved = max(moved, abs(new - old))
                step = target * (new - old)
                b += step
                for e in range(indptr[row], indptr[row + 1]):
                    column = indices[e]
                    if not touched[column]:
                        touched[column] = True
                        used[n_used] = column
                        n_used += 1
                    w[column] += step * data[e]
            if moved <= tol:
                break
        bias[l] = b
        if filled + n_used > capacity:
            capacity = 2 * (filled + n_used)
            values = np.concatenate((values[:filled], np.empty(capacity - filled, np.float32)))
            columns = np.concatenate((columns[:filled], np.empty(capacity - filled, np.int32)))
        kept = np.sort(used[:n_used])
        for q in range(n_used):
            column = kept[q]
            if abs(w[column]) >= prune and w[column] != 0.0:
                values[filled] = w[column]
                columns[filled] = column
                filled += 1
                counts[l - first] += 1
            w[column] = 0.0
            touched[column] = False
    return values[:filled].copy(), columns[:filled].copy(), counts


@kernel(error_model="numpy")
def score_candidates(indptr, indices, data, w_ptr, w_columns, w_values, bias, candidates, x, out):
    """out[i, j] = bias_l + w_l x_i for l = candidates[i, j]; `x` (p,) is a zeroed work space."""
    for i in range(candidates.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            x[indices[e]] = data[e]
        for j in range(candidates.shape[1]):
            l = candidates[i, j]
            if l >= 0:
                total = bias[l]
                for e in range(w_ptr[l], w_ptr[l + 1]):
                    total += w_values[e] * x[w_columns[e]]
                out[i, j] = total
        for e in range(indptr[i], indptr[i + 1]):
            x[indices[e]] = 0.0
