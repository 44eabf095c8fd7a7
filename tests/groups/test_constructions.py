import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.groups import CONSTRUCTIONS, constant_weight_groups, nmf_groups, pool, sparse_random_groups
from mlgt.groups.reweight import reweight


def is_binary_csr(A, m, d):
    return isinstance(A, sp.csr_array) and A.shape == (m, d) and set(np.unique(A.data)) == {1.0}


def test_sparse_random_entries_have_mean_one_over_k_plus_one(rng):
    m, d, k = 200, 500, 5
    A = sparse_random_groups(m, d, k, rng)
    assert is_binary_csr(A, m, d)
    p = 1 / (k + 1)
    sigma = np.sqrt(p * (1 - p) / (m * d))
    assert abs(A.nnz / (m * d) - p) < 5 * sigma


@pytest.mark.parametrize(
    ("m", "d", "c"), [(12, 24, 3), (10, 37, 4), (7, 50, 7), (5, 3, 2), (350, 3993, 16)]
)
def test_constant_weight_bands_have_one_per_column_and_even_rows(m, d, c, rng):
    A = constant_weight_groups(m, d, c, rng)
    assert is_binary_csr(A, m, d)
    bands, labels = [], 0
    for size in A.sum(axis=1):  # a band ends when its rows have held every label
        if labels % d == 0:
            bands.append([])
        bands[-1].append(size)
        labels += size
    assert len(bands) == c
    assert np.ptp([len(band) for band in bands]) <= 1
    assert all(sum(band) == d and np.ptp(band) <= 1 for band in bands)
    first = 0
    for band in bands:
        assert (A[first : first + len(band)].sum(axis=0) == 1).all()
        first += len(band)


def test_first_band_descends_as_in_the_paper(rng):
    """Row i of the first sub-matrix has ones in columns (i - 1) r + 1 .. i r."""
    A = constant_weight_groups(12, 24, 3, rng).toarray()
    assert (A[:4] == np.kron(np.eye(4), np.ones(6))).all()


def test_bands_are_independent_permutations(rng):
    A = constant_weight_groups(40, 1000, 4, rng).toarray()
    shared = (A[10:20] @ A[20:30].T) / 100  # overlap of two random tenths is a hundredth
    assert abs(shared.mean() - 0.1) < 0.01


@pytest.mark.parametrize("sampling", ["fixed_size", "bernoulli"])
def test_nmf_groups_follow_H(sampling, rng):
    """Labels of disjoint clusters never share a group when H has enough non-zeros for c."""
    H = np.kron(np.eye(3), rng.random((8, 20)) + 0.1)
    A = nmf_groups(H, 4, rng, sampling=sampling)
    assert is_binary_csr(A, 24, 60)
    overlap = (A.T @ A).toarray()
    assert overlap[:20, 20:].sum() == 0
    if sampling == "fixed_size":
        assert (A.sum(axis=0) == 4).all()


@pytest.mark.parametrize("c", [1, 4, 20])
def test_labels_with_any_number_of_nonzeros_are_in_c_groups_as_likely_as_they_should_be(c, rng):
    """Non-zeros of a row of H' are drawn alone where there are more than c of them."""
    V = rng.random((5, 20)) * (np.arange(20) < np.array([0, 2, 4, 5, 20])[:, None])
    H = np.tile(V, (1200, 1)).T  # more than one block of labels
    A = nmf_groups(H, c, rng)
    assert (A.sum(axis=0) == c).all()
    share = A.toarray().T.reshape(1200, 5, 20).mean(axis=0)
    np.testing.assert_allclose(share, reweight(V, c), atol=0.07)


@pytest.mark.parametrize("name", [name for name in CONSTRUCTIONS if name != "saffron"])  # test_saffron.py
def test_plans_draw_reproducibly_and_cover_labels_without_rows(name, rng):
    Y = sp.csr_array((rng.random((300, 40)) < 0.1) & (np.arange(40) != 7))

    def build(seed):
        rng = np.random.default_rng(seed)
        return CONSTRUCTIONS[name].plan(Y, 64, rng).draw(6, rng)

    A = build(0)
    assert is_binary_csr(A, 64, 40)
    assert (A != build(0)).nnz == 0
    assert (A != build(1)).nnz > 0
    assert A.sum(axis=0)[7] > 0  # a label without training rows still has groups


def test_pool_is_the_boolean_or(rng):
    A = sparse_random_groups(15, 30, 4, rng)
    Y = (rng.random((50, 30)) < 0.1).astype(float)
    expected = np.array([[any(a * y > 0 for a, y in zip(A_i, y_n)) for A_i in A.toarray()] for y_n in Y])
    Z = pool(Y, A)
    assert (Z.toarray() == expected).all()
    assert set(np.unique(Z.data)) <= {1.0}
    assert (pool(np.zeros((2, 30)), A).toarray() == 0).all()


def test_unknown_sampling_names_the_choices(rng):
    with pytest.raises(ValueError, match="choose one of bernoulli, fixed_size"):
        CONSTRUCTIONS["nmf"].plan(np.eye(3), 2, rng, sampling="poisson")
    with pytest.raises(ValueError, match="must be above 0"):
        CONSTRUCTIONS["sparse_random"].plan(np.eye(3), 2, rng, k=0)


def test_more_ones_than_groups_are_refused(rng):
    with pytest.raises(ValueError, match="c=5 exceeds m=3"):
        constant_weight_groups(3, 10, 5, rng)
