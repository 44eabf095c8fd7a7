"""Dual coordinate descent over one tile of groups, compiled.

A tile is TILE groups side by side: W (p, TILE) and b (TILE,) are their weights, sign (n, TILE) their
targets as -1 and +1, dual (n, TILE) their dual variables, cost (2, TILE) those of negatives and positives.
A visit of a row reads it once and updates every group of the tile, so each weight row is a contiguous run
of TILE floats and the inner loops vectorise. Kernels see all arrays flat, in runs of TILE, as is
`space`, a work space of SPACE floats.

A sweep adds to the rows of `sums` (3, TILE), float64:
    0  sum of the losses, each at the weights when its row was visited (stale for all but the last row)
    1  sum of the conjugate losses at the new dual variables (exact: every row is visited once)
    2  change of |w|^2 + b^2 (exact)
from which `solver` estimates the duality gap without another pass over the data.

Shrinking, which makes liblinear fast, gains nothing here: a row that is settled for one group is active for
another of the 64.
"""

import math

import numpy as np
from numpy import uint64

from ..compile.kernels import helper, kernel

TILE = 64
"""Groups per tile; a literal, because LLVM vectorises loops of known length best. 32 is slower."""

_ZERO, _HALF, _ONE, _TWO = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(2.0)
_1, _2, _3, _4, _T = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(TILE)
"""Numbers that are made once: compiling a call that makes one takes some milliseconds."""

_COSTS, _HALVES, _SUMS = np.uint64(2 * TILE), np.uint64(4 * TILE), np.uint64(6 * TILE)
"""Where `space` has costs and 1 / 2c of negatives and positives, and what rows add to `sums`; it begins
with margins and steps."""
SPACE = 9 * TILE
ROWS_PER_SUM = 32
"""Rows whose losses are summed in float32 before they are added to `sums`: to add each of them there would
take longer than a step for a row of few entries."""

START_LOGIT = -18.0
"""Start of the logistic dual variables u = logit(alpha / cost); alpha is 0 in float32."""


@helper(fastmath=True, error_model="numpy", forceinline=True)
def _margins(indices, data, begin, end, W, b, out):
    """out = b + sum_e data[e] W[indices[e]], four weight rows at a time."""
    for t in range(_T):
        out[t] = b[t]
    e = begin
    while e + _4 <= end:
        w0, x0 = uint64(indices[e]) * _T, data[e]
        w1, x1 = uint64(indices[e + _1]) * _T, data[e + _1]
        w2, x2 = uint64(indices[e + _2]) * _T, data[e + _2]
        w3, x3 = uint64(indices[e + _3]) * _T, data[e + _3]
        for t in range(_T):
            out[t] += x0 * W[w0 + t] + x1 * W[w1 + t] + x2 * W[w2 + t] + x3 * W[w3 + t]
        e += _4
    while e < end:
        w0, x0 = uint64(indices[e]) * _T, data[e]
        for t in range(_T):
            out[t] += x0 * W[w0 + t]
        e += _1


@helper(fastmath=True, error_model="numpy", forceinline=True)
def _add(indices, data, begin, end, space, W, b):
    """W[indices[e]] += data[e] delta and b += delta, the second run of `space`."""
    e = begin
    while e < end:
        w0, x0 = uint64(indices[e]) * _T, data[e]
        for t in range(_T):
            W[w0 + t] += x0 * space[_T + t]
        e += _1
    for t in range(_T):
        b[t] += space[_T + t]


@kernel(fastmath=True, error_model="numpy")
def sweep_squared_hinge(
    indptr, indices, data, order, norms, weights, sign, cost, dual, W, b, space, sums
):  # fmt: skip
    """Visit the rows in `order`; eq. (3) of `solver` for every group of the tile.

    All that belongs to a lane is in one array, `space`, in runs of TILE: LLVM vectorises no loop that
    has to check many arrays for overlaps first.
    """
    for t in range(_2 * _T):
        space[_COSTS + t] = cost[t]
        space[_HALVES + t] = _HALF / cost[t]
    for t in range(_3 * _T):
        space[_SUMS + t] = _ZERO
    for visit in range(order.shape[0]):
        i = order[visit]
        begin, end, own = uint64(indptr[i]), uint64(indptr[i + 1]), uint64(i) * _T
        _margins(indices, data, begin, end, W, b, space)
        norm, weight = norms[i], weights[i]
        inverse = _ONE / weight
        moved = _ZERO
        for t in range(_T):
            target = np.float32(sign[own + t])
            positive = target > _ZERO
            c0, c1 = space[_COSTS + t], space[_COSTS + _T + t]
            h0, h1 = space[_HALVES + t], space[_HALVES + _T + t]
            c, half = weight * (c1 if positive else c0), inverse * (h1 if positive else h0)
            old, margin = dual[own + t], space[t]
            slack = _ONE - target * margin
            new = max(_ZERO, old + (slack - half * old) / (norm + half))
            step = target * (new - old)
            dual[own + t] = new
            space[_T + t] = step
            moved += abs(step)  # a maximum is not vectorised
            slack = max(_ZERO, slack)
            space[_SUMS + t] += c * slack * slack
            space[_SUMS + _T + t] += new * (_HALF * half * new - _ONE)
            space[_SUMS + _2 * _T + t] += step * (_TWO * margin + step * norm)
        if (visit + 1) % ROWS_PER_SUM == 0 or visit + 1 == order.shape[0]:
            for t in range(_3 * _T):
                sums[t] += space[_SUMS + t]
                space[_SUMS + t] = _ZERO
        if moved > 0.0:
            _add(indices, data, begin, end, space, W, b)


