"""Compiled kernels of the ranker: fit the labels of a range, score candidates."""

import numpy as np
from numba import int64, uint32, uint64

from .._core.compile import helper, kernel

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)

LIST_COST = 4
"""Time for an entry of a list of labels, as a multiple of that for a weight that is scanned."""

SHRINK_MARGIN = np.float32(0.1)
"""Margin beyond 1 from which on a row with a dual variable of 0 is set aside."""


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
    indptr, indices, data, norms, weights, label_ptr, rows, positive, s_ptr, s_columns, s_values, s_bias,
    p, first, last, C, tol, max_iter, prune, seed, wanted, alpha, bias,
):  # fmt: skip
    """Dual coordinate descent for labels first .. last-1, one after another on a shared weight vector.

    It goes on from the dual variables `alpha` and leaves them where it stops. Returns the kept weights as
    (values, columns in any order, counts per label); writes `bias`. `ranker` has the objective, `solver`
    the step.
    """
    w = np.zeros(p, np.float32)
    capacity = 1024
    values, columns = np.empty(capacity, np.float32), np.empty(capacity, np.int32)
    counts = np.zeros(last - first, np.int64)
    filled = int64(0)  # a literal 0 has compiled code of its own
    for l in range(first, last):
        if not wanted[l]:
            continue
        own, start = slice(label_ptr[l], label_ptr[l + 1]), slice(s_ptr[l], s_ptr[l + 1])
        mine, a = rows[own], alpha[own]
        b = _start(
            indptr, indices, data, mine, positive[own], a, s_columns[start], s_values[start], w, s_bias[l]
        )
        state = uint64(seed) * uint64(2654435761) + uint64(l)
        bias[l] = _descend(
            indptr, indices, data, norms, weights, mine, positive[own], C[l], tol, max_iter, state, a, w, b
        )
        if filled + p > capacity:
            capacity = 2 * (filled + p)
            before, places = values, columns
            values, columns = np.empty(capacity, np.float32), np.empty(capacity, np.int32)
            for e in range(filled):  # np.concatenate would take seconds to compile
                values[e], columns[e] = before[e], places[e]
        begun = filled
        filled = _take(w, s_columns[start], prune, values, columns, filled)
        filled = _take_rows(indptr, indices, mine, a, w, prune, values, columns, filled)
        counts[l - first] = filled - begun
    return values[:filled], columns[:filled], counts


@helper(error_model="numpy", fastmath=True)
def _start(indptr, indices, data, rows, positive, alpha, columns, values, w, b):
    """Fill w with the start and what the dual variables add to it; returns the bias."""
    for e in range(columns.shape[0]):
        w[columns[e]] = values[e]
    for i in range(rows.shape[0]):
        if alpha[i] > 0.0:
            step = alpha[i] if positive[i] else -alpha[i]
            b += step
            for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
                w[uint32(indices[e])] += step * data[e]
    return b


@helper(error_model="numpy", fastmath=True)
def _descend(indptr, indices, data, norms, weights, rows, positive, C, tol, max_iter, state, alpha, w, b):
    """Sweep over a label's rows until no dual variable moves by more than `tol`; returns the bias."""
    size = rows.shape[0]
    order = np.arange(size)
    active = size
    for _ in range(max_iter):
        whole = active == size
        state = shuffle(order[:active], state)
        moved = np.float32(0.0)
        visit = 0
        while visit < active:
            i = order[visit]
            visit += 1
            row = rows[i]
            if weights[row] == 0.0:
                continue
            half = np.float32(0.5) / (C * weights[row])
            target = np.float32(1.0) if positive[i] else np.float32(-1.0)
            own, x = indices[indptr[row] : indptr[row + 1]], data[indptr[row] : indptr[row + 1]]
            margin = b
            for e in range(len(own)):
                margin += x[e] * w[uint32(own[e])]
            old = alpha[i]
            slack = np.float32(1.0) - target * margin
            new = max(np.float32(0.0), old + (slack - half * old) / (norms[row] + half))
            if new == old:
                if slack < -SHRINK_MARGIN:  # set aside until the others have settled
                    visit -= 1
                    active -= 1
                    order[visit], order[active] = order[active], order[visit]
                continue
            alpha[i] = new
            moved = max(moved, abs(new - old))
            step = target * (new - old)
            b += step
            for e in range(len(own)):
                w[uint32(own[e])] += step * x[e]
        if moved <= tol:
            if whole:
                break
            active = size
    return b


