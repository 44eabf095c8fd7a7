"""Theorem 1: the exact expectations hold, the printed bound does not."""

import numpy as np
import pytest

from mlgt.decoding.top_k import group_votes
from mlgt.groups import pool
from mlgt.groups.reweight import reweight
from mlgt.groups.sampling import bernoulli
from mlgt.groups.theory import expected_votes, printed_bound


def sampled_votes(P, support, draws, rng):
    """b = A'z for independent draws of A with probabilities P (m, d)."""
    m, d = P.shape
    A = bernoulli(np.broadcast_to(P, (draws, m, d)), rng)
    z = A[:, :, support].any(axis=2)
    return np.einsum("tij,ti->tj", A, z, dtype=np.float64)


@pytest.mark.parametrize("seed", range(4))
def test_expected_votes_by_monte_carlo(seed):
    """The mean of 20,000 draws within 5 standard errors for all 25 labels: a correct formula fails
    with a probability below 25 * 6e-7 = 1.5e-5 a seed."""
    rng = np.random.default_rng(seed)
    m, d, c, draws = 14, 25, 4, 20_000
    P = reweight(rng.random((d, m)) * (rng.random((d, m)) < 0.6), c).T
    support = rng.choice(d, 3, replace=False)
    votes = sampled_votes(P, support, draws, rng)
    error = votes.std(axis=0) / np.sqrt(draws)
    assert (np.abs(votes.mean(axis=0) - expected_votes(P, support)) <= 5 * error + 1e-9).all()


def test_labels_of_the_support_have_c_votes_on_average():
    rng = np.random.default_rng(3)
    P = reweight(rng.random((30, 12)), 5).T
    np.testing.assert_allclose(expected_votes(P, [1, 4, 9])[[1, 4, 9]], 5)


def test_counterexample_to_the_printed_bound():
    """Uniform H, m = 10, c = 4, k = 5: E[b_j] = 3.69 against a printed bound of 1.35."""
    P = np.full((10, 30), 0.4)
    support = np.arange(5)
    assert expected_votes(P, support)[10] == pytest.approx(3.689, abs=1e-3)
    assert printed_bound(P, support) == pytest.approx(1.353, abs=1e-3)
    votes = sampled_votes(P, support, 20_000, np.random.default_rng(0))[:, 10]
    assert votes.mean() - 5 * votes.std() / np.sqrt(20_000) > printed_bound(P, support)


def test_the_vectorised_votes_of_the_tests_are_the_librarys(rng):
    P = reweight(rng.random((9, 6)), 2).T
    A = bernoulli(P, rng).astype(float)
    y = np.zeros((1, 9))
    y[0, [2, 5]] = 1
    by_hand = A.T @ (A @ y[0] > 0)
    np.testing.assert_allclose(group_votes(pool(y, A).toarray(), A)[0], by_hand)
