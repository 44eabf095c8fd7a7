"""Compiled kernels of the search; `search` has the equations. The tests compare with the full product."""

import numpy as np
from numpy import uint64

from .._core.bits import BIT_AT, DE_BRUIJN
from .._core.sorting import VALUES, best_places, order_falling
from ..compile.kernels import MANY, helper, kernel

BLOCK_ROWS = 64
"""Rows decoded side by side: a label's groups are added for all of them by vector instructions."""

EVEN_LABELS = 1024
"""Labels of one row that are scored side by side: their sums stay in the first-level cache."""

LEVELS = 3
"""Levels above `low` to which group values are rounded up: two bits per group."""

BLOCK_WORDS = 256
"""Words of 64 labels counted at a time. Their bit planes fit into the first-level cache."""


def _search_rows(
    values, indptr, groups, scale, offset, chosen, below, block, sums, scores, labels, best, *_
):
    """`search_rows` by NumPy."""
    for first in range(0, len(values), BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        own, lengths = indptr[chosen], indptr[chosen + 1] - indptr[chosen]
        found = np.zeros((len(chosen), len(values[rows])), np.float32)
        for r in range(lengths.max(initial=0)):
            longer = np.flatnonzero(lengths > r)
            found[longer] += values[rows].T[groups[own[longer] + r]]
        _select(found.T * scale[chosen] + offset[chosen], below, labels[rows], best[rows])
    labels[:] = np.where(labels >= 0, chosen[labels], -1)


@kernel(light=_search_rows, limit=MANY, error_model="numpy")
def search_rows(
    values, indptr, groups, scale, offset, chosen, below, block, sums, scores, labels, best, places, floats,
    bits, keys, flags, eights,
):  # fmt: skip
    """Write the k best of the labels `chosen` of each row of group values (n, m) to `labels` and `best`
    (n, k), as `select` does; ties go to the label that is chosen first.

    BLOCK_ROWS rows are scored side by side. `block` (m, BLOCK_ROWS), of finite values, `sums` (BLOCK_ROWS,)
    and `scores` (BLOCK_ROWS, at least the number of chosen labels) are work spaces, the last arguments a
    `Space` for as many values.
    """
    for first in range(0, values.shape[0], BLOCK_ROWS):
        count = min(BLOCK_ROWS, values.shape[0] - first)
        for r in range(count):
            for i in range(values.shape[1]):
                block[i, r] = values[first + r, i]
        _score_labels(block, indptr, groups, scale, offset, chosen, sums, count, scores)
        for r in range(count):
            _select_row(
                scores[r], len(chosen), below, first + r, labels, best, places, floats, bits, keys, flags,
                eights,
            )  # fmt: skip
            for j in range(labels.shape[1]):
                if labels[first + r, j] >= 0:
                    labels[first + r, j] = chosen[labels[first + r, j]]


@helper(error_model="numpy")
def _score_labels(V, indptr, groups, scale, offset, chosen, sums, count, out):
    """out[r, j] = scale_l sum of the group values of label l = chosen[j] + offset_l, for `count` rows.

    V (m, BLOCK_ROWS) has the rows side by side, so that vector instructions add a group for all of them.
    """
    for j in range(len(chosen)):
        l = chosen[j]
        for r in range(BLOCK_ROWS):
            sums[r] = 0.0
        e, end = indptr[l], indptr[l + 1]
        while e + 4 <= end:  # in order, so that bits do not change, but in registers
            v0, v1, v2, v3 = groups[e], groups[e + 1], groups[e + 2], groups[e + 3]
            for r in range(BLOCK_ROWS):
                sums[r] = (((sums[r] + V[v0, r]) + V[v1, r]) + V[v2, r]) + V[v3, r]
            e += 4
        while e < end:
            v0 = groups[e]
            for r in range(BLOCK_ROWS):
                sums[r] += V[v0, r]
            e += 1
        for r in range(count):
            out[r, j] = sums[r] * scale[l] + offset[l]


def _even_row_scores(v, columns, scale, offset, out):
    """`even_row_scores` by NumPy."""
    out[:] = 0.0
    for own in columns:
        out += v[own]
    out[:] = out * scale + offset


@kernel(light=_even_row_scores, error_model="numpy")
def even_row_scores(v, columns, scale, offset, out):
    """The same bits for one row, v (m,), if each label is in c groups, `columns` (c, d): labels are side by
    side for vector instructions."""
    for first in range(0, out.shape[0], EVEN_LABELS):
        part = out[first : first + EVEN_LABELS]
        for l in range(len(part)):
            part[l] = 0.0
        for j in range(columns.shape[0]):
            own = columns[j, first : first + len(part)]
            for l in range(len(part)):
                part[l] += v[own[l]]
        a, b = scale[first : first + len(part)], offset[first : first + len(part)]
        for l in range(len(part)):
            part[l] = part[l] * a[l] + b[l]


@kernel(error_model="numpy")
def row_scores(v, indptr, groups, scale, offset, out):
    """The same bits for one row, v (m,) and out (d,)."""
    for l in range(indptr.shape[0] - 1):
        total = np.float32(0.0)
        for e in range(indptr[l], indptr[l + 1]):
            total += v[groups[e]]
        out[l] = total * scale[l] + offset[l]


def _select(scores, below, labels, best, *_):
    """`select` by NumPy."""
    d, k = scores.shape[1], labels.shape[1]
    scores = scores[: len(labels)]
    bar = np.partition(scores, d - k, axis=1)[:, d - k :][:, :1] if k < d else below
    row, label = np.nonzero((scores >= bar) & (scores > below))
    value = scores[row, label]
    order, place = np.lexsort((-value, row)), np.arange(len(row)) - np.searchsorted(row, row)
    order, place = order[place < k], place[place < k]
    labels[:], best[:] = -1, -np.inf
    labels[row[order], place], best[row[order], place] = label[order], value[order]


@kernel(light=_select, limit=MANY, error_model="numpy")
def select(scores, below, labels, best, places, floats, bits, keys, flags, eights):
    """The k best labels of each row of `scores` (n, d) that exceed `below`, padded with -1 and -inf; ties
    to the lowest id. The last arguments are a `Space` for d values."""
    for r in range(labels.shape[0]):
        _select_row(
            scores[r], scores.shape[1], below, r, labels, best, places, floats, bits, keys, flags, eights
        )


@helper(error_model="numpy")
def _select_row(row, d, below, i, labels, best, places, floats, bits, keys, flags, eights):
    """`select` for the scores row[:d] of row i."""
    k = labels.shape[1]
    found = best_places(row, d, k, below, below, places, floats, keys, flags, eights)
    for s in range(found):
        floats[VALUES, s] = row[places[s]]
    order_falling(bits, found, keys)
    for j in range(found):
        labels[i, j], best[i, j] = places[keys[0, j]], floats[VALUES, keys[0, j]]
    for j in range(found, k):
        labels[i, j], best[i, j] = -1, -np.inf


@helper(error_model="numpy")
def _full_add(a, b, c):
    """Bitwise a + b + c = sum + 2 carry, 64 additions at once."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@kernel(error_model="numpy")
def add_rows(bits, chosen, planes):
    """Add rows of bits to bit-sliced counters: bit l of planes[p] is bit p of the count of label l.

    Eight rows at a time go through a tree of carry-save adders (Harley and Seal), so that a plane is
    read and written once for all eight; the rest ripple one by one. Returns the word operations.
    """
    depth, words = planes.shape
    carry = np.empty(BLOCK_WORDS, np.uint64)
    operations = 0
    eights = len(chosen) // 8 if depth >= 4 else 0
    for first in range(0, words, BLOCK_WORDS):
        width = min(BLOCK_WORDS, words - first)
        for q in range(eights):
            r0, r1 = bits[chosen[8 * q]][first:], bits[chosen[8 * q + 1]][first:]
            r2, r3 = bits[chosen[8 * q + 2]][first:], bits[chosen[8 * q + 3]][first:]
            r4, r5 = bits[chosen[8 * q + 4]][first:], bits[chosen[8 * q + 5]][first:]
            r6, r7 = bits[chosen[8 * q + 6]][first:], bits[chosen[8 * q + 7]][first:]
            ones, twos, fours = planes[0][first:], planes[1][first:], planes[2][first:]
            for w in range(width):
                one, a = _full_add(ones[w], r0[w], r1[w])
                one, b = _full_add(one, r2[w], r3[w])
                two, e = _full_add(twos[w], a, b)
                one, a = _full_add(one, r4[w], r5[w])
                one, b = _full_add(one, r6[w], r7[w])
                two, f = _full_add(two, a, b)
                four, g = _full_add(fours[w], e, f)
                ones[w], twos[w], fours[w], carry[w] = one, two, four, g
            operations += 35 * width + _ripple(carry, planes, 3, first, width)
        for q in range(8 * eights, len(chosen)):
            row = bits[chosen[q]][first:]
            for w in range(width):
                carry[w] = row[w]
            operations += _ripple(carry, planes, 0, first, width)
    return operations


@helper(error_model="numpy")
def _ripple(carry, planes, lowest, first, width):
    """Add the carries to the counters from plane `lowest` up."""
    for p in range(lowest, planes.shape[0]):
        plane = planes[p][first:]
        for w in range(width):
            both = plane[w] & carry[w]
            plane[w] ^= carry[w]
            carry[w] = both
    return 2 * width * (planes.shape[0] - lowest)


@helper(error_model="numpy")
def _at_least(planes, w, bound):
    """Labels of word w whose counter is >= bound."""
    above, equal = uint64(0), ~uint64(0)
    for p in range(planes.shape[0] - 1, -1, -1):
        if (bound >> p) & 1:
            equal &= planes[p, w]
        else:
            above |= equal & planes[p, w]
            equal &= ~planes[p, w]
    return above | equal


@helper(error_model="numpy")
def _count_totals(v, bits, low, step, planes):
    """Count the totals T of all labels into bit planes of zeros, eq. (2) of `search`; returns the word
    operations."""
    odd = np.empty(v.shape[0], np.int64)  # groups of level 1 or 3
    two = np.empty(v.shape[0], np.int64)  # groups of level 2 or 3
    n_odd = n_two = 0
    for i in range(v.shape[0]):
        if v[i] > low:
            level = min(LEVELS, int(np.ceil((np.float64(v[i]) - low) / step * (1.0 - 1e-12))))
            if level & 1:
                odd[n_odd] = i
                n_odd += 1
            if level & 2:
                two[n_two] = i
                n_two += 1
    return add_rows(bits, odd[:n_odd], planes) + add_rows(bits, two[:n_two], planes[1:])


@helper(error_model="numpy")
def insert(ids, top, label, score):
    """Insert a label into a list sorted by score, best first, the lowest id first among equals; the
    last drops out. Returns its place, or the length of the list if it does not belong there."""
    at = top.shape[0] - 1
    if not (score > top[at] or (score == top[at] and label < ids[at])):
        return at + 1
    while at > 0 and (score > top[at - 1] or (score == top[at - 1] and label < ids[at - 1])):
        top[at] = top[at - 1]
        ids[at] = ids[at - 1]
        at -= 1
    top[at] = score
    ids[at] = label
    return at


@kernel(error_model="numpy")
def filter_top_k(v, bits, low, high, c, groups, scale, offset, floor, labels, best):
    """The k best labels of one row by counting first: see `search`, eqs. (2) and (3).

    v (m,) group values, none above `high`; every label is in c groups, and scale and offset are the same
    for all. Returns (word operations, labels scored).
    """
    k, words, n_labels = labels.shape[0], bits.shape[1], groups.shape[0] // c
    step = (np.float64(high) - np.float64(low)) / LEVELS
    depth = 4
    while (1 << depth) <= LEVELS * c + 1:  # totals up to LEVELS c, and one beyond to compare with
        depth += 1
    planes = np.zeros((depth, words), np.uint64)
    operations = _count_totals(v, bits, low, step, planes)
    scored = filled = 0
    upper = LEVELS * c + 1  # totals from here on are done
    lower = LEVELS * c - c // 2
    while upper > 0:
        for w in range(words):
            mask = _at_least(planes, w, lower) & ~_at_least(planes, w, upper)
            while mask != uint64(0):
                lowest = mask & (~mask + uint64(1))
                mask ^= lowest
                l = w * 64 + BIT_AT[(lowest * DE_BRUIJN) >> uint64(58)]
                if l >= n_labels:
                    break
                total = np.float32(0.0)
                for e in range(l * c, l * c + c):
                    total += v[groups[e]]
                score = total * scale + offset
                scored += 1
                if not (score >= floor and score > -np.inf):
                    continue
                if filled < k or score > best[k - 1] or (score == best[k - 1] and l < labels[k - 1]):
                    insert(labels[: filled + 1], best[: filled + 1], l, score)
                    filled = min(filled + 1, k)
        operations += 6 * depth * words
        upper = lower
        if filled == k:
            # Eq. (3): totals below this cannot reach the k-th best; float32 sums may round up a little.
            wanted = (np.float64(best[k - 1]) - offset) / scale
            wanted -= 1e-5 * (1.0 + abs(wanted)) + 1e-6 * (abs(best[k - 1]) + abs(offset)) / scale
            needed = int(max(0.0, np.ceil((wanted - c * np.float64(low)) / step)))
            if needed >= upper:
                break
            lower = needed
        else:
            lower = max(0, lower - c)
    return operations, scored
