"""The rows that rankers learn from."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from mlgt.ranking.pairs import MIN_NEGATIVE_ROWS, NEGATIVES, NEGATIVES_PER_ROW, negative_rows
from mlgt.ranking.train import candidate_pairs


class Everywhere:
    """A matcher whose candidates are the same labels for all rows."""

    def matched_candidates(self, rows, count):
        return SimpleNamespace(labels=np.tile(np.arange(count), (rows.shape[0], 1)))


def problem(rng, n=400, d=12):
    X = sp.csr_array(rng.random((n, 5), dtype=np.float32))
    return X, sp.csr_array((rng.random((n, d)) < 0.2).astype(np.float32))


def test_all_own_rows_and_the_candidates_of_the_chosen_rows(rng):
    X, Y = problem(rng)
    chosen = np.sort(rng.choice(400, 100, replace=False))
    pairs = candidate_pairs(Everywhere(), X, Y, 6, chosen=chosen)
    for l in range(12):
        rows, positive = (part[pairs.indptr[l] : pairs.indptr[l + 1]] for part in pairs[1:])
        own = Y[:, [l]].toarray().ravel() > 0
        assert set(rows[positive]) == set(np.flatnonzero(own))
        assert set(rows[~positive]) == (set(chosen[~own[chosen]]) if l < 6 else set())


def test_rows_are_left_out_where_others_have_enough_wrong_candidates(rng):
    Y = sp.csr_array((rng.random((4000, 12)) < 0.05).astype(np.float32))
    wrong = 11 * 4000 - Y.nnz
    some = negative_rows(Y, 11, 0)
    assert len(some) == int(4000 * max(MIN_NEGATIVE_ROWS, NEGATIVES_PER_ROW * Y.nnz / wrong))
    assert len(some) < 4000
    assert (np.diff(some) > 0).all()
    assert (some == negative_rows(Y, 11, 0)).all()
    assert negative_rows(Y, 5, 0) is None  # too few per row of a label
    assert negative_rows(Y[:60], 11, 0) is None  # too few per label
    assert NEGATIVES * 12 > 11 * 60
