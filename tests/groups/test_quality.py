from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.groups import (
    coherence,
    constant_weight_groups,
    correlation_metric,
    is_disjunct,
    sparse_random_groups,
)


def test_phi_equals_the_dense_definition(rng):
    Y = (rng.random((80, 25)) < 0.15).astype(float)
    A = sparse_random_groups(12, 25, 3, rng)
    dense = np.linalg.norm(Y.T @ Y / 80 - (A.T @ A).toarray().astype(float) / 12)
    assert correlation_metric(Y, A) == pytest.approx(dense, rel=1e-12)


def test_phi_of_thirty_thousand_labels(rng):
    """A dense d x d matrix would need 7.2 GB."""
    rows = np.repeat(np.arange(5000), 5)
    Y = sp.csr_array((np.ones(25_000), (rows, rng.integers(30_000, size=25_000))), shape=(5000, 30_000))
    A = constant_weight_groups(400, 30_000, 16, rng)
    phi = correlation_metric(Y, A)
    # For random groups A'A dominates: its norm is that of AA', about d c^2 / m.
    assert phi == pytest.approx(np.linalg.norm((A @ A.T).toarray()) / 400, rel=0.05)


def test_phi_is_zero_when_groups_are_the_rows(rng):
    Y = (rng.random((40, 10)) < 0.3).astype(float)
    assert correlation_metric(Y, Y) == pytest.approx(0, abs=1e-7)


def test_coherence_equals_the_dense_definition(rng):
    A = sparse_random_groups(30, 50, 3, rng).toarray()
    A[:, 7] = 0  # a label without groups has no direction
    norms = np.linalg.norm(A, axis=0)
    keep = norms > 0
    cosines = (A.T @ A)[np.ix_(keep, keep)] / np.outer(norms[keep], norms[keep])
    np.fill_diagonal(cosines, 0)
    assert coherence(A, block=16) == pytest.approx(cosines.max())


def brute_force_disjunct(A, k):
    d = A.shape[1]
    return not any(
        (A[:, j] <= A[:, list(others)].max(axis=1)).all()
        for j in range(d)
        for others in combinations([l for l in range(d) if l != j], k)
    )


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_disjunctness_equals_the_definition(seed, k):
    rng = np.random.default_rng(seed)
    A = (rng.random((14, 8)) < 0.35).astype(float)
    assert is_disjunct(A, k) == brute_force_disjunct(A, k)


def test_identity_is_disjunct_and_a_repeated_column_is_not():
    assert is_disjunct(np.eye(6), 5)
    assert not is_disjunct(np.hstack([np.eye(6), np.eye(6)[:, :1]]), 1)


def test_a_disjunct_design_is_undone_by_support_inclusion(rng):
    from mlgt.decoding import decode_inclusion
    from mlgt.groups import pool

    k, d = 2, 12
    A = next(A for A in (sparse_random_groups(50, d, k, rng) for _ in range(100)) if is_disjunct(A, k))
    Y = np.array([[j in chosen for j in range(d)] for chosen in combinations(range(d), k)], float)
    decoded = decode_inclusion(A).scores(2 * pool(Y, A).toarray() - 1, A) > -np.inf
    assert (decoded == Y).all()


def test_stored_zeros_and_duplicates_are_understood():
    twice = sp.csc_array((np.full(4, 0.5), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 2))
    assert is_disjunct(twice, 1)
    zeros = sp.csc_array(([1.0, 0.0, 0.0, 1.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    assert is_disjunct(zeros, 1)
    assert coherence(zeros) == 0
