"""The paper's decoder (section 3, analysis): the top k coordinates of b = A'z.

b counts a label's positive groups, so there are many ties, which affect the results. `top_k` gives them to
the lowest label id, as the paper's code does; `top_k_frequency` (ours) gives them to the label that is more
frequent in training.
"""

import numpy as np
import scipy.sparse as sp

from ..groups.pool import label_sums
from .decoder import Decoder, column_weights, hard_tests, offset_without_groups


def group_votes(Z: np.ndarray, A: sp.csr_array) -> np.ndarray:
    """Return b = A'z for every row: Z (n, m) in {0,1} -> (n, d)."""
    return label_sums(Z, A)


def decode_top_k(A: sp.csr_array, label_counts: np.ndarray | None = None) -> Decoder:
    """s = b = A'z with z = 1[margin > 0], ties to the lowest id."""
    weights = column_weights(A)
    return Decoder(hard_tests, np.ones_like(weights), offset_without_groups(weights))


def decode_top_k_frequency(A: sp.csr_array, label_counts: np.ndarray) -> Decoder:
    """The same with ties to the more frequent label, then to the lowest id."""
    weights = column_weights(A)
    order = np.argsort(-np.asarray(label_counts), kind="stable")
    return Decoder(hard_tests, np.ones_like(weights), offset_without_groups(weights), order=order)
