"""Label scores -> the k best labels per row, ties to the lowest label id."""

import numpy as np

from ..compile.kernels import kernel


@kernel()
def _top_k(scores, labels, best):
    """Insert labels into a sorted list of k: a later label displaces an earlier one only if better."""
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


def top_k(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (labels, scores), both (n, k), best first; padded with -1 and -inf if fewer than k labels have
    a finite score."""
    labels = np.full((len(scores), k), -1, dtype=np.int64)
    best = np.full((len(scores), k), -np.inf, dtype=scores.dtype)
    _top_k(scores, labels, best)
    return labels, best
