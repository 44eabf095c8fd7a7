"""Compiled parts of PfastreXML's trees: split the rows of a node, learn the split, find leaves.

Matrices are given as the arrays of CSR: `indptr`, `indices` and, for features, `data`. Scratch arrays of
length d or p are zeros before and after a call.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def rank_labels(rows, gains, indptr, labels, weights, scores, out):
    """Eq. (2) of `pfastrexml`: `out` gets 1 / log2(1 + rank) of the labels of the rows, which are returned.

    `gains` (n,) is 1 / I_i, `weights` (d,) 1 / p_l, `scores` (d,) scratch.
    """
    seen = np.empty(sum([indptr[i + 1] - indptr[i] for i in rows]), np.int64)
    count = 0
    for i in rows:
        for l in labels[indptr[i] : indptr[i + 1]]:
            if scores[l] == 0.0:
                seen[count] = l
                count += 1
            scores[l] += weights[l] * gains[i]
    seen = seen[:count]
    for rank, at in enumerate(np.argsort(-scores[seen])):
        out[seen[at]] = 1.0 / np.log2(2.0 + rank)
    scores[seen] = 0.0
    return seen


@njit(cache=True)
def split_rows(rows, left, gains, indptr, labels, weights, scores, discounts, max_turns):
    """True for the rows that go left, from the random start `left`: rankings and rows move in turns."""
    for _ in range(max_turns):
        seen = rank_labels(rows[left], gains, indptr, labels, weights, scores, discounts[0])
        other = rank_labels(rows[~left], gains, indptr, labels, weights, scores, discounts[1])
        moved = False
        new = left.copy()
        for at in range(rows.size):
            ahead = 0.0
            for l in labels[indptr[rows[at]] : indptr[rows[at] + 1]]:
                ahead += weights[l] * (discounts[0, l] - discounts[1, l])
            if ahead != 0.0 and (ahead > 0.0) != left[at]:
                new[at] = ahead > 0.0
                moved = True
        discounts[0][seen] = 0.0
        discounts[1][other] = 0.0
        left = new
        if not moved or left.all() or not left.any():
            break
    return left


@njit(cache=True)
def columns_of(rows, indptr, indices, data, starts):
    """(features, their starts, positions in `rows`, values): rows by feature; `starts` is scratch."""
    total = 0
    for i in rows:
        for j in indices[indptr[i] : indptr[i + 1]]:
            starts[j] += 1
            total += 1
    features = np.flatnonzero(starts)
    begins = np.zeros(features.size + 1, np.int64)
    for at in range(features.size):
        begins[at + 1] = begins[at] + starts[features[at]]
        starts[features[at]] = begins[at]
    where, values = np.empty(total, np.int64), np.empty(total)
    for at in range(rows.size):
        for e in range(indptr[rows[at]], indptr[rows[at] + 1]):
            j = indices[e]
            where[starts[j]], values[starts[j]] = at, data[e]
            starts[j] += 1
    starts[features] = 0
    return features, begins, where, values


@njit(cache=True)
def fit_split(target, begins, where, values, C, sweeps):
    """(weights, intercept) of the node's features: |w|_1 + C sum log(1 + exp(-y m)), by coordinate descent.

    Each step minimizes a bound of the loss whose curvature is C sum x^2 / 4, so the objective never rises.
    """
    count = begins.size - 1
    w, b, m = np.zeros(count), 0.0, np.zeros(target.size)
    for _ in range(sweeps):
        slope = 0.0
        for i in range(target.size):
            slope += 1.0 / (1.0 + np.exp(-m[i])) - target[i]
        change = -4.0 * slope / target.size  # the intercept is not regularized
        b += change
        m += change
        for j in range(count):
            g = h = 0.0
            for at in range(begins[j], begins[j + 1]):
                g += values[at] * (1.0 / (1.0 + np.exp(-m[where[at]])) - target[where[at]])
                h += values[at] * values[at]
            h *= 0.25 * C
            goal, room = w[j] - C * g / h, 1.0 / h
            new = goal - room if goal > room else goal + room if goal < -room else 0.0
            if new != w[j]:
                for at in range(begins[j], begins[j + 1]):
                    m[where[at]] += (new - w[j]) * values[at]
                w[j] = new
    return w, b


@njit(cache=True)
def find_leaves(indptr, indices, data, w_indptr, w_indices, w_data, intercepts, children, row, out):
    """Walk down one tree: `out` gets the leaf of each row, `row` (p,) is scratch.

    A node goes to children[node, 0] if its margin is positive, else to [node, 1]; a leaf is ~child.
    """
    for i in range(indptr.size - 1):
        begin, end = indptr[i], indptr[i + 1]
        for e in range(begin, end):
            row[indices[e]] = data[e]
        node = 0
        while node >= 0:
            margin = intercepts[node]
            for e in range(w_indptr[node], w_indptr[node + 1]):
                margin += w_data[e] * row[w_indices[e]]
            node = children[node, 0] if margin > 0.0 else children[node, 1]
        out[i] = ~node
        row[indices[begin:end]] = 0.0
