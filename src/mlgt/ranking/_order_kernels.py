"""Compiled kernels of `order` and `cooccurrence`: the last steps of a row, without arrays between them."""

import math

import numpy as np

from .._core.csr import places_of
from .._core.sigmoid import MAX_SIZE, exp_of_minus, log_sigmoid, log_sigmoid_of, sigmoid_of
from ..compile.kernels import ANY, MANY, helper, kernel
from ..decoding._search_kernels import insert

SLOPE = np.float32(2.0)
_SMALLEST = 1e-30
_UNIT = np.float32(1 / 255)
_NONE = np.float32(-np.inf)


def _support_rows(candidates, logits, indptr, labels, values, place, best, top, support):
    """`support_rows` by NumPy."""
    support[:] = _support(candidates, logits, indptr, labels, values, len(best))


@kernel(light=_support_rows, limit=ANY, error_model="numpy")
def support_rows(candidates, logits, indptr, labels, values, place, best, top, support):
    """`CooccurrenceShares.support` of rows; `place` (d,) is a work space of -1, `best` and `top` are others
    of N_LIKELY."""
    for i in range(candidates.shape[0]):
        support_row(candidates, i, logits[i], indptr, labels, values, place, best, top, support[i])


@helper(error_model="numpy")
def support_row(candidates, i, logits, indptr, labels, values, place, best, top, support):
    """Eq. (1) of `cooccurrence` for row i; the likely labels are found in `best` and `top`."""
    K, count = candidates.shape[1], best.shape[0]
    for j in range(count):
        best[j], top[j] = K, _NONE
    for j in range(K):
        support[j] = 0.0
        if candidates[i, j] >= 0:
            place[candidates[i, j]] = j
            if logits[j] > top[count - 1]:
                insert(best, top, j, logits[j])
    for s in range(count):
        if top[s] > _NONE:
            other, probability = candidates[i, best[s]], sigmoid_of(top[s])
            for e in range(indptr[other], indptr[other + 1]):
                at = place[labels[e]]
                if at >= 0:
                    support[at] += probability * np.float32(values[e])
    for j in range(K):
        support[j] = math.sqrt(_UNIT * support[j])
        if candidates[i, j] >= 0:
            place[candidates[i, j]] = -1


@kernel(light=True, error_model="numpy")
def log_odds(scores, labels, offset, out):
    """The log-odds of log-probabilities (n, K) float32; without offset[labels], where `labels` has rows."""
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            score = scores[i, j]
            if i < labels.shape[0]:
                score -= offset[labels[i, j]]
            value = np.float64(score)  # in double precision, C's functions are Python's
            out[i, j] = value - math.log(max(-math.expm1(value), _SMALLEST))


def _blended(blend, main, score, ranked, near, name, phrase, unseen, labels):
    """Eq. (1) or (3) of `blend` without co-occurrence, in the order in which `Blend.combine` adds."""
    total = blend[1] * main
    if ranked:
        total += blend[2] * score
    if near.shape[0] > 0:
        total += blend[3] * near
    if name.shape[0] > 0:
        total += blend[4] * name
        total += blend[5] * phrase
        total += blend[6] * unseen[labels]
    return total


@helper(error_model="numpy")
def _blend_row(blend, main, scores, offset, ranked, near, name, phrase, unseen, i, labels, out):
    """`_blended` of row i, with `main` (K,); loops without a branch, for vector instructions."""
    for j in range(labels.shape[1]):
        total = blend[1] * main[j]
        if ranked:
            total += blend[2] * (scores[i, j] - offset[labels[i, j]])
        if near.shape[0] > 0:
            total += blend[3] * near[i, j]
        if name.shape[0] > 0:
            total += blend[4] * name[i, j]
            total += blend[5] * phrase[i, j]
            total += blend[6] * unseen[labels[i, j]]
        out[j] = total


