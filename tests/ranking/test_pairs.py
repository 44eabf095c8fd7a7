"""The rows that rankers learn from."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from mlgt.ranking.train import MIN_NEGATIVE_ROWS, NEGATIVES, _negative_rows, candidate_pairs


class Everywhere:
    """A matcher whose candidates are the same labels for all rows."""

    def candidates(self, rows, count):
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


def test_rows_are_left_out_only_where_centroids_find_enough_candidates(rng):
    _, Y = problem(rng)
    by_groups, by_words = SimpleNamespace(index=None), SimpleNamespace(index=object())
    assert _negative_rows(by_groups, Y, 6, 0) is None
    few = _negative_rows(by_words, Y, 6, 0)
    assert len(few) / 400 == max(MIN_NEGATIVE_ROWS, NEGATIVES * 12 / (6 * 400))
    assert (np.diff(few) > 0).all()
    assert (few == _negative_rows(by_words, Y, 6, 0)).all()
    assert _negative_rows(by_words, Y, 3, 0) is None  # 1,200 pairs for 12 labels are not enough