_margins_exactly, _add_exactly = (
    kernel(error_model="numpy", forceinline=True)(part) for part in (_margins, _add)
)
"""The same without fast mathematics."""


@helper(error_model="numpy", forceinline=True)
def _softplus(u):
    """log(1 + exp(u)) without overflow."""
    return max(u, np.float32(0.0)) + np.float32(math.log1p(math.exp(-abs(u))))


@helper(error_model="numpy", forceinline=True)
def _logit_step(u, c, norm, margin):
    """Solve v + margin + norm c (sigmoid(v) - sigmoid(u)) = 0 for v.

    Newton steps within a shrinking bracket; a step that leaves it or is not half of the step before is
    replaced by a bisection, because Newton alone can cycle if norm c is large.
    """
    alpha = c / (np.float32(1.0) + np.float32(math.exp(-u)))
    high = norm * alpha - margin
    low = high - norm * c
    v = min(max(u, low), high)
    last = high - low
    for _ in range(40):
        s = np.float32(1.0) / (np.float32(1.0) + np.float32(math.exp(-v)))
        residual = v + margin + norm * (c * s - alpha)
        if residual > 0.0:
            high = min(high, v)
        else:
            low = max(low, v)
        step = residual / (np.float32(1.0) + norm * c * s * (np.float32(1.0) - s))
        following = v - step
        if following <= low or following >= high or abs(step) > np.float32(0.5) * abs(last):
            following = np.float32(0.5) * (low + high)
        last = following - v
        v = following
        if abs(last) < np.float32(1e-3):
            break
    return v


@kernel(error_model="numpy")
def sweep_logistic(
    indptr, indices, data, order, norms, weights, sign, cost, dual, W, b, space, sums
):  # fmt: skip
    """Visit the rows in `order`; eq. (4) of `solver` for every group of the tile."""
    for visit in range(order.shape[0]):
        i = order[visit]
        begin, end, own = uint64(indptr[i]), uint64(indptr[i + 1]), uint64(i) * _T
        _margins_exactly(indices, data, begin, end, W, b, space)
        norm, weight = norms[i], weights[i]
        for t in range(_T):
            positive, margin = sign[own + t] > 0, space[t]
            target = np.float32(1.0) if positive else np.float32(-1.0)
            c = weight * (cost[_T + t] if positive else cost[t])
            u = dual[own + t]
            v = max(np.float32(START_LOGIT), _logit_step(u, c, norm, target * margin))
            old = c / (np.float32(1.0) + np.float32(math.exp(-u)))
            share = np.float32(1.0) / (np.float32(1.0) + np.float32(math.exp(-v)))
            step = target * (c * share - old)
            dual[own + t] = v
            space[_T + t] = step
            sums[t] += c * _softplus(-target * margin)
            sums[_T + t] -= c * (share * _softplus(-v) + (np.float32(1.0) - share) * _softplus(v))
            sums[_2 * _T + t] += step * (np.float32(2.0) * margin + step * norm)
        _add_exactly(indices, data, begin, end, space, W, b)


@kernel(fastmath=True, error_model="numpy")
def loss_squared_hinge(indptr, indices, data, weights, sign, cost, W, b, space, loss):
    """Add the loss of every row at the current weights to `loss` (TILE,), float64."""
    for t in range(_2 * _T):  # `space` has margins, losses, costs, in one array as in a sweep
        space[_COSTS + t] = cost[t]
    for i in range(indptr.shape[0] - 1):
        _margins(indices, data, uint64(indptr[i]), uint64(indptr[i + 1]), W, b, space)
        own, weight = uint64(i) * _T, weights[i]
        for t in range(_T):
            target = np.float32(sign[own + t])
            c0, c1 = space[_COSTS + t], space[_COSTS + _T + t]
            slack = max(_ZERO, _ONE - target * space[t])
            space[_T + t] = weight * (c1 if target > _ZERO else c0) * slack * slack
        for t in range(_T):
            loss[t] += space[_T + t]


@kernel(error_model="numpy")
def loss_logistic(indptr, indices, data, weights, sign, cost, W, b, space, loss):
    """Add the loss of every row at the current weights to `loss` (TILE,), float64."""
    for i in range(indptr.shape[0] - 1):
        _margins_exactly(indices, data, uint64(indptr[i]), uint64(indptr[i + 1]), W, b, space)
        own, weight = uint64(i) * _T, weights[i]
        for t in range(_T):
            positive = sign[own + t] > 0
            target = np.float32(1.0) if positive else np.float32(-1.0)
            c = weight * (cost[_T + t] if positive else cost[t])
            loss[t] += c * _softplus(-target * space[t])
