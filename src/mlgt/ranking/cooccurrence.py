"""Labels vouch for each other: what the likely labels of a row say of the others, by co-occurrence.

    company_l = sqrt(sum over the TOP most likely candidates l' != l of p(l') P(l | l'))              (1)

P(l | l') is the share of the training rows of l' that have l too, a little shrunk,
G_ll' / (G_l'l' + 1); shares below LEAST are left out. p(l') is what the other evidence makes of l'. Where
labels come in families (a term and its broader ones) a certain child makes its parents certain. Of the
sum, its logarithm and its root, the root serves both such families and looser vocabularies.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from . import _kernels

TOP, LEAST = 10, 0.05
_UNIT = np.float32(1 / 255)


@dataclass(frozen=True)
class Companions:
    """P(l | l') by l': those of l' are labels[indptr[l'] : indptr[l' + 1]], values in units of 1/255."""

    indptr: np.ndarray  # (d + 1,) int64
    labels: np.ndarray  # int32
    values: np.ndarray  # uint8

    @classmethod
    def of(cls, G):
        """From the co-occurrence G = Y'Y (d, d)."""
        shares = sp.coo_array(G)
        given = np.maximum(G.diagonal(), 0) + 1
        share = shares.data / given[shares.row]
        kept = (share >= LEAST) & (shares.row != shares.col)
        part = sp.csr_array((share[kept], (shares.row[kept], shares.col[kept])), shape=G.shape)
        part.sort_indices()
        values = np.rint(part.data * 255).astype(np.uint8)
        return cls(part.indptr.astype(np.int64), part.indices.astype(np.int32), values)

    def company(self, candidates, logits):
        """Eq. (1) for candidates (n, K) with these log-odds; 0 where there is no candidate."""
        total = np.zeros(candidates.shape, np.float32)
        with np.errstate(over="ignore"):
            probability = (1 / (1 + np.exp(-logits))).astype(np.float32)
        best = np.argsort(-logits, axis=1, kind="stable")[:, :TOP]
        _kernels.gather_company(
            candidates, probability, best, self.indptr, self.labels, self.values,
            np.full(len(self.indptr) - 1, -1, np.int32), total,
        )  # fmt: skip
        return np.sqrt(_UNIT * total)
