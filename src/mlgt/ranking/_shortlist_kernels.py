"""Compiled kernels of `shortlist`."""

import numpy as np
from numba import int64, uint32

from .._core.compile import helper, kernel
from .._core.sorting import order_falling
from ..decoding._search_kernels import SAMPLE_STEP, bar_of_sample, keep_best, likely_bar

FEW_FACTOR = 3
"""Time for a label that is found by a list, as a multiple of that for a label where all are read."""


@kernel(error_model="numpy")
def shortlist(
    indptr, indices, data, c_ptr, c_labels, c_values, c_scale, prior, weight, frequent, V, g_ptr, groups,
    scale, offset, core, extra, sizes, ends, labels, best, near,
):  # fmt: skip
    """`shortlist.shortlist` row by row; `prior` (d,) and `weight` are those of its eq. (1), V (n, m) the
    group values. With `frequent`, the labels of the highest prior, only these and the labels that share a
    word with the row are looked at where that is less work; else all are. Places up to ends[t] are filled
    from a shortlist of sizes[t] labels, without those that stand before them; the labels extra[i] follow
    the first `core`."""
    n, d = labels.shape[0], prior.shape[0]
    joined = extra.shape[1]
    words = np.zeros(d, np.float32)
    met, places = np.empty(d + 1, np.int32), np.empty(d + 1, np.int32)
    sums, values = np.empty(d, np.float32), np.empty(d + 1, np.float32)
    for i in range(n):
        few = len(frequent) > 0 and _are_few(indices[indptr[i] : indptr[i + 1]], c_ptr, len(frequent), d)
        count = int64(0)  # a literal 0 has compiled code of its own
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            having, value = c_labels[c_ptr[j] : c_ptr[j + 1]], c_values[c_ptr[j] : c_ptr[j + 1]]
            count = _add_words(weight * data[e] * c_scale[j], having, value, words, met, count, few)
        if few:
            count = _add_prior(words, prior, frequent, met, sums, count)
        else:
            count = int64(d)
        filled = int64(0)
        for t in range(len(sizes)):
            if t == 0 and not few:
                found = _best_labels(words, prior, sizes[t], sums, len(sizes) > 1, places, values)
            else:
                found = _best_places(sums[:count], sizes[t], places, values)
            for s in range(found):
                l = met[places[s]] if few else places[s]
                score = _group_score(V[i], groups[g_ptr[l] : g_ptr[l + 1]])
                values[s] = score * scale[l] + offset[l] + words[l]
            room = ends[t] - filled + joined
            if found > room:
                keep_best(places[:found], values[:found], room)
                found = room
            falling = order_falling(values, found)
            row, scores, first = labels[i], best[i], 0
            if t == 0 and joined > 0:
                first = min(core, found)
                filled = _fill(
                    falling[:first], places, values, met, few, sums, extra[i], row, scores, first, filled
                )
                filled = _insert(
                    extra[i], row[: ends[0]], scores, V[i], g_ptr, groups, scale, offset, words, filled
                )
            filled = _fill(
                falling[first:], places, values, met, few, sums, extra[i], row, scores, ends[t], filled
            )
        for s in range(filled):
            near[i, s] = words[labels[i, s]] / weight
        if few:
            for s in range(count):
                words[met[s]] = 0.0
        else:
            words[:] = 0.0


@helper(error_model="numpy")
def _are_few(features, c_ptr, n_frequent, d):
    """True if the labels with one of these features, and the frequent ones, are read faster than all d."""
    met = 0
    for j in features:
        met += c_ptr[j + 1] - c_ptr[j]
    return FEW_FACTOR * (met + n_frequent) < d


@helper(error_model="numpy")
def _add_words(x, having, value, words, met, count, few):
    """Add the similarity by one word to the labels `having` it; with `few`, new ones are noted in `met`,
    whose length is returned."""
    if few:
        for q in range(len(having)):
            l = uint32(having[q])
            met[count] = l
            count += (words[l] == 0.0) & (count < len(words))  # products may underflow to 0
            words[l] += x * np.float32(value[q])
    else:
        for q in range(len(having)):
            words[uint32(having[q])] += x * np.float32(value[q])
    return count


