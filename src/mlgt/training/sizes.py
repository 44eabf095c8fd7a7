"""Numbers that follow from the shape of the data: groups, groups per label, candidates, texts per term."""

import numpy as np
import scipy.sparse as sp

from ..classifiers.solver import TILE

COMMON_TERM_TEXTS, COMMON_TERM_DF = 30_000, 2
"""Texts from which a term must occur in COMMON_TERM_DF of them. Terms of one text help a little
(research/micro/text.py), but are half of all columns."""


def auto_n_groups(d: int, k: float) -> int:
    """8 k log2(d) groups for d labels, k of them per row, at most d; whole tiles of the solver."""
    wanted = int(np.ceil(8 * max(k, 1.0) * np.log2(max(d, 2))))
    return min(d, -(-wanted // TILE) * TILE)


def labels_per_row(Y: sp.csr_array) -> float:
    """k, the mean number of labels of the rows that have one."""
    return float(Y.nnz / np.count_nonzero(np.diff(Y.indptr)))


def ranked_weight(m: int) -> int:
    """Groups per label with a ranker, for m groups; without one, Remark 1 searches it."""
    return max(1, min(16, max(4, m // 32), m // 2))


def auto_candidates(d: int) -> int:
    """The largest number of candidates per row for d labels."""
    return min(100, max(20, d // 16))


def auto_min_df(n_texts: int) -> int:
    """Number of texts that a term must occur in."""
    return COMMON_TERM_DF if n_texts >= COMMON_TERM_TEXTS else 1
