"""A second way to candidates (ours): the labels whose training rows look most like a row.

    centroid_l = s_l / |s_l|,   s_l = sum of the rows of label l;      similarity = centroid_l x      (1)

Groups speak for their frequent members; a label with five rows is found by its words. Candidates are the K
best of

    matcher score (with prior) + WEIGHT * similarity.                                                (2)

Nothing is trained: (1) is one sparse product.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..quantize import quantize_runs
from . import _kernels

WEIGHT = np.float32(7.0)
PRUNE = 0.02


def label_centroids(X, Y, row_weight=None):
    """Eq. (1): (d, p) CSR, rows of length 1, or empty for a label without rows."""
    rows = Y if row_weight is None else sp.diags_array(np.asarray(row_weight, np.float32)) @ Y
    sums = sp.csr_array(sp.csr_array(rows.T, dtype=np.float32) @ X)
    sums.sort_indices()
    lengths = np.sqrt(sums.multiply(sums).sum(axis=1))
    sums.data /= np.repeat(np.maximum(lengths, np.float32(1e-30)), np.diff(sums.indptr))
    return sums


@dataclass(frozen=True)
class CentroidIndex:
    """Centroids by feature: those with feature j are labels[indptr[j] : indptr[j + 1]]."""

    indptr: np.ndarray  # (p + 1,) int64
    labels: np.ndarray  # int32
    values: np.ndarray  # int8, in units of scale
    scale: np.ndarray  # (p,) float32

    @classmethod
    def of(cls, centroids, prune=PRUNE):
        """Entries below `prune` are left out, the rest rounded to a byte."""
        kept = centroids.copy()
        kept.data[np.abs(kept.data) < prune] = 0
        kept.eliminate_zeros()
        by_feature = sp.csr_array(kept.T)
        by_feature.sort_indices()
        indptr = by_feature.indptr.astype(np.int64)
        values, scale = quantize_runs(by_feature.data, indptr)
        return cls(indptr, by_feature.indices.astype(np.int32), values, scale)

    def work(self, X):
        """Additions a row of X takes, on average."""
        return float(np.diff(self.indptr)[X.indices].sum() / max(1, X.shape[0]))


def similarity(X, centroids, n_labels):
    """(n, d) float32: centroid_l x of all labels, for a few rows X."""
    out = np.empty((X.shape[0], n_labels), np.float32)
    _kernels.similarities(
        X.indptr, X.indices, X.data, centroids.indptr, centroids.labels, centroids.values, centroids.scale,
        out,
    )  # fmt: skip
    return out
