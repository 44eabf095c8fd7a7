"""Labels that are given instead of each other.

In a row, each wrong label w is a pair with each true label t that is missed. The count of a pair is

    C[t, w] = |{i : t true and not predicted, w predicted and not true}| = (M'W)[t, w],              (1)

with M (n, d) the missed and W (n, d) the wrong labels, 0 or 1.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical
from .measures import Matrix, hits


class Confusion(NamedTuple):
    """A true label that was missed, the label that was given instead, and the number of rows."""

    true: int
    predicted: int
    rows: int
    reversed: int
    """Rows in which the two change places."""


def confused_pairs(Y: Matrix, predicted: np.ndarray, count: int, least: int = 2) -> list[Confusion]:
    """Return the `count` most frequent pairs of eq. (1), with at least `least` rows each.

    Two labels are a pair once, in the more frequent direction. Ties go to the lowest ids.

    Examples
    --------
    >>> import numpy as np
    >>> from mlgt.metrics import confused_pairs
    >>> Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> confused_pairs(Y, np.array([[1], [1], [0], [2]]), 5)
    [Confusion(true=0, predicted=1, rows=2, reversed=1)]
    """
    Y, predicted = canonical(Y), np.asarray(predicted)
    right = hits(Y, predicted)
    missed = sp.csr_array(Y > 0, dtype=np.int32) - _marked(predicted, right, Y.shape)
    pairs = sp.csr_array(missed.T @ _marked(predicted, ~right & (predicted >= 0), Y.shape))
    pairs.eliminate_zeros()
    found = pairs.tocoo()
    true, wrong = found.coords
    kept: dict[tuple[int, int], Confusion] = {}
    for i in np.lexsort((wrong, true, -found.data)):
        if len(kept) == count or found.data[i] < least:
            break
        t, w = int(true[i]), int(wrong[i])
        if (w, t) not in kept:  # the pair is there already, the other way round
            kept[t, w] = Confusion(t, w, int(found.data[i]), int(pairs[w, t]))
    return list(kept.values())


def _marked(labels, chosen, shape):
    """(n, d) CSR with ones where `chosen` (n, K) marks a label of `labels` (n, K)."""
    rows, columns = np.nonzero(chosen)
    ones = np.ones(len(rows), np.int32)
    return sp.csr_array((ones, (rows, labels[rows, columns])), shape=shape)
