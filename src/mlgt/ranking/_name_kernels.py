"""Compiled kernels of `names`."""

import numpy as np

from .._core.csr import places_of
from .._core.prefetch import prefetch
from ..compile.kernels import ANY, ONE, helper, kernel

MAX_TABLE = 1 << 26
"""Size of a table of rows and words up to which NumPy scores names if the kernel was never compiled."""


@kernel(light=True, limit=8 * ONE, error_model="numpy")
def best_named(
    row_ptr, row_words, w_ptr, w_names, idf, facts, name_label, mark, found, touched, scores, labels
):  # fmt: skip
    """Write the labels (n, K) of the best name scores of each row, best first, padded with -1.

    `facts` (2 N,) has the idf of all words of each name, and r of its label. The words of row i are
    row_words[row_ptr[i] : row_ptr[i + 1]], -1 for a word of no name. `mark` (q,) int32 is -1, `found` (N,)
    float32 is 0 at the start and at the end. `touched` (N + 1,) int32 and `scores` (K,) float32 are work
    spaces.
    """
    for i in range(labels.shape[0]):
        met = _add_words(i, row_ptr, row_words, w_ptr, w_names, idf, facts, mark, found, touched)
        filled = 0
        for t in range(met):
            name = touched[t]
            score = found[name] * found[name] / facts[2 * name] * facts[2 * name + 1]
            found[name] = 0.0
            if filled < scores.shape[0] or score > scores[filled - 1]:  # else not even a call
                filled = _insert(i, labels, scores, filled, name_label[name], score)
        for j in range(filled, labels.shape[1]):
            labels[i, j] = -1
        for e in range(row_ptr[i], row_ptr[i + 1]):
            if row_words[e] >= 0:
                mark[row_words[e]] = -1


@helper(error_model="numpy")
def _add_words(i, row_ptr, row_words, w_ptr, w_names, idf, facts, mark, found, touched):
    """Add the idf of the distinct words of row i to their names; returns how many names were touched."""
    met = 0
    for e in range(row_ptr[i], row_ptr[i + 1]):
        word = row_words[e]
        if word >= 0 and mark[word] != i:
            mark[word] = i
            for q in range(w_ptr[word], w_ptr[word + 1]):
                name = w_names[q]
                prefetch(facts, 2 * name)
                touched[met] = name
                met += found[name] == 0.0
                found[name] += idf[word]
    return met


@helper(error_model="numpy")
def _insert(i, labels, scores, filled, label, score):
    """Keep the best labels of row i, each once, in falling order; returns how many there are."""
    count, at = scores.shape[0], 0
    while at < filled and labels[i, at] != label:
        at += 1
    if at < filled:  # known by another of its names
        if score <= scores[at]:
            return filled
    elif filled < count:
        filled += 1
    else:
        at = count - 1
    while at > 0 and (
        scores[at - 1] < score or (scores[at - 1] == score and labels[i, at - 1] > label)
    ):  # fmt: skip
        labels[i, at] = labels[i, at - 1]
        scores[at] = scores[at - 1]
        at -= 1
    labels[i, at] = label
    scores[at] = score
    return filled


