"""Compiled kernels of `shortlist`."""

from typing import Any

import numpy as np
from numpy import uint32, uint64

from .._core.csr import places_of
from .._core.prefetch import prefetch, prefetch_runs
from .._core.sorting import VALUES, best_places, order_falling
from ..compile.kernels import MANY, exceeds, helper, kernel

FEW_FACTOR = 7
"""Time for an entry that is added where labels that rise are noted, as a multiple of that for a label where
all are read."""
MAX_LIGHT = 1 << 24
"""Rows times labels for which NumPy takes less time than compiling."""
MAX_ADDED = 1 << 27
"""Entries of lists that are added for which it does."""
CHUNK = 1 << 17
"""Similarities that NumPy computes at a time, or eighths of the entries that it adds: what it needs for
them stays in the caches."""
AHEAD = 4
"""Places between a word or label that is worked on and the one whose entries are asked for."""
WORDS, SCORES = 0, 1
"""Rows of `Space.floats` with the parts of the values that are sorted, which are in row VALUES."""
_NONE, _ZERO = np.float32(-np.inf), np.float32(0)


def _shortlist(*own):
    """`shortlist` by NumPy: row by row where labels are few or lists long, the other rows at once."""
    if exceeds(len(own[0]) - 1, len(own[7]), MAX_LIGHT):
        return NotImplemented
    indptr, indices, c_ptr, prior, frequent, sizes = *own[:2], own[3], own[7], own[10], own[18]
    lengths = np.concatenate([[0], np.cumsum(c_ptr[indices + 1] - c_ptr[indices])])
    each = (lengths[indptr[-1]] - lengths[indptr[0]]) // max(1, len(indptr) - 1)
    if exceeds(len(indptr) - 1, each, MAX_ADDED):
        return NotImplemented
    met = lengths[indptr[1:]] - lengths[indptr[:-1]] + len(frequent)
    alone = (len(frequent) > 0) & (FEW_FACTOR * met < len(prior)) | (len(sizes) > 1)
    try:
        _shortlist_each(np.flatnonzero(alone), *own)
    finally:  # the space is left as it was found, also by an interrupt
        own[20][:] = prior
    rows = np.flatnonzero(~alone)
    step = max(1, CHUNK // max(len(prior), each // 8))
    for first in range(0, len(rows), step):
        _shortlist_all(rows[first : first + step], *own)
    return None


def _shortlist_each(
    rows, indptr, indices, data, c_ptr, c_labels, c_values, c_scale, prior, starts, weight, frequent, V,
    g_ptr, groups, scale, offset, core, extra, sizes, ends, sums, met, values, places, floats, bits, keys,
    flags, eights, labels, best, near,
):  # fmt: skip
    """`shortlist` of some rows."""
    d = len(prior)
    for i in rows:
        begin, end = indptr[i], indptr[i + 1]
        few = len(frequent) > 0 and _are_few(indices, data, begin, end, c_ptr, len(frequent), d)
        bar, lists = prior[frequent[-1]] if few else _NONE, [np.arange(0 if few else d)]
        sums[:] = starts[i] if len(starts) else prior
        for e in range(begin, end):  # in their order; a label has one entry of a feature
            l, added = _entries(
                indices[e : e + 1], data[e : e + 1], c_ptr, c_labels, c_values, c_scale, weight
            )
            rose, sums[l] = sums[l] <= bar, sums[l] + added
            lists += [l[rose & (sums[l] > bar)]] if few else []
        if few:
            lists.append(frequent[~((prior[frequent] <= bar) & (sums[frequent] > bar))])
        known = np.concatenate(lists)
        count, filled = len(known), 0
        met[:count], values[:count] = known, sums[known]
        for t in range(len(sizes)):
            chosen = np.flatnonzero(_best(values[:count][None], sizes[t])[0])
            l, found = known[chosen], len(chosen)
            places[:found] = chosen
            floats[WORDS, :found] = sums[l] - prior[l]
            floats[SCORES, :found] = _scores(i, l, V, g_ptr, groups, scale, offset)
            floats[VALUES, :found] = floats[SCORES, :found] + floats[WORDS, :found]
            keys[0, :found] = np.argsort(-floats[VALUES, :found], kind="stable")
            here = min(core, found) if t == 0 and extra.shape[1] > 0 else -1
            filled = _fill(
                i, found, here, ends[t], V, g_ptr, groups, scale, offset, sums, prior, weight, met, True,
                values, places, floats, keys, extra, labels, best, near, filled,
            )  # fmt: skip
        labels[i, filled:], best[i, filled:], near[i, filled:] = -1, _NONE, 0.0
        sums[:] = prior


def _shortlist_all(
    rows, indptr, indices, data, c_ptr, c_labels, c_values, c_scale, prior, starts, weight, frequent, V,
    g_ptr, groups, scale, offset, core, extra, sizes, ends, *spaces,
):  # fmt: skip
    """The same for rows whose lists have one stage, of all labels."""
    labels, best, near = spaces[-3:]
    n, d = len(rows), len(prior)
    counts = indptr[rows + 1] - indptr[rows]
    own, row = places_of(indptr[rows], counts), np.repeat(np.arange(n), counts)
    sums = starts[rows] if len(starts) else np.tile(prior, (n, 1))
    l, added = _entries(indices[own], data[own], c_ptr, c_labels, c_values, c_scale, weight)
    lengths = c_ptr[indices[own] + 1] - c_ptr[indices[own]]
    np.add.at(sums.reshape(-1), np.repeat(row * d, lengths) + l, added)
    row, l = np.nonzero(_best(sums, sizes[0]))
    score, words = _scores(rows[row], l, V, g_ptr, groups, scale, offset), sums[row, l] - prior[l]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    found = np.full((n, sizes[0]), -1)
    scores, totals, similar = (np.full((n, sizes[0]), value, np.float32) for value in (_NONE, _NONE, 0))
    found[row, place], scores[row, place], similar[row, place] = l, score, words / weight
    totals[row, place] = score + words
    order = np.argsort(-totals, axis=1, kind="stable")
    parts = [np.take_along_axis(part, order, axis=1) for part in (found, scores, similar)]
    if extra.shape[1] > 0:
        other = extra[rows]
        words = np.take_along_axis(sums, np.maximum(other, 0), axis=1) - prior[other]
        words = np.where(prior[other] > _NONE, words, _ZERO)
        own_scores = _scores(rows[:, None], other, V, g_ptr, groups, scale, offset)
        parts = _join(parts, (other, own_scores, words / weight), core, ends[0])
    labels[rows], best[rows], near[rows] = (part[:, : ends[0]] for part in parts)


def _entries(own, x, c_ptr, c_labels, c_values, c_scale, weight):
    """(labels, what is added to them) of the features `own` with values x, one feature after the other."""
    lengths = c_ptr[own + 1] - c_ptr[own]
    at = places_of(c_ptr[own], lengths)
    return c_labels[at], np.repeat(weight * x * c_scale[own], lengths) * c_values[at].astype(np.float32)


def _best(sums, size):
    """True for the `size` best of each row that exceed -inf, earlier ones first among equals."""
    if size >= sums.shape[1]:
        return sums > _NONE
    bar = np.partition(sums, -size, axis=1)[:, -size, None]
    above, equal = sums > bar, (sums == bar) & (bar > _NONE)
    return above | (equal & (np.cumsum(equal, axis=1) <= size - above.sum(axis=1, keepdims=True)))


def _scores(i, l, V, g_ptr, groups, scale, offset):
    """Group score + offset of labels l of rows i, of one shape."""
    first, lengths, score = g_ptr[l], g_ptr[l + 1] - g_ptr[l], np.zeros(l.shape, np.float32)
    values, starts = V.reshape(-1), np.broadcast_to(i, l.shape) * V.shape[1]
    least = lengths.min(initial=lengths.max(initial=0))
    for r in range(lengths.max(initial=0)):
        more = ... if r < least else lengths > r  # labels of equal weight, as most are, need no mask
        score[more] += values[starts[more] + groups[(first + r)[more]]]
    return score * scale[l] + offset[l]


def _join(found, extra, core, end):
    """Labels, scores and similarities (n, end): those found, with those of `extra` after the first `core`,
    each label once."""
    labels, *others = (
        np.concatenate([own[:, :core], more, own[:, core:]], 1) for own, more in zip(found, extra)
    )
    core, width, kept = min(core, found[0].shape[1]), extra[0].shape[1], labels >= 0
    for e in range(core, core + width):
        same = labels == labels[:, e, None]
        kept[:, e] &= ~same[:, :e].any(axis=1)
        kept[:, core + width :] &= ~same[:, core + width :]
    order = np.argsort(~kept, axis=1, kind="stable")[:, :end]
    kept = np.take_along_axis(kept, order, axis=1)
    parts: Any = zip((labels, *others), (-1, _NONE, np.float32(0)))
    return [np.where(kept, np.take_along_axis(part, order, axis=1), no) for part, no in parts]


@kernel(light=_shortlist, limit=MANY, error_model="numpy")
def shortlist(
    indptr, indices, data, c_ptr, c_labels, c_values, c_scale, prior, starts, weight, frequent, V, g_ptr,
    groups, scale, offset, core, extra, sizes, ends, sums, met, values, places, floats, bits, keys, flags,
    eights, labels, best, near,
):  # fmt: skip
    """`shortlist.shortlist` row by row; `prior` (d,) and `weight` are those of its eq. (1), V (n, m) the
    group values, `starts` (n, d) what the sums of eq. (1) begin with, or none if that is the prior.
    No other label has a higher prior than the labels `frequent`, by falling prior: where few entries are
    added, only these and the labels that rise above the last of them are looked at; else all are, and the
    prior of one of them is a first bar. Places up to ends[t] are filled from a shortlist of sizes[t]
    labels, without those that stand before them; the labels extra[i] follow the first `core`. `sums` (d,)
    is a work space that holds `prior`; `met` and `values` (d + 1,) and a `Space` for d values are
    others."""
    d = prior.shape[0]
    for i in range(labels.shape[0]):
        begin, end = indptr[i], indptr[i + 1]
        few = len(frequent) > 0 and _are_few(indices, data, begin, end, c_ptr, len(frequent), d)
        bar = prior[frequent[-1]] if len(frequent) > 0 else _NONE
        if starts.shape[0] > 0:
            for l in range(d):
                sums[l] = starts[i, l]
        count = _add_words(
            indices, data, begin, end, c_ptr, c_labels, c_values, c_scale, weight, sums, met, few, bar
        )
        if few:
            count = _add_frequent(prior, frequent, bar, sums, met, values, count)
        row = values if few else sums
        filled = 0
        for t in range(len(sizes)):
            likely, last = _NONE, filled + sizes[t] - 1
            if not few and last < len(frequent):
                likely = prior[frequent[last]]
            found = best_places(
                row, count if few else d, sizes[t], _NONE, likely, places, floats, keys, flags, eights
            )
            _score(i, V, g_ptr, groups, scale, offset, sums, prior, met, few, places, found, floats)
            order_falling(bits, found, keys)
            first = -1  # where the labels of `extra` follow
            if t == 0 and extra.shape[1] > 0:
                first = core if core < found else found
            filled = _fill(
                i, found, first, ends[t], V, g_ptr, groups, scale, offset, sums, prior, weight, met, few,
                row, places, floats, keys, extra, labels, best, near, filled,
            )  # fmt: skip
        for s in range(filled, labels.shape[1]):
            labels[i, s], best[i, s], near[i, s] = -1, _NONE, 0.0
        if few:
            for e in range(begin, end):
                for q in range(uint64(c_ptr[indices[e]]), uint64(c_ptr[indices[e] + 1])):
                    risen = uint32(c_labels[q])
                    sums[risen] = prior[risen]
        else:
            for l in range(d):
                sums[l] = prior[l]


@helper(error_model="numpy")
def _are_few(indices, data, begin, end, c_ptr, n_frequent, d):
    """True if the labels that rise, and the frequent ones, are found faster than all are read, and no value
    of the row is negative."""
    met, lowest = n_frequent, np.float32(0.0)
    for e in range(begin, end):
        met += c_ptr[indices[e] + 1] - c_ptr[indices[e]]
        lowest = min(lowest, data[e])
    return FEW_FACTOR * met < d and lowest >= 0


@helper(error_model="numpy")
def _add_words(
    indices, data, begin, end, c_ptr, c_labels, c_values, c_scale, weight, sums, met, few, bar
):  # fmt: skip
    """Add the similarity by each word of a row to the labels that have it; with `few`, those that rise
    above the bar are noted in `met`, whose length is returned."""
    count = 0
    for e in range(begin, end):
        prefetch(c_ptr, indices[e])
        prefetch(c_scale, indices[e])
    for ahead in range(begin, end + AHEAD):
        if ahead < end:
            j = indices[ahead]
            prefetch_runs(c_labels, c_values, c_ptr[j], c_ptr[j + 1])
        e = ahead - AHEAD
        if e < begin:
            continue
        j = indices[e]
        x = weight * data[e] * c_scale[j]
        if few:
            for q in range(uint64(c_ptr[j]), uint64(c_ptr[j + 1])):
                l = uint32(c_labels[q])
                old = sums[l]
                new = old + x * np.float32(c_values[q])
                sums[l] = new
                met[count] = l
                count += (old <= bar) & (new > bar) & (count < len(sums))
        else:
            for q in range(uint64(c_ptr[j]), uint64(c_ptr[j + 1])):
                sums[uint32(c_labels[q])] += x * np.float32(c_values[q])
    return count


@helper(error_model="numpy")
def _add_frequent(prior, frequent, bar, sums, met, values, count):
    """Append the frequent labels to `met` that did not rise, and write the sums of all to `values`; returns
    how many there are."""
    for s in range(len(frequent)):
        l = frequent[s]
        met[count] = l
        count += ((prior[l] > bar) | (sums[l] <= bar)) & (count < len(sums))
    for s in range(count):
        values[s] = sums[met[s]]
    return count


@helper(error_model="numpy")
def _score(i, V, g_ptr, groups, scale, offset, sums, prior, met, few, places, found, floats):
    """Eq. (2) of `shortlist` for the labels found, to floats[VALUES]; its parts to floats[WORDS], by words,
    and floats[SCORES]."""
    for s in range(found):
        l = np.int64(met[places[s]] if few else places[s])
        prefetch(g_ptr, l)
        prefetch(scale, l)
        prefetch(offset, l)
    for s in range(found):
        prefetch(groups, g_ptr[np.int64(met[places[s]] if few else places[s])])
    for s in range(found):
        l = np.int64(met[places[s]] if few else places[s])
        floats[WORDS, s] = sums[l] - prior[l]
        floats[SCORES, s] = _group_score(i, V, g_ptr, groups, l) * scale[l] + offset[l]
        floats[VALUES, s] = floats[SCORES, s] + floats[WORDS, s]


@helper(error_model="numpy")
def _group_score(i, V, g_ptr, groups, l):
    score = np.float32(0.0)
    for e in range(uint64(g_ptr[l]), uint64(g_ptr[l + 1])):
        score += V[i, groups[e]]
    return score


@helper(error_model="numpy")
def _fill(
    i, found, first, end, V, g_ptr, groups, scale, offset, sums, prior, weight, met, few, row, places,
    floats, keys, extra, labels, best, near, filled,
):  # fmt: skip
    """Append the labels found in falling order, with those of `extra` before the one at `first`, each label
    once, up to place `end`; returns how many there are then. None is found again."""
    for s in range(found + 1):
        if s == first:
            for e in range(extra.shape[1]):
                l = extra[i, e]
                if l >= 0 and filled < end and not _has(labels, i, filled, l):
                    score = _group_score(i, V, g_ptr, groups, l)
                    labels[i, filled], best[i, filled] = l, score * scale[l] + offset[l]
                    near[i, filled] = (sums[l] - prior[l]) / weight if prior[l] > _NONE else _ZERO
                    filled += 1
        if s == found or filled == end:
            break
        at = keys[0, s]
        place = places[at]
        l = np.int64(met[place] if few else place)
        if extra.shape[1] == 0 or not (_has(extra, i, extra.shape[1], l) and _has(labels, i, filled, l)):
            labels[i, filled], best[i, filled] = l, floats[SCORES, at]
            near[i, filled] = floats[WORDS, at] / weight
            filled += 1
        row[place] = _NONE
    return filled


@helper(error_model="numpy")
def _has(labels, i, count, l):
    """True if label l is one of labels[i, :count]."""
    for s in range(count):  # noqa: SIM110
        if labels[i, s] == l:
            return True
    return False


def _insert_all(V, g_ptr, groups, scale, offset, core, extra, found, scores, labels, best):
    """`insert` by NumPy."""
    rows = np.arange(len(labels))[:, None]
    own_scores = _scores(rows, extra, V, g_ptr, groups, scale, offset)
    labels[:], best[:] = _join((found, scores), (extra, own_scores), core, labels.shape[1])


@kernel(light=_insert_all, limit=MANY, error_model="numpy")
def insert(V, g_ptr, groups, scale, offset, core, extra, found, scores, labels, best):
    """Write the labels `found` (n, K), padded with -1, with their scores to `labels` and `best` (n, at most
    K), with the labels extra[i] after the first `core`, each label once."""
    for i in range(len(labels)):
        filled, first = 0, core
        for s in range(found.shape[1]):
            l = found[i, s]
            if l < 0 and s < core:
                first = s
            if s == first:
                for e in range(extra.shape[1]):
                    other = extra[i, e]
                    if other >= 0 and filled < labels.shape[1] and not _has(labels, i, filled, other):
                        score = _group_score(i, V, g_ptr, groups, other)
                        labels[i, filled], best[i, filled] = other, score * scale[other] + offset[other]
                        filled += 1
            if l < 0 or filled == labels.shape[1]:
                break
            if s < core or not _has(labels, i, min(filled, core + extra.shape[1]), l):
                labels[i, filled], best[i, filled] = l, scores[i, s]
                filled += 1
