"""Compiled kernels of the ranker: fit the labels of a range, score candidates."""

import numpy as np
import scipy.sparse as sp
from numpy import uint32, uint64

from .._core.bits import BIT_AT, DE_BRUIJN
from .._core.csr import places_of
from .._core.prefetch import prefetch, prefetch_runs
from ..compile.kernels import ANY, exceeds, helper, kernel

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)
_33 = np.uint64(33)
_0, _1, _6, _58, _63 = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(58), np.uint64(63)
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)

LIST_COST = 4
"""Time for an entry of a list of labels, as a multiple of that for a weight that is scanned."""

AHEAD = 4
"""Candidates between the one whose weights are scanned and the one whose weights are asked for."""

SUM = 2.0**23
"""Sum of the magnitudes of a row in its unit: times 127, the largest byte, it fits into 32 bits."""

MAX_PRODUCTS = 1 << 24
"""Products of a call up to which SciPy takes the place of a kernel that was never compiled."""
MAX_TOTALS = 1 << 25
"""Rows times labels that are candidates, over all calls, up to which it does."""

SHRINK_MARGIN = np.float32(0.1)
"""Margin beyond 1 from which on a row with a dual variable of 0 is set aside."""


@kernel(error_model="numpy", fastmath=True)
def fit_labels(
    indptr, indices, data, norms, weights, label_ptr, rows, positive, s_ptr, s_columns, s_values, s_factor,
    s_bias, first, last, C, tol, max_iter, prune, seed, wanted, w, seen, ptr, columns, x, steps, order,
    filled, alpha, bias, counts, values, features,
):  # fmt: skip
    """Dual coordinate descent for labels first .. last-1, one after another on a shared weight vector.

    It goes on from the dual variables `alpha` and leaves them where it stops. Writes `bias`, and the kept
    weights from place `filled` on: `counts` per label, `values` and ascending `features`. Returns the first
    label that was not fitted, because there may be no room for its weights, and `filled`. Work spaces are
    `w` (p,) and `seen` (a bit for each of p), of zeros; `ptr`, `columns` and `x`, a copy of the rows of a
    label, which sweeps read again and again; `steps` (2, rows) and `order`. `ranker` has the objective,
    `solver` the step.
    """
    for l in range(first, last):
        if filled + w.shape[0] > values.shape[0]:
            return l, filled
        if wanted[l]:
            begin, end = label_ptr[l], label_ptr[l + 1]
            for e in range(s_ptr[l], s_ptr[l + 1]):
                j = uint64(s_columns[e])
                w[j] = s_factor * s_values[e]
                seen[j >> _6] |= _1 << (j & _63)
            _copy_rows(
                indptr, indices, data, norms, weights, rows, begin, end, C[l], seen, ptr, columns, x, steps
            )
            b = s_bias[l]
            for i in range(begin, end):
                if alpha[i] > 0.0:
                    step = alpha[i] if positive[i] else -alpha[i]
                    b += step
                    for e in range(ptr[i - begin], ptr[i - begin + 1]):
                        w[uint32(columns[e])] += step * x[e]
            state = uint64(seed) * uint64(2654435761) + uint64(l)
            bias[l] = _descend(
                ptr, columns, x, steps, begin, end, positive, tol, max_iter, state, order, alpha, w, b
            )
            counts[l] = -filled
            filled = _take_weights(w, seen, prune, values, features, filled)
            counts[l] += filled
    return last, filled


@helper(error_model="numpy")
def _copy_rows(
    indptr, indices, data, norms, weights, rows, begin, end, C, seen, ptr, columns, x, steps
):  # fmt: skip
    """Copy the rows of a label, with 1 / 2c and 1 / (q + 1 / 2c) of each, and note its features."""
    copied = ptr[0] = 0
    for i in range(begin, end):
        if i + 2 * AHEAD < end:
            prefetch(indptr, rows[i + 2 * AHEAD])
        if i + AHEAD < end:
            soon = rows[i + AHEAD]
            prefetch(norms, soon)
            prefetch(weights, soon)
            prefetch(indices, indptr[soon])
            prefetch(data, indptr[soon])
        row = rows[i]
        for e in range(uint64(indptr[row]), uint64(indptr[row + 1])):
            j = uint64(indices[e])
            seen[j >> _6] |= _1 << (j & _63)
            columns[copied], x[copied] = j, data[e]
            copied += 1
        at = i - begin
        ptr[at + 1] = copied
        steps[0, at] = steps[1, at] = _ZERO
        if weights[row] > _ZERO:
            steps[0, at] = _HALF / (C * weights[row])
            steps[1, at] = _ONE / (norms[row] + steps[0, at])