def _order(
    labels, scores, near, main, ranked, name, phrase, unseen, offset, first, final, c_ptr, c_labels,
    c_values, bonus, place, spaces, likely, found, best,
):  # fmt: skip
    """`order` by NumPy."""
    there = (labels >= 0) & (scores > _NONE)
    value = log_sigmoid(main, SLOPE) if ranked else main
    with np.errstate(invalid="ignore"):  # where there is no label
        own = scores - offset[labels]
        evidence = value, own, ranked, near, name, phrase, unseen, labels
        values = np.where(there, first[0] + _blended(first, *evidence), _NONE)
        if len(final):
            support = _support(labels, values, c_ptr, c_labels, c_values, len(likely))
            total = final[0] + (_blended(final, *evidence) + final[7] * support)
            values = np.where(there, total, _NONE)
        if len(bonus):
            values = np.where(there, log_sigmoid(values) + bonus[labels], _NONE)
    best_first = np.lexsort((labels, -values), axis=1)[:, : found.shape[1]]
    best[:] = np.take_along_axis(values, best_first, axis=1)
    found[:] = np.where(best > _NONE, np.take_along_axis(labels, best_first, axis=1), -1)


def _support(labels, logits, c_ptr, c_labels, c_values, n_likely):
    """`support_row` of all rows by NumPy."""
    (n, width), d = labels.shape, len(c_ptr) - 1
    likely = np.argsort(-logits, axis=1, kind="stable")[:, :n_likely]
    top, other = (np.take_along_axis(part, likely, axis=1).ravel() for part in (logits, labels))
    t = exp_of_minus(np.minimum(np.abs(top), MAX_SIZE))
    probability = np.where(top >= 0, np.float32(1), t) / (np.float32(1) + t)
    lengths = np.where(top > _NONE, c_ptr[other + 1] - c_ptr[other], 0)
    entry = places_of(c_ptr[other], lengths)
    wanted = c_labels[entry] + d * np.repeat(np.arange(len(other)) // likely.shape[1], lengths)
    known = np.where(labels >= 0, labels + d * np.arange(n)[:, None], -1).ravel()
    order = np.argsort(known)
    at = order[np.searchsorted(known, wanted, sorter=order) % len(known)]
    added = np.repeat(probability, lengths) * c_values[entry].astype(np.float32)
    support, here = np.zeros(n * width, np.float32), known[at] == wanted
    np.add.at(support, at[here], added[here])  # in their order
    return np.sqrt(_UNIT * support).reshape(n, width)


@kernel(light=_order, limit=MANY, error_model="numpy")
def order(
    labels, scores, near, main, ranked, name, phrase, unseen, offset, first, final, c_ptr, c_labels,
    c_values, bonus, place, spaces, likely, found, best,
):  # fmt: skip
    """`Order` row by row: candidates (n, K) -> the k best, `found` and `best` (n, k).

    `main` are the margins of rankers if the labels are `ranked`, else log-odds. What is no evidence,
    `final`, the shares and `bonus` are empty where there are none. `place` (d,) is a work space of -1;
    `spaces` (5, K) and `likely`, as many as there are likely labels, are others.
    """
    logits, totals, support, values = spaces[0], spaces[1], spaces[2], spaces[4]
    top = spaces[3, : likely.shape[0]]
    for i in range(labels.shape[0]):
        for j in range(labels.shape[1]):
            values[j] = log_sigmoid_of(SLOPE * main[i, j]) if ranked else main[i, j]
        _blend_row(
            first, values, scores, offset, ranked, near, name, phrase, unseen, i, labels, logits
        )  # fmt: skip
        for j in range(labels.shape[1]):
            there = labels[i, j] >= 0 and scores[i, j] > _NONE
            logits[j] = first[0] + logits[j] if there else _NONE
        if final.shape[0] > 0:
            _blend_row(
                final, values, scores, offset, ranked, near, name, phrase, unseen, i, labels, totals
            )  # fmt: skip
            support_row(labels, i, logits, c_ptr, c_labels, c_values, place, likely, top, support)
        _keep_best(i, labels, logits, totals, support, final, bonus, found, best)


@helper(error_model="numpy")
def _keep_best(i, labels, logits, totals, support, final, bonus, found, best):
    """Write the k best candidates of row i by the final blend, if there is one, to `found` and `best`."""
    k, row, top = found.shape[1], found[i], best[i]
    for j in range(k):
        row[j], top[j] = -1, _NONE
    for j in range(labels.shape[1]):
        if logits[j] > _NONE:
            value = logits[j]
            if final.shape[0] > 0:
                value = final[0] + (totals[j] + final[7] * support[j])
            if bonus.shape[0] > 0:
                value = log_sigmoid_of(value) + bonus[labels[i, j]]
            if value >= top[k - 1]:
                insert(row, top, labels[i, j], value)