@helper(error_model="numpy")
def _add_prior(words, prior, frequent, met, sums, count):
    """Write words + prior to `sums`, of the labels met and of the frequent ones; returns how many."""
    for l in frequent:
        met[count] = l
        count += (words[l] == 0.0) & (count < len(prior))
    for s in range(count):
        sums[s] = words[met[s]] + prior[met[s]]
    return count


@helper(error_model="numpy")
def _best_labels(words, prior, k, sums, kept, places, values):
    """As `_best_places` of words + prior, which go to `sums` if they are `kept`; in one pass."""
    sample = np.empty((len(words) + SAMPLE_STEP - 1) // SAMPLE_STEP, np.float32)
    for i in range(len(sample)):
        sample[i] = words[i * SAMPLE_STEP] + prior[i * SAMPLE_STEP]
    bar, found = bar_of_sample(sample, k), int64(0)
    while True:
        for l in range(len(words)):
            value = words[l] + prior[l]
            places[found], values[found] = l, value
            found += value > bar
        if found >= k or bar == -np.inf:
            break
        bar, found = np.float32(-np.inf), int64(0)  # the guess was too high
    if kept:
        for l in range(len(words)):
            sums[l] = words[l] + prior[l]
    if found > k:
        keep_best(places[:found], values[:found], k)
        found = int64(k)
    return found


@helper(error_model="numpy")
def _group_score(values, own):
    score = np.float32(0.0)
    for group in own:
        score += values[group]
    return score


@helper(error_model="numpy")
def _fill(falling, places, values, met, few, sums, extra, labels, best, end, filled):
    """Append labels in falling order, up to place `end`; returns how many there are then. Those of `extra`
    that stand there already are skipped, and none is found again."""
    for s in range(len(falling)):
        if filled == end:
            break
        place = places[falling[s]]
        l = met[place] if few else place
        sums[place] = -np.inf
        if not _has(extra, l) or not _has(labels[:filled], l):
            labels[filled], best[filled] = l, values[falling[s]]
            filled += 1
    return filled


@helper(error_model="numpy")
def _insert(extra, labels, best, values, g_ptr, groups, scale, offset, words, filled):
    """Append the labels `extra` that do not stand there already; returns how many there are then."""
    for l in extra:
        if l >= 0 and filled < len(labels) and not _has(labels[:filled], l):
            score = _group_score(values, groups[g_ptr[l] : g_ptr[l + 1]])
            labels[filled], best[filled] = l, score * scale[l] + offset[l] + words[l]
            filled += 1
    return filled


@helper(error_model="numpy")
def _has(labels, l):
    for other in labels:  # noqa: SIM110
        if other == l:
            return True
    return False


@kernel(light=True, error_model="numpy")
def insert(V, g_ptr, groups, scale, offset, core, extra, found, scores, labels, best):
    """Write the labels `found` (n, K) with their scores to `labels` and `best` (n, at most K), with the
    labels extra[i] after the first `core`, each label once."""
    for i in range(len(labels)):
        filled = 0
        for s in range(found.shape[1]):
            if s == core:
                for l in extra[i]:
                    if l >= 0 and filled < labels.shape[1] and not _has(labels[i, :filled], l):
                        score = _group_score(V[i], groups[g_ptr[l] : g_ptr[l + 1]])
                        labels[i, filled], best[i, filled] = l, score * scale[l] + offset[l]
                        filled += 1
            if filled == labels.shape[1]:
                break
            l = found[i, s]
            if s < core or not _has(labels[i, core : min(filled, core + extra.shape[1])], l):
                labels[i, filled], best[i, filled] = l, scores[i, s]
                filled += 1


@helper(error_model="numpy")
def _best_places(row, k, places, values):
    """Write where the k best of `row` are, ascending, to `places` and return how many: fewer where values
    are -inf. `values` is a work space."""
    bar = likely_bar(row, k)
    found = _above(row, bar, places)
    if found < k and bar > -np.inf:
        found = _above(row, np.float32(-np.inf), places)  # the guess was too high
    if found > k:
        for s in range(found):
            values[s] = row[places[s]]
        keep_best(places[:found], values[:found], k)
        found = k
    return found


@helper(error_model="numpy")
def _above(row, bar, places):
    """Write where the values above `bar` are to `places`, without a branch; returns how many there are."""
    found = 0
    for l in range(row.shape[0]):
        places[found] = l
        found += row[l] > bar
    return found
