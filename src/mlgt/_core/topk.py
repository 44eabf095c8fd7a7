"""Label scores -> the k best labels of each row, ties to the lowest label id."""

import numpy as np

from .compile import kernel


@kernel()
def _top_k(scores, labels, best):
    """Insertion into a sorted list of k: a later label must be strictly better to displace."""
    n, d = scores.shape
    k = labels.shape[1]
    for i in range(n):
        row, ids, top = scores[i], labels[i], best[i]
        for l in range(d):
            score = row[l]
            if score > top[k - 1]:
                at = k - 1
                while at > 0 and score > top[at - 1]:
                    top[at] = top[at - 1]
                    ids[at] = ids[at - 1]
                    at -= 1
                top[at] = score
                ids[at] = l


def top_k(scores, k):
    """(labels, scores), both (n, k), best first; padded by -1 and -inf where fewer than k labels
    have a finite score."""
    labels = np.full((len(scores), k), -1, dtype=np.int64)
    best = np.full((len(scores), k), -np.inf, dtype=scores.dtype)
    _top_k(scores, labels, best)
    return labels, best
