"""`mlgt.classifiers._kernels`: coordinate descent over a tile, one vector operation per step."""

import numpy as np
from scipy.special import expit as sigmoid

from mlgt.classifiers._kernels import START_LOGIT, TILE


def _row(indptr, indices, data, i):
    e = slice(indptr[i], indptr[i + 1])
    return indices[e], data[e]


def in_rows(*arrays):
    return (array.reshape(-1, TILE) for array in arrays)


def _costs(weight, sign, cost):
    return weight * np.where(sign > 0, cost[1], cost[0])


def sweep_squared_hinge(indptr, indices, data, order, norms, weights, sign, cost, dual, W, b, _, stats):
    sign, cost, dual, W, stats = in_rows(sign, cost, dual, W, stats)
    for i in order:
        features, x = _row(indptr, indices, data, i)
        margin = sign[i] * (x @ W[features] + b)
        c, old = _costs(weights[i], sign[i], cost), dual[i].copy()
        new = np.maximum(0, old - (margin - 1 + old / (2 * c)) / (norms[i] + 1 / (2 * c)))
        step = sign[i] * (new - old)
        dual[i] = new
        W[features] += np.outer(x, step)
        b += step
        stats[0] += c * np.maximum(0, 1 - margin) ** 2
        stats[1] += new**2 / (4 * c) - new
        stats[2] += step * (2 * sign[i] * margin + step * norms[i])


def softplus(u):
    return np.logaddexp(0, u)


def _logit_step(u, c, norm, margin):
    """Bisection on the monotone v + margin + norm c (sigmoid(v) - sigmoid(u)) = 0."""
    alpha = c * sigmoid(u)
    low, high = norm * alpha - margin - norm * c, norm * alpha - margin
    for _ in range(50):
        v = (low + high) / 2
        above = v + margin + norm * (c * sigmoid(v) - alpha) > 0
        low, high = np.where(above, low, v), np.where(above, v, high)
    return v


def sweep_logistic(indptr, indices, data, order, norms, weights, sign, cost, dual, W, b, _, stats):
    sign, cost, dual, W, stats = in_rows(sign, cost, dual, W, stats)
    for i in order:
        features, x = _row(indptr, indices, data, i)
        margin = sign[i] * (x @ W[features] + b)
        c, u = _costs(weights[i], sign[i], cost), dual[i].copy()
        v = np.maximum(START_LOGIT, _logit_step(u, c, norms[i], margin))
        step = sign[i] * c * (sigmoid(v) - sigmoid(u))
        dual[i] = v
        W[features] += np.outer(x, step)
        b += step
        stats[0] += c * softplus(-margin)
        stats[1] -= c * (sigmoid(v) * softplus(-v) + sigmoid(-v) * softplus(v))
        stats[2] += step * (2 * sign[i] * margin + step * norms[i])


def loss_squared_hinge(indptr, indices, data, weights, sign, cost, W, b, _, loss):
    sign, cost, W = in_rows(sign, cost, W)
    for i in range(len(sign)):
        features, x = _row(indptr, indices, data, i)
        margin = sign[i] * (x @ W[features] + b)
        loss += _costs(weights[i], sign[i], cost) * np.maximum(0, 1 - margin) ** 2


def loss_logistic(indptr, indices, data, weights, sign, cost, W, b, _, loss):
    sign, cost, W = in_rows(sign, cost, W)
    for i in range(len(sign)):
        features, x = _row(indptr, indices, data, i)
        margin = sign[i] * (x @ W[features] + b)
        loss += _costs(weights[i], sign[i], cost) * softplus(-margin)
