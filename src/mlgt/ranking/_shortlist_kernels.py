"""Compiled kernels of `shortlist`."""

import numpy as np
from numba import uint32

from .._core.compile import kernel
from ..decoding._search_kernels import keep_best, likely_bar


@kernel(error_model="numpy")
def shortlist(
    indptr, indices, data, c_ptr, c_labels, c_values, c_scale, prior, weight, frequent, V, g_ptr, groups,
    scale, offset, size, extra, labels, best, near,
):  # fmt: skip
    """`shortlist.shortlist` row by row; `prior` (d,) and `weight` are those of its eq. (1), V (n, m) the
    group values. With `frequent`, the labels of the highest prior, only these and the labels that share a
    word with the row are looked at; else all are."""
    n, d = len(labels), prior.shape[0]
    k = labels.shape[1] - extra.shape[1]
    words = np.zeros(d, np.float32)
    met, places = np.empty(d + 1, np.int32), np.empty(d + 1, np.int32)
    sums, values = np.empty(d, np.float32), np.empty(d, np.float32)
    for i in range(n):
        few = len(frequent) > 0
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            x = weight * data[e] * c_scale[j]
            having, value = c_labels[c_ptr[j] : c_ptr[j + 1]], c_values[c_ptr[j] : c_ptr[j + 1]]
            if few:
                for q in range(len(having)):
                    l = uint32(having[q])
                    met[count] = l
                    count += (words[l] == 0.0) & (count < d)  # products may underflow to 0
                    words[l] += x * np.float32(value[q])
            else:
                for q in range(len(having)):
                    words[uint32(having[q])] += x * np.float32(value[q])
        if few:
            for l in frequent:
                met[count] = l
                count += (words[l] == 0.0) & (count < d)
            for s in range(count):
                sums[s] = words[met[s]] + prior[met[s]]
        else:
            count = d
            for l in range(d):
                sums[l] = words[l] + prior[l]
        found = _best_places(sums[:count], size, places, values)
        for s in range(found):
            l = met[places[s]] if few else places[s]
            values[s] = group_score(V[i], g_ptr, groups, l) * scale[l] + offset[l] + words[l]
        if found > k:
            keep_best(places[:found], values[:found], k)
            found = k
        falling = np.argsort(-values[:found], kind="mergesort")
        for s in range(found):
            l = places[falling[s]]
            l = met[l] if few else l
            labels[i, s], best[i, s], near[i, s] = l, values[falling[s]], words[l] / weight
        for s in range(k, labels.shape[1]):
            l = extra[i, s - k]
            if l >= 0 and not _has(labels[i, :found], l):
                score = group_score(V[i], g_ptr, groups, l) * scale[l] + offset[l] + words[l]
                labels[i, s], best[i, s], near[i, s] = l, score, words[l] / weight
        if few:
            for s in range(count):
                words[met[s]] = 0.0
        else:
            words[:] = 0.0


@kernel(error_model="numpy")
def group_score(v, g_ptr, groups, l):
    """The sum of the group values v (m,) over the groups of label l."""
    score = np.float32(0.0)
    for e in range(g_ptr[l], g_ptr[l + 1]):
        score += v[groups[e]]
    return score


@kernel(error_model="numpy")
def _has(labels, l):
    for other in labels:
        if other == l:
            return True
    return False


@kernel(error_model="numpy")
def append(V, g_ptr, groups, scale, offset, extra, labels, best):
    """Score the labels `extra` (n, E) that are not among the first of `labels`, as its last E columns."""
    k = labels.shape[1] - extra.shape[1]
    for i in range(len(labels)):
        for s in range(k, labels.shape[1]):
            l = extra[i, s - k]
            if l >= 0 and not _has(labels[i, :k], l):
                labels[i, s] = l
                best[i, s] = group_score(V[i], g_ptr, groups, l) * scale[l] + offset[l]


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def _above(row, bar, places):
    """Write where the values above `bar` are to `places`, without a branch; returns how many there are."""
    found = 0
    for l in range(row.shape[0]):
        places[found] = l
        found += row[l] > bar
    return found
