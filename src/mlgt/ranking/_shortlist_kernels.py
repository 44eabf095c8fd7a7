"""Compiled kernels of `shortlist`."""

import numpy as np
from numpy import uint32, uint64

from .._core.compile import ONE, helper, kernel
from .._core.sorting import VALUES, best_places, order_falling
from ._prefetch import prefetch, prefetch_runs

FEW_FACTOR = 3
"""Time for a label that is found by a list, as a multiple of that for a label where all are read."""
AHEAD = 4
"""Places between a word or label that is worked on and the one whose entries are asked for."""
_NONE = np.float32(-np.inf)


def _shortlist(
    indptr, indices, data, c_ptr, c_labels, c_values, c_scale, prior, weight, frequent, V, g_ptr, groups,
    scale, offset, core, extra, sizes, ends, words, met, sums, places, floats, bits, keys, flags,
    eights, labels, best, near,
):  # fmt: skip
    """`shortlist` by NumPy."""
    d = len(prior)
    for i in range(len(labels)):
        begin, end = indptr[i], indptr[i + 1]
        few = len(frequent) > 0 and _are_few(indices, data, begin, end, c_ptr, len(frequent), d)
        own, x = indices[begin:end], weight * data[begin:end]
        l, added = _entries(own, x * c_scale[own], c_ptr, c_labels, c_values)
        np.add.at(words, l, added)  # in their order
        known = np.arange(d)
        if few:
            known = np.concatenate([_first_met(l, added), frequent[words[frequent] == 0]])[:d]
        count, filled = len(known), 0
        met[:count], sums[:count] = known, words[known] + prior[known]
        for t in range(len(sizes)):
            bar = np.partition(sums[:count], -sizes[t])[-sizes[t]] if sizes[t] < count else _NONE
            chosen, equal = np.flatnonzero(sums[:count] > bar), np.flatnonzero(sums[:count] == bar)
            if bar > _NONE:
                chosen = np.sort(np.concatenate([chosen, equal[: sizes[t] - len(chosen)]]))
            l, found = known[chosen], len(chosen)
            places[:found] = chosen
            first, lengths, score = g_ptr[l], g_ptr[l + 1] - g_ptr[l], np.zeros(found, np.float32)
            for r in range(lengths.max(initial=0)):
                score[lengths > r] += V[i, groups[(first + r)[lengths > r]]]
            floats[VALUES, :found] = score * scale[l] + offset[l] + words[l]
            keys[0, :found] = np.argsort(-floats[VALUES, :found], kind="stable")
            here = min(core, found) if t == 0 and extra.shape[1] > 0 else -1
            filled = _fill(
                i, found, here, ends[t], V, g_ptr, groups, scale, offset, words, met, True, sums, places,
                floats, keys, extra, labels, best, filled,
            )  # fmt: skip
        near[i, :filled] = words[labels[i, :filled]] / weight
        best[i, :filled] -= weight * near[i, :filled]
        labels[i, filled:], best[i, filled:], near[i, filled:] = -1, _NONE, 0.0
        words[:] = 0.0


def _entries(own, x, c_ptr, c_labels, c_values):
    """(labels, what is added to them) of the features `own` with values x, one feature after the other."""
    lengths = c_ptr[own + 1] - c_ptr[own]
    ends = np.cumsum(lengths)
    at = np.repeat(c_ptr[own] - ends + lengths, lengths) + np.arange(lengths.sum())
    return c_labels[at], np.repeat(x, lengths) * c_values[at].astype(np.float32)


def _first_met(labels, added):
    """The labels in the order in which `_add_words` notes them: as long as nothing was added to them."""
    order = np.argsort(labels, kind="stable")
    before = np.cumsum(added[order] != 0) - (added[order] != 0)
    starts = np.searchsorted(labels[order], labels[order])
    return labels[np.sort(order[before == before[starts]])]


@kernel(light=_shortlist, error_model="numpy")
def shortlist(
    indptr, indices, data, c_ptr, c_labels, c_values, c_scale, prior, weight, frequent, V, g_ptr, groups,
    scale, offset, core, extra, sizes, ends, words, met, sums, places, floats, bits, keys, flags,
    eights, labels, best, near,
):  # fmt: skip
    """`shortlist.shortlist` row by row; `prior` (d,) and `weight` are those of its eq. (1), V (n, m) the
    group values. With `frequent`, the labels of the highest prior, only these and the labels that share a
    word with the row are looked at where that is less work; else all are. Places up to ends[t] are filled
    from a shortlist of sizes[t] labels, without those that stand before them; the labels extra[i] follow
    the first `core`. `words` (d,) is a work space of zeros; `met` and `sums` (d + 1,) and a `Space` for d
    values are others."""
    d = prior.shape[0]
    for i in range(labels.shape[0]):
        begin, end = indptr[i], indptr[i + 1]
        few = len(frequent) > 0 and _are_few(indices, data, begin, end, c_ptr, len(frequent), d)
        count = _add_words(
            indices, data, begin, end, c_ptr, c_labels, c_values, c_scale, weight, words, met, few
        )
        count = _add_prior(words, prior, frequent, met, sums, count, few)
        filled = 0
        for t in range(len(sizes)):
            found = best_places(sums, count, sizes[t], _NONE, places, floats, keys, flags, eights)
            _score(i, V, g_ptr, groups, scale, offset, words, met, few, places, found, floats)
            order_falling(bits, found, keys)
            first = -1  # where the labels of `extra` follow
            if t == 0 and extra.shape[1] > 0:
                first = core if core < found else found
            filled = _fill(
                i, found, first, ends[t], V, g_ptr, groups, scale, offset, words, met, few, sums, places,
                floats, keys, extra, labels, best, filled,
            )  # fmt: skip
        for s in range(filled):
            near[i, s] = words[labels[i, s]] / weight
            best[i, s] -= weight * near[i, s]
        for s in range(filled, labels.shape[1]):
            labels[i, s], best[i, s], near[i, s] = -1, _NONE, 0.0
        if few:
            for s in range(count):
                words[met[s]] = 0.0
        else:
            for l in range(d):
                words[l] = 0.0