@helper(error_model="numpy")
def _take_rows(indptr, indices, rows, alpha, w, prune, values, columns, filled):
    """Move the weights of the features of all `rows` out of w, as `_take` does."""
    for i in range(rows.shape[0]):
        if alpha[i] > 0.0:
            own = indices[indptr[rows[i]] : indptr[rows[i] + 1]]
            filled = _take(w, own, prune, values, columns, filled)
    for i in range(rows.shape[0]):  # weights of rows whose dual variables returned to 0
        if alpha[i] == 0.0:
            for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
                w[uint32(indices[e])] = 0.0
    return filled


@helper(error_model="numpy")
def _take(w, own, prune, values, columns, filled):
    """Move the weights of the features `own` out of w, and keep those of at least `prune`."""
    for column in own:
        value = w[column]
        if value != 0.0:
            w[column] = 0.0
            if abs(value) >= prune:
                values[filled] = value
                columns[filled] = column
                filled += 1
    return filled


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def score_candidates(
    indptr, indices, data, w_ptr, w_columns, w_values, w_scale, bias, f_ptr, f_labels, f_values, candidates,
    space, out,
):  # fmt: skip
    """out[i, j] = bias_l + w_l x_i for l = candidates[i, j]; `space` (p or d,) is a work space of zeros.

    The weights of the candidates are scanned or, where that is less work, those of the features of the row:
    f_values[f_ptr[j] : f_ptr[j + 1]] of feature j. Without such lists f_ptr is empty.
    """
    for i in range(candidates.shape[0]):
        own, x = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        by_feature = len(f_ptr) > 0 and _lists_are_shorter(own, f_ptr, candidates[i], w_ptr)
        if by_feature:
            for e in range(len(own)):
                run = slice(f_ptr[own[e]], f_ptr[own[e] + 1])
                _add_list(x[e], f_labels[run], f_values[run], space)
        else:
            for e in range(len(own)):
                space[own[e]] = x[e]
        for j in range(candidates.shape[1]):
            l = candidates[i, j]
            if l >= 0:
                if by_feature:
                    total = space[l]
                else:  # in slices, whose indices are known not to be negative: else no vectors
                    total = _scan(
                        w_columns[w_ptr[l] : w_ptr[l + 1]], w_values[w_ptr[l] : w_ptr[l + 1]], space
                    )
                out[i, j] = bias[l] + w_scale[l] * total
        for e in range(len(own)):
            if by_feature:
                for l in f_labels[f_ptr[own[e]] : f_ptr[own[e] + 1]]:
                    space[l] = 0.0
            else:
                space[own[e]] = 0.0


@helper(error_model="numpy", fastmath={"reassoc", "contract"})
def _scan(columns, values, x):
    total = np.float32(0.0)
    for e in range(len(columns)):
        total += np.float32(values[e]) * x[columns[e]]
    return total


@helper(error_model="numpy", fastmath={"reassoc", "contract"})
def _add_list(x, labels, values, total):
    for q in range(len(labels)):
        total[labels[q]] += x * np.float32(values[q])


@helper(error_model="numpy", fastmath={"reassoc", "contract"})
def _lists_are_shorter(features, f_ptr, candidates, w_ptr):
    """True if the features' lists, an entry of which takes LIST_COST times as long, are less work."""
    work = 0
    for j in features:
        work += f_ptr[j + 1] - f_ptr[j]
    work *= LIST_COST
    for l in candidates:
        if l >= 0:
            work -= w_ptr[l + 1] - w_ptr[l]
    return work < 0


@kernel(error_model="numpy")
def pair_up(y_ptr, y_labels, candidates, indptr, rows, positive):
    """Training pairs by label: if `rows` is empty, count them in `indptr` (d + 1,), so far zeros; else fill
    `rows` and `positive`."""
    n, K = candidates.shape
    d = indptr.shape[0] - 1
    if rows.shape[0] == 0:
        for i in range(n):
            for e in range(y_ptr[i], y_ptr[i + 1]):
                indptr[y_labels[e] + 1] += 1
            for j in range(K):
                l = candidates[i, j]
                if l >= 0 and not _has(y_labels[y_ptr[i] : y_ptr[i + 1]], l):
                    indptr[l + 1] += 1
        for l in range(d):
            indptr[l + 1] += indptr[l]
        return
    at = indptr[:-1].copy()
    for i in range(n):
        own = y_labels[y_ptr[i] : y_ptr[i + 1]]
        for l in own:
            rows[at[l]] = i
            positive[at[l]] = True
            at[l] += 1
        for j in range(K):
            l = candidates[i, j]
            if l >= 0 and not _has(own, l):
                rows[at[l]] = i
                positive[at[l]] = False
                at[l] += 1


@helper(error_model="numpy")
def _has(labels, l):
    found = False
    for other in labels:
        found |= other == l
    return found
