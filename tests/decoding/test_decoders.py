import numpy as np
import pytest

from mlgt.decoding import (
    DECODERS,
    decode_inclusion,
    decode_soft,
    decode_top_k,
    decode_top_k_frequency,
    search,
)
from mlgt.decoding.index import LabelIndex
from mlgt.groups import constant_weight_groups, pool, sparse_random_groups
from mlgt.groups.pool import label_sums


def signs(Z):
    return 2.0 * Z.toarray() - 1.0


def label_sets(rng, n, d, k):
    Y = np.zeros((n, d))
    for row in Y:
        row[rng.choice(d, k, replace=False)] = 1
    return Y


def test_lift_is_the_dense_product(rng):
    A = sparse_random_groups(20, 35, 4, rng)
    S = rng.normal(size=(9, 20)).astype(np.float32)
    np.testing.assert_allclose(label_sums(S, A), S @ A.toarray(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_inclusion_corrects_half_the_disjunctness(seed):
    """When no two columns share more than t groups, c - k t - 1 = e proves (k, e)-disjunctness, and
    slack e // 2 recovers k labels through e // 2 wrong tests."""
    rng = np.random.default_rng(seed)
    k, c = 3, 24
    A = constant_weight_groups(n_groups := 480, 60, c, rng)
    overlap = (A.T @ A).toarray()
    np.fill_diagonal(overlap, 0)
    e = int(c - k * overlap.max() - 1)
    Y = label_sets(rng, 5, 60, k)
    margins = signs(pool(Y, A))
    for row in margins:
        row[rng.choice(n_groups, e // 2, replace=False)] *= -1
    assert e >= 2
    assert ((decode_inclusion(A, slack=e // 2).scores(margins, A) > -np.inf) == Y).all()


def test_inclusion_never_loses_a_label_of_exact_tests(rng):
    A = sparse_random_groups(30, 50, 3, rng)
    Y = label_sets(rng, 40, 50, 4)
    assert (decode_inclusion(A).scores(signs(pool(Y, A)), A)[Y > 0] == 0).all()


def test_a_label_without_groups_is_never_decoded(rng):
    A = constant_weight_groups(10, 6, 3, rng).toarray()
    A[:, 2] = 0
    everything = np.ones((1, 10), np.float32)
    assert decode_inclusion(A).scores(everything, A)[0, 2] == -np.inf
    assert decode_soft(A).scores(everything, A)[0, 2] == -np.inf
    assert np.isfinite(np.delete(decode_inclusion(A).scores(everything, A), 2)).all()


def test_votes_of_present_labels_are_c(rng):
    """b_j = c for j in supp(y) when the tests are exact, and never more for any label."""
    A = constant_weight_groups(40, 100, 5, rng)
    Y = label_sets(rng, 30, 100, 3)
    b = decode_top_k(A).scores(signs(pool(Y, A)), A)
    assert (b[Y > 0] == 5).all()
    assert b.max() == 5


def ranking(decoder, margins, A, k):
    return search(decoder.values(margins), LabelIndex(A), decoder, k)[0]


def test_the_paper_gives_ties_to_the_lowest_id_and_ours_to_the_frequent():
    A = np.eye(4)
    margins = np.array([[1.0, 1.0, -1.0, 1.0]], np.float32)
    counts = np.array([1, 5, 9, 5])
    assert ranking(decode_top_k(A, counts), margins, A, 4).tolist() == [[0, 1, 3, 2]]
    assert ranking(decode_top_k_frequency(A, counts), margins, A, 4).tolist() == [[1, 3, 0, 2]]


def test_frequency_never_overrules_a_vote(rng):
    A = constant_weight_groups(30, 200, 6, rng)
    margins = rng.normal(size=(20, 30)).astype(np.float32)
    counts = rng.integers(0, 1000, size=200)
    decoder = decode_top_k_frequency(A, counts)
    ordered = np.take_along_axis(decoder.scores(margins, A), ranking(decoder, margins, A, 200), axis=1)
    assert (np.diff(ordered, axis=1) <= 0).all()


def test_soft_scores_are_mean_log_probabilities(rng):
    A = constant_weight_groups(12, 9, 3, rng)
    margins = rng.normal(size=(4, 12)).astype(np.float32)
    counts = np.arange(9)
    probabilities = 1 / (1 + np.exp(-2.0 * margins.astype(np.float64)))
    dense = A.toarray()
    expected = np.array([[np.log(p[dense[:, l] > 0]).mean() for l in range(9)] for p in probabilities])
    np.testing.assert_allclose(decode_soft(A, slope=2.0).scores(margins, A), expected, rtol=1e-4)
    with_prior = decode_soft(A, counts, slope=2.0, prior=0.3).scores(margins, A)
    np.testing.assert_allclose(with_prior, expected + 0.3 * np.log1p(counts), rtol=1e-4, atol=1e-5)


def test_soft_scores_survive_huge_margins(rng):
    A = constant_weight_groups(12, 9, 3, rng)
    margins = np.full((1, 12), 1e6, np.float32) * rng.choice(np.float32([-1, 1]), 12)
    scores = decode_soft(A).scores(margins, A)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", DECODERS)
def test_permuted_labels_give_permuted_scores(name, rng):
    A = constant_weight_groups(20, 30, 4, rng)
    margins, counts = rng.normal(size=(6, 20)).astype(np.float32), rng.integers(1, 99, size=30)
    order = rng.permutation(30)
    straight = DECODERS[name](A, counts).scores(margins, A)[:, order]
    B = A.toarray()[:, order]
    permuted = DECODERS[name](B, counts[order]).scores(margins, B)
    np.testing.assert_allclose(permuted, straight, rtol=1e-6)


@pytest.mark.parametrize("options", [{"slope": 0}, {"slope": np.nan}, {"slope": -1}, {"prior": np.inf}])
def test_senseless_options_are_refused(options):
    with pytest.raises(ValueError, match="must be above 0"):
        decode_soft(np.eye(3), np.ones(3), **options)