def _score_names(row_ptr, row_words, idf, facts, n_ptr, n_words, l_ptr, mark, labels, name, phrase):
    """`score_names` by NumPy, unless a table of all words of all rows would be large."""
    if len(labels) * len(idf) > MAX_TABLE:
        return NotImplemented
    name[:], phrase[:] = 0.0, 0.0
    row, known = np.repeat(np.arange(len(labels)), np.diff(row_ptr)), row_words >= 0
    table = np.zeros((len(labels), len(idf)), bool)
    table[row[known], row_words[known]] = True
    place = np.flatnonzero(labels >= 0)
    of, e = _expand(l_ptr, labels.reshape(-1)[place])  # each name of each label
    place, first, lengths = place[of], n_ptr[e], n_ptr[e + 1] - n_ptr[e]
    row, sums, complete = place // labels.shape[1], np.zeros(len(e), np.float32), np.ones(len(e), bool)
    for r in range(lengths.max(initial=0)):
        own = np.flatnonzero(lengths > r)
        word = n_words[first[own] + r]
        here = table[row[own], word]
        sums[own] += np.where(here, idf[word], np.float32(0.0))
        complete[own] &= here
    score = sums * sums / facts[2 * e] * facts[2 * e + 1]
    np.maximum.at(name.reshape(-1), place, score)
    whole = np.flatnonzero(complete)
    of, at = _expand(row_ptr, row[whole])  # each word of the row with which it may begin
    of = whole[of]
    for r in range(lengths.max(initial=0)):
        word = row_words[np.minimum(at + r, len(row_words) - 1)]
        inside = (at + r < row_ptr[row[of] + 1]) & (
            word == n_words[np.minimum(first[of] + r, len(n_words) - 1)]
        )
        stands = inside | (lengths[of] <= r)
        of, at = of[stands], at[stands]
    np.maximum.at(phrase.reshape(-1), place[of], score[of])
    return None


def _expand(indptr, ids):
    """(j, q) for each q of indptr[ids[j]] .. indptr[ids[j] + 1] - 1, in order."""
    lengths = indptr[ids + 1] - indptr[ids]
    return np.repeat(np.arange(len(ids)), lengths), places_of(indptr[ids], lengths)


@kernel(light=_score_names, limit=ANY, error_model="numpy")
def score_names(
    row_ptr, row_words, idf, facts, n_ptr, n_words, l_ptr, mark, labels, name, phrase
):  # fmt: skip
    """The name score of each label (n, K), and the same where the whole name stands in the row, else 0;
    `facts` and `mark` as in `best_named`."""
    for i in range(labels.shape[0]):
        begin, end = row_ptr[i], row_ptr[i + 1]
        for e in range(begin, end):
            if row_words[e] >= 0:
                mark[row_words[e]] = i
        _prefetch_names(labels, i, l_ptr, n_ptr, facts, n_words)
        for c in range(labels.shape[1]):
            l = labels[i, c]
            name[i, c] = phrase[i, c] = 0.0
            if l < 0:
                continue
            for e in range(l_ptr[l], l_ptr[l + 1]):
                sum = np.float32(0.0)
                complete = True
                for q in range(n_ptr[e], n_ptr[e + 1]):
                    here = mark[n_words[q]] == i
                    sum += idf[n_words[q]] if here else np.float32(0.0)
                    complete &= here
                score = sum * sum / facts[2 * e] * facts[2 * e + 1]
                if score > name[i, c]:
                    name[i, c] = score
                complete &= score > phrase[i, c]
                if complete and _stands(n_words, n_ptr[e], n_ptr[e + 1], row_words, begin, end):
                    phrase[i, c] = score
        for e in range(begin, end):
            if row_words[e] >= 0:
                mark[row_words[e]] = -1


@helper(error_model="numpy")
def _prefetch_names(labels, i, l_ptr, n_ptr, facts, n_words):
    """Ask for the first name of each label of row i, which most have alone."""
    for c in range(labels.shape[1]):
        prefetch(l_ptr, labels[i, c])
    for c in range(labels.shape[1]):
        prefetch(n_ptr, l_ptr[labels[i, c]])
        prefetch(facts, 2 * l_ptr[labels[i, c]])
    for c in range(labels.shape[1]):
        prefetch(n_words, n_ptr[l_ptr[labels[i, c]]])


@helper(error_model="numpy")
def _stands(names, first, last, words, begin, end):
    """True if the words names[first:last] follow each other in words[begin:end]."""
    size = last - first
    for start in range(begin, end - size + 1):
        at = 0
        while at < size and words[start + at] == names[first + at]:
            at += 1
        if at == size:
            return True
    return False
