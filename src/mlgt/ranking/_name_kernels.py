"""Compiled kernels of `names`."""

import numpy as np

from .._core.compile import helper, kernel


@kernel(light=True, error_model="numpy")
def best_named(row_ptr, row_words, w_ptr, w_names, idf, total, name_label, rarity, mark, found, labels):
    """Write the labels (n, K) of the best name scores of each row, best first, padded with -1.

    The words of row i are row_words[row_ptr[i] : row_ptr[i + 1]], -1 for a word of no name. `mark` (q,)
    int32 is -1, `found` (N,) float32 is 0 at the start and at the end.
    """
    n, count = labels.shape
    touched = np.empty(len(name_label), np.int32)
    scores = np.empty(count, np.float32)
    for i in range(n):
        words = row_words[row_ptr[i] : row_ptr[i + 1]]
        met = add_words(i, words, w_ptr, w_names, idf, mark, found, touched)
        filled = 0
        for t in range(met):
            name = touched[t]
            score = found[name] * found[name] / total[name] * rarity[name_label[name]]
            found[name] = 0.0
            filled = _insert(labels[i], scores, filled, name_label[name], score)
        labels[i, filled:] = -1
        for word in words:
            if word >= 0:
                mark[word] = -1


@helper(error_model="numpy")
def add_words(i, words, w_ptr, w_names, idf, mark, found, touched):
    """Add the idf of the distinct words to their names; returns how many names were touched."""
    met = 0
    for word in words:
        if word < 0 or mark[word] == i:
            continue
        mark[word] = i
        for name in w_names[w_ptr[word] : w_ptr[word + 1]]:
            touched[met] = name
            met += found[name] == 0.0
            found[name] += idf[word]
    return met


@helper(error_model="numpy")
def _insert(labels, scores, filled, label, score):
    """Keep the best labels, each once, in falling order; returns how many there are."""
    count = len(scores)
    if filled == count and score <= scores[count - 1]:
        return filled
    at = 0
    while at < filled and labels[at] != label:
        at += 1
    if at < filled:  # known by another of its names
        if score <= scores[at]:
            return filled
    else:
        filled = min(filled + 1, count)
        at = filled - 1
    while at > 0 and (scores[at - 1] < score or (scores[at - 1] == score and labels[at - 1] > label)):
        labels[at], scores[at] = labels[at - 1], scores[at - 1]
        at -= 1
    labels[at], scores[at] = label, score
    return filled


@kernel(light=True, error_model="numpy")
def score_names(
    row_ptr, row_words, idf, total, n_ptr, n_words, l_ptr, rarity, mark, labels, name, phrase
):  # fmt: skip
    """The name score of each label (n, K), and the same where the whole name stands in the row, else 0;
    `mark` as in `best_named`."""
    n, count = labels.shape
    for i in range(n):
        words = row_words[row_ptr[i] : row_ptr[i + 1]]
        for word in words:
            if word >= 0:
                mark[word] = i
        for c in range(count):
            l = labels[i, c]
            if l < 0:
                continue
            for e in range(l_ptr[l], l_ptr[l + 1]):
                own = n_words[n_ptr[e] : n_ptr[e + 1]]
                sum = np.float32(0.0)
                complete = True
                for word in own:
                    here = mark[word] == i
                    sum += idf[word] if here else np.float32(0.0)
                    complete &= here
                score = sum * sum / total[e] * rarity[l]
                name[i, c] = max(name[i, c], score)
                if complete and score > phrase[i, c] and _stands(own, words):
                    phrase[i, c] = score
        for word in words:
            if word >= 0:
                mark[word] = -1


@helper(error_model="numpy")
def _stands(name, words):
    """True if the words of the name follow each other in `words`."""
    m = len(name)
    for start in range(len(words) - m + 1):
        at = 0
        while at < m and words[start + at] == name[at]:
            at += 1
        if at == m:
            return True
    return False