@helper(error_model="numpy")
def _are_few(indices, data, begin, end, c_ptr, n_frequent, d):
    """True if the labels with one of a row's features, and the frequent ones, are read faster than all, and
    no value of the row is negative."""
    met, lowest = n_frequent, np.float32(0.0)
    for e in range(begin, end):
        met += c_ptr[indices[e] + 1] - c_ptr[indices[e]]
        lowest = min(lowest, data[e])
    return FEW_FACTOR * met < d and lowest >= 0


@helper(error_model="numpy")
def _add_words(indices, data, begin, end, c_ptr, c_labels, c_values, c_scale, weight, words, met, few):
    """Add the similarity by each word of a row to the labels that have it; with `few`, these are noted in
    `met`, whose length is returned."""
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
                met[count] = l
                count += (words[l] == 0.0) & (count < len(words))  # products may underflow to 0
                words[l] += x * np.float32(c_values[q])
        else:
            for q in range(uint64(c_ptr[j]), uint64(c_ptr[j + 1])):
                words[uint32(c_labels[q])] += x * np.float32(c_values[q])
    return count


@helper(error_model="numpy")
def _add_prior(words, prior, frequent, met, sums, count, few):
    """Write words + prior to `sums`, with `few` those of the labels met and of the frequent ones; returns
    how many."""
    if few:
        for s in range(len(frequent)):
            l = frequent[s]
            met[count] = l
            count += (words[l] == 0.0) & (count < len(prior))
        for s in range(count):
            sums[s] = words[met[s]] + prior[met[s]]
        return count
    for l in range(len(prior)):
        sums[l] = words[l] + prior[l]
    return len(prior)


@helper(error_model="numpy")
def _score(i, V, g_ptr, groups, scale, offset, words, met, few, places, found, floats):
    """Eq. (2) of `shortlist` for the labels found, to floats[VALUES]."""
    for s in range(found):
        l = np.int64(met[places[s]] if few else places[s])
        prefetch(g_ptr, l)
        prefetch(scale, l)
        prefetch(offset, l)
    for s in range(found):
        prefetch(groups, g_ptr[np.int64(met[places[s]] if few else places[s])])
    for s in range(found):
        l = np.int64(met[places[s]] if few else places[s])
        floats[VALUES, s] = _group_score(i, V, g_ptr, groups, l) * scale[l] + offset[l] + words[l]


@helper(error_model="numpy")
def _group_score(i, V, g_ptr, groups, l):
    score = np.float32(0.0)
    for e in range(uint64(g_ptr[l]), uint64(g_ptr[l + 1])):
        score += V[i, groups[e]]
    return score


@helper(error_model="numpy")
def _fill(
    i, found, first, end, V, g_ptr, groups, scale, offset, words, met, few, sums, places, floats, keys,
    extra, labels, best, filled,
):  # fmt: skip
    """Append the labels found in falling order, with those of `extra` before the one at `first`, each label
    once, up to place `end`; returns how many there are then. None is found again."""
    for s in range(found + 1):
        if s == first:
            filled = _insert(i, extra, labels, best, end, V, g_ptr, groups, scale, offset, words, filled)
        if s == found or filled == end:
            break
        at = keys[0, s]
        place = places[at]
        l = np.int64(met[place] if few else place)
        sums[place] = _NONE
        if extra.shape[1] == 0 or not (_has(extra, i, extra.shape[1], l) and _has(labels, i, filled, l)):
            labels[i, filled], best[i, filled] = l, floats[VALUES, at]
            filled += 1
    return filled


@helper(error_model="numpy")
def _insert(i, extra, labels, best, end, V, g_ptr, groups, scale, offset, words, filled):
    """Append the labels extra[i] that do not stand there already, up to place `end`; returns how many
    there are then."""
    for e in range(extra.shape[1]):
        l = extra[i, e]
        if l >= 0 and filled < end and not _has(labels, i, filled, l):
            score = _group_score(i, V, g_ptr, groups, l)
            labels[i, filled], best[i, filled] = l, score * scale[l] + offset[l] + words[l]
            filled += 1
    return filled


@helper(error_model="numpy")
def _has(labels, i, count, l):
    """True if label l is one of labels[i, :count]."""
    for s in range(count):  # noqa: SIM110
        if labels[i, s] == l:
            return True
    return False


@kernel(light=True, limit=8 * ONE, error_model="numpy")
def insert(V, g_ptr, groups, scale, offset, core, extra, found, scores, labels, best):
    """Write the labels `found` (n, K) with their scores to `labels` and `best` (n, at most K), with the
    labels extra[i] after the first `core`, each label once."""
    for i in range(len(labels)):
        filled = 0
        for s in range(found.shape[1]):
            if s == core:
                for e in range(extra.shape[1]):
                    l = extra[i, e]
                    if l >= 0 and filled < labels.shape[1] and not _has(labels, i, filled, l):
                        score = _group_score(i, V, g_ptr, groups, l)
                        labels[i, filled], best[i, filled] = l, score * scale[l] + offset[l]
                        filled += 1
            if filled == labels.shape[1]:
                break
            l = found[i, s]
            if s < core or not _has(labels, i, min(filled, core + extra.shape[1]), l):
                labels[i, filled], best[i, filled] = l, scores[i, s]
                filled += 1