@helper(error_model="numpy")
def _take_weights(w, seen, prune, values, features, filled):
    """Move the weights of the features seen out of w, and keep those of at least `prune`."""
    for word in range(seen.shape[0]):
        left = seen[word]
        seen[word] = _0
        while left != _0:
            lowest = left & (~left + _1)
            left ^= lowest
            j = 64 * word + BIT_AT[(lowest * DE_BRUIJN) >> _58]
            value = w[j]
            w[j] = _ZERO
            values[filled], features[filled] = value, j
            filled += (abs(value) >= prune) & (value != _ZERO)
    return filled


@helper(error_model="numpy")
def shuffle(order, size, state):
    """Fisher and Yates for order[:size] with a linear congruential generator; returns its next state."""
    for i in range(size - 1, 0, -1):
        state = state * _MULTIPLIER + _INCREMENT
        j = (state >> _33) % uint64(i + 1)
        order[i], order[j] = order[j], order[i]
    return state


@helper(error_model="numpy", fastmath=True)
def _descend(
    ptr, columns, x, steps, begin, end, positive, tol, max_iter, state, order, alpha, w, b
):  # fmt: skip
    """Sweep over a label's rows until no dual variable moves by more than `tol`; returns the bias."""
    size = end - begin
    for i in range(size):
        order[i] = i
    active = size
    for _ in range(max_iter):
        whole = active == size
        state = shuffle(order, active, state)
        moved = _ZERO
        visit = 0
        while visit < active:
            i = order[visit]
            visit += 1
            if steps[1, i] == _ZERO:  # a row without weight
                continue
            target = _ONE if positive[begin + i] else -_ONE
            own, stop = uint64(ptr[i]), uint64(ptr[i + 1])
            margin = b
            for e in range(own, stop):
                margin += x[e] * w[uint32(columns[e])]
            old = alpha[begin + i]
            slack = _ONE - target * margin
            new = old + (slack - steps[0, i] * old) * steps[1, i]
            new = new if new > _ZERO else _ZERO
            if new == old:
                if slack < -SHRINK_MARGIN:  # set aside until the others have settled
                    visit -= 1
                    active -= 1
                    order[visit], order[active] = order[active], order[visit]
                continue
            alpha[begin + i] = new
            step = new - old
            moved = abs(step) if abs(step) > moved else moved
            step = target * step
            b += step
            for e in range(own, stop):
                w[uint32(columns[e])] += step * x[e]
        if moved <= tol:
            if whole:
                break
            active = size
    return b


def _scan_candidates(
    indptr, indices, data, w_ptr, w_columns, w_values, w_scale, bias, candidates, space, out
):  # fmt: skip
    """`scan_candidates` by one product of whole numbers, with the same bits, unless it is a large one."""
    if w_values.dtype != np.int8:
        return NotImplemented  # sums of floats depend on their order
    there, n = candidates >= 0, len(candidates)
    ids = np.unique(candidates[there])
    if len(ids) == 0:
        return None
    if exceeds(n, len(ids), MAX_TOTALS):
        return NotImplemented
    lengths = w_ptr[ids + 1] - w_ptr[ids]
    own = places_of(w_ptr[ids], lengths)
    columns, W_ptr = w_columns[own].astype(np.int32), np.concatenate([[0], np.cumsum(lengths)])
    if np.bincount(columns, minlength=len(space))[indices].sum() > MAX_PRODUCTS:
        return NotImplemented
    W = sp.csr_array((w_values[own].astype(np.int32), columns, W_ptr), shape=(len(ids), len(space)))
    row = np.repeat(np.arange(n), np.diff(indptr))
    sizes = np.bincount(row, np.abs(data.astype(np.float64)), n)  # added up in their order
    unit = np.where(sizes > 0, sizes / SUM, 1.0)
    x = (data / unit[row]).astype(np.int32)
    totals = (sp.csr_array((x, indices, indptr), shape=(n, len(space))) @ W.T).toarray()
    totals = np.take_along_axis(totals, np.searchsorted(ids, np.where(there, candidates, ids[0])), axis=1)
    scale = (w_scale[candidates] * unit[:, None]).astype(np.float32)
    out[there] = (bias[candidates] + scale * totals.astype(np.float32))[there]
    return None


