"""TF-IDF of word counts, as scikit-learn defines it with sublinear tf and smooth idf.

    x_j = (1 + ln count_j) idf_j,     idf_j = 1 + ln((1 + n) / (1 + n_j)),     x -> x / |x|           (1)

for a word in n_j of the n training rows.
"""

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.sparse import column_counts


def smooth_idf(counts: sp.csr_array, words: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Return the idf (p,) float64 of counts (n, p), CSR without stored zeros, or that of some words."""
    return 1 + np.log((1 + counts.shape[0]) / (1 + column_counts(counts)[words]))


def tf_idf(counts: sp.csr_array, idf: np.ndarray) -> sp.csr_array:
    """Apply eq. (1) to counts (n, p), CSR; return float32 rows of length 1, or empty."""
    lengths = np.diff(counts.indptr)
    filled = lengths > 0
    rows = copy(counts)  # shares the columns, without the checks of a new array
    rows.data = tf_idf_values(counts.data, idf[counts.indices], counts.indptr[:-1][filled], lengths[filled])
    return rows


def tf_idf_values(counts: np.ndarray, idf: np.ndarray, starts: np.ndarray, lengths: Any) -> np.ndarray:
    """Apply eq. (1) to the counts of words with this idf; rows have no gaps, and none is empty."""
    values = (1 + np.log(counts)) * idf
    if len(values):
        norms = np.sqrt(np.add.reduceat(values**2, starts))
        values /= norms if len(norms) == 1 else np.repeat(norms, lengths)
    return values.astype(np.float32)
