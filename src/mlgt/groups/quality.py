"""Quality of a group matrix: correlation metric, coherence, disjunctness.

    Phi_Y(A) = || Y'Y / n - A'A / m ||_F                                       (eq. 1 of the paper)

is small when labels that occur together share groups. Expanding the square,

    Phi^2 = ||Y'Y||^2 / n^2 - 2 ||YA'||^2 / (n m) + ||AA'||^2 / m^2,

needs the sparse Y'Y, an (n, m) sparse and an (m, m) product, but no dense (d, d) matrix.
"""

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical
from .._core.topk import top_k
from ..labels.graph import cooccurrence
from ..metrics import hamming_errors
from .pool import label_sums, pool


def correlation_metric(Y: sp.csr_array, A: sp.csr_array) -> float:
    """Return Phi_Y(A), eq. (1) of the paper; smaller is better. It grows with the column weight."""
    Y, A = canonical(Y, np.float64), canonical(A, np.float64)
    n, m = Y.shape[0], A.shape[0]
    labels = (cooccurrence(Y).data ** 2).sum() / n**2
    cross = ((Y @ A.T).data ** 2).sum() / (n * m)
    groups = ((A @ A.T).data ** 2).sum() / m**2
    return float(np.sqrt(max(0.0, labels - 2 * cross + groups)))


def coherence(A: sp.csr_array, block: int = 1024) -> float:
    """Return the largest cosine between two columns of A; columns without a group are left out."""
    A = sp.csc_array(canonical(A, np.float64))
    norms = np.sqrt(A.multiply(A).sum(axis=0)).ravel()
    A = sp.csc_array(A[:, norms > 0] @ sp.diags_array(1.0 / norms[norms > 0]))
    largest = 0.0
    for first in range(0, A.shape[1], block):
        cosines = (A[:, first : first + block].T @ A).toarray()
        width = len(cosines)
        cosines[np.arange(width), first + np.arange(width)] = 0.0
        largest = max(largest, float(cosines.max(initial=0.0)))
    return largest


def is_disjunct(A: sp.csr_array, k: int) -> bool:
    """Return whether no column of A is contained in the union of k others: then z = A OR y determines every
    y with at most k labels. The search is exact and exponential in k, for small A."""
    A = sp.csc_array(canonical(A))
    columns = [sum(1 << int(i) for i in support) for support in np.split(A.indices, A.indptr[1:-1])]
    return not any(_covered(target, columns[:j] + columns[j + 1 :], k) for j, target in enumerate(columns))


def _covered(target, columns, k):
    """Return whether at most k of `columns` (bit sets) cover `target`, branching on its lowest bit."""
    if target == 0:
        return True
    if k == 0:
        return False
    lowest = target & -target
    return any(_covered(target & ~column, columns, k - 1) for column in columns if column & lowest)


def reduction_loss(Y: sp.csr_array, A: sp.csr_array, k: int = 5, block: int = 1024) -> float:
    """Return the paper's R-loss: Hamming errors after pooling and decoding Y itself, without classifiers.

    Decoding takes the k labels with the largest b = A'z; the paper's figures need k = 5.
    """
    Y = canonical(Y)
    total = 0.0
    for first in range(0, Y.shape[0], block):
        rows = Y[first : first + block]
        labels, _ = top_k(label_sums(pool(rows, A).toarray(), A), k)
        total += hamming_errors(rows, labels) * rows.shape[0]
    return total / Y.shape[0]