@kernel(light=lambda *own: _scan_candidates(*own[:8], *own[11:]), error_model="numpy")
def score_candidates(
    indptr, indices, data, w_ptr, w_columns, w_values, w_scale, bias, f_ptr, f_labels, f_values, candidates,
    space, out,
):  # fmt: skip
    """out[i, j] = bias_l + w_l x_i for l = candidates[i, j]; `space` (p or d,) is a work space of zeros.

    Where weights are bytes, `space` has whole numbers, and eq. (4) of `ranker` the same bits in any order.
    The weights of the candidates are scanned or, where that is less work, those of the features of the row:
    f_values[f_ptr[j] : f_ptr[j + 1]] of feature j.
    """
    n, K = candidates.shape
    for i in range(n):
        begin, end = uint64(indptr[i]), uint64(indptr[i + 1])
        unit = _unit(data, begin, end)
        by_feature = _lists_are_shorter(indices, begin, end, f_ptr, candidates, i, w_ptr)
        for e in range(begin, end):
            x = space.dtype.type(data[e] / unit)
            if by_feature:
                f = indices[e]
                for q in range(uint64(f_ptr[f]), uint64(f_ptr[f + 1])):
                    space[f_labels[q]] += x * space.dtype.type(f_values[q])
            else:
                space[indices[e]] = x
        for j in range(K):
            l = candidates[i, j]
            if l >= 0:
                total = (
                    space[l] if by_feature else _scan(w_columns, w_values, w_ptr[l], w_ptr[l + 1], space)
                )
                out[i, j] = bias[l] + np.float32(w_scale[l] * unit) * np.float32(total)
        for e in range(begin, end):
            if by_feature:
                for q in range(f_ptr[indices[e]], f_ptr[indices[e] + 1]):
                    space[f_labels[q]] = 0
            else:
                space[indices[e]] = 0


@kernel(light=_scan_candidates, limit=ANY, error_model="numpy")
def scan_candidates(
    indptr, indices, data, w_ptr, w_columns, w_values, w_scale, bias, candidates, space, out
):  # fmt: skip
    """`score_candidates` without lists, which takes half as long to compile."""
    for i in range(candidates.shape[0]):
        begin, end = uint64(indptr[i]), uint64(indptr[i + 1])
        unit = _unit(data, begin, end)
        _prefetch_labels(candidates, i, w_ptr, w_scale, bias)
        for e in range(begin, end):
            space[indices[e]] = space.dtype.type(data[e] / unit)
        for j in range(-AHEAD, candidates.shape[1]):
            if j + AHEAD < candidates.shape[1] and candidates[i, j + AHEAD] >= 0:
                l = candidates[i, j + AHEAD]
                prefetch_runs(w_columns, w_values, w_ptr[l], w_ptr[l + 1])
            if j >= 0 and candidates[i, j] >= 0:
                l = candidates[i, j]
                total = _scan(w_columns, w_values, w_ptr[l], w_ptr[l + 1], space)
                out[i, j] = bias[l] + np.float32(w_scale[l] * unit) * np.float32(total)
        for e in range(begin, end):
            space[indices[e]] = 0


@helper(error_model="numpy")
def _prefetch_labels(candidates, i, w_ptr, w_scale, bias):
    """Ask for what is known of the candidates of row i."""
    for j in range(candidates.shape[1]):
        l = candidates[i, j]
        prefetch(w_ptr, l)
        prefetch(w_scale, l)
        prefetch(bias, l)


@helper(error_model="numpy")
def _unit(data, begin, end):
    """The unit of a row: its values add up to SUM of them."""
    size = 0.0
    for e in range(begin, end):
        size += abs(np.float64(data[e]))
    return size / SUM if size > 0.0 else 1.0


@helper(error_model="numpy")
def _scan(columns, values, begin, end, x):
    """Sum of the values times x; by unsigned places, as LLVM makes no vectors if they could be negative."""
    total = x.dtype.type(0)
    for e in range(uint64(begin), uint64(end)):
        total = x.dtype.type(total + x.dtype.type(values[e]) * x[columns[e]])
    return total


@helper(error_model="numpy")
def _lists_are_shorter(indices, begin, end, f_ptr, candidates, i, w_ptr):
    """True if the features' lists, an entry of which takes LIST_COST times as long, are less work than the
    weights of the candidates of row i."""
    work = 0
    for e in range(begin, end):
        work += f_ptr[indices[e] + 1] - f_ptr[indices[e]]
    work *= LIST_COST
    for j in range(candidates.shape[1]):
        l = candidates[i, j]
        if l >= 0:
            work -= w_ptr[l + 1] - w_ptr[l]
    return work < 0
