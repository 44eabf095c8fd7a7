"""Evidence from the other labels of a row: the support that likely labels give each candidate (ours).

    support_l = sqrt(sum over the N_LIKELY most likely candidates l' != l of p(l') P(l | l'))          (1)

P(l | l') is the share of the training rows of l' that also have l, slightly shrunk: G_ll' / (G_l'l' + 1).
Shares below MIN_SHARE are dropped. p(l') is the probability of l' given the other evidence. Where labels
form families (a term and its broader terms), a certain child makes its parents certain. The square root
works better than the sum or its logarithm for such families and for looser vocabularies alike.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays, Stored, array_names, check_runs, id_type
from .._core.space import minus_ones
from . import _order_kernels as _kernels

N_LIKELY = 10
MIN_SHARE = 0.05


@dataclass(frozen=True)
class CooccurrenceShares(Stored):
    """P(l | l') by l': those of l' are labels[indptr[l'] : indptr[l' + 1]], values in units of 1/255."""

    indptr: np.ndarray  # (d + 1,) int64
    labels: np.ndarray  # uint16, or int32 where there are more labels
    values: np.ndarray  # uint8

    ARRAYS = array_names("indptr", "labels", "values")

    @classmethod
    def from_counts(cls, G: sp.csr_array) -> "CooccurrenceShares":
        """Shares from the co-occurrence counts G = Y'Y (d, d)."""
        counts = sp.coo_array(G)
        given = np.maximum(G.diagonal(), 0) + 1
        share = counts.data / given[counts.row]
        kept = (share >= MIN_SHARE) & (counts.row != counts.col)
        part = sp.csr_array((share[kept], (counts.row[kept], counts.col[kept])), shape=G.shape)
        part.sort_indices()
        values = np.rint(part.data * 255).astype(np.uint8)
        return cls(part.indptr.astype(np.int64), part.indices.astype(id_type(G.shape[0])), values)

    def support(self, candidates: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """Eq. (1) for candidates (n, K) with these log-odds; 0 where there is no candidate."""
        support = np.empty(candidates.shape, np.float32)
        _kernels.support_rows(
            candidates, np.ascontiguousarray(logits, np.float32), self.indptr, self.labels, self.values,
            minus_ones(len(self.indptr) - 1), np.empty(N_LIKELY, np.int64), np.empty(N_LIKELY, np.float32),
            support,
        )  # fmt: skip
        return support

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> "CooccurrenceShares":
        """Raise unless the arrays are shares between d labels."""
        check_runs(arrays, "labels", d, d, np.uint8)
        return cls(arrays["indptr"], arrays["labels"], arrays["values"])
