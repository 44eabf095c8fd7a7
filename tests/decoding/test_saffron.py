from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from mlgt.decoding import decode_noisy, decode_peeling
from mlgt.decoding._saffron_kernels import count_ones, doubleton, pack, singleton
from mlgt.decoding.saffron import bin_bounds, group_values
from mlgt.groups import regular_graph, saffron_design
from mlgt.groups.pool import label_sums
from references import saffron as reference

BOTH = pytest.mark.parametrize("signatures", ["local", "global"])


def use_reference(monkeypatch):
    monkeypatch.setattr("mlgt.decoding.saffron._kernels", reference)


@pytest.fixture(params=["numba", "numpy"])
def kernels(request, monkeypatch):
    if request.param == "numpy":
        use_reference(monkeypatch)


def label_sets(rng, n, d, k):
    return np.array([rng.choice(d, k, replace=False) for _ in range(n)])


def flip(tests, share, rng):
    return tests ^ (rng.random(tests.shape) < share)


def as_margins(tests):
    return np.where(tests, np.float32(1), np.float32(-1))


def found(labels, truth):
    """The share of each row's labels that are among those decoded."""
    return np.array([np.isin(t, l).mean() for t, l in zip(truth, labels)])


def wrong(labels, truth):
    return sum((~np.isin(l[l >= 0], t)).sum() for t, l in zip(truth, labels))


def random_design(rng, signatures):
    d, m1 = rng.integers(1, 60), rng.integers(1, 12)
    c = rng.integers(1, m1 + 1)
    graph = regular_graph(m1, d, c, rng) if rng.random() < 0.5 else rng.random((m1, d)) < c / m1
    graph = graph if graph.sum() else np.ones((m1, d))
    return saffron_design(graph, rng, signatures=signatures)


# The bin decoder.


def bin_words(design, labels):
    words = np.empty((1, 3, 2), np.int64)
    pack(design.pool([labels])[0], design.n_bits, words)
    return words[0]


@BOTH
@pytest.mark.parametrize("r", [2, 11, 16])
def test_a_bin_distinguishes_none_one_and_two_labels(signatures, r, rng):
    design = saffron_design(np.ones((1, r)), rng, signatures=signatures)
    T = design.tables
    assert singleton(T, bin_words(design, [-1])) == -1
    for l in range(r):
        assert singleton(T, bin_words(design, [l])) == l
        assert doubleton(T, bin_words(design, [l]), l) == -1  # alone, and known already
    for one, other in combinations(range(r), 2):
        words = bin_words(design, [one, other])
        assert singleton(T, words) == -1
        assert doubleton(T, words, one) == other
        assert doubleton(T, words, other) == one


def test_three_labels_rarely_name_a_fourth(rng):
    """By chance the permutations agree: 2^-2L were the digits fair, here 2^-10 of 14,880 readings."""
    design = saffron_design(np.ones((1, 32)), rng)
    wrongly = [
        doubleton(design.tables, bin_words(design, labels), known) not in {-1, *labels}
        for labels in combinations(range(32), 3)
        for known in labels
    ]
    assert np.mean(wrongly) < 4 / 2**10


@BOTH
def test_a_wrong_test_spoils_its_bin_and_names_nobody(signatures, rng):
    design = saffron_design(np.ones((1, 13)), rng, signatures=signatures)
    tests = np.repeat(design.pool([[5]]), design.n_groups, axis=0) ^ np.eye(design.n_groups, dtype=bool)
    assert (decode_peeling(design, tests, 3, min_support=0)[0] == -1).all()


@pytest.mark.usefixtures("kernels")
@BOTH
def test_addresses_that_a_bin_does_not_have_name_nobody(signatures, rng):
    """Bin 1 has the labels 0, 1, 2 only, and shows what would be label 6."""
    graph = np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0, 0]])
    design = saffron_design(graph, rng, signatures=signatures)
    alone = design.pool([[6]])
    tests = np.roll(alone, design.n_tests, axis=1)
    assert decode_peeling(design, alone, 2)[0].tolist() == [[6, -1]]
    assert decode_peeling(design, tests, 2, min_support=0)[0].tolist() == [[-1, -1]]
    named = decode_noisy(design, as_margins(tests), 8, n_doubtful=0)[0]
    assert 6 not in named[0, :1]


def test_ones_are_counted():
    for word in (0, 1, 0b1011, 2**40 - 1, 2**62 - 1):
        assert count_ones(np.int64(word)) == word.bit_count()


# Peeling.


@pytest.mark.usefixtures("kernels")
def test_a_known_label_opens_the_bin_it_shares(rng):
    """Label 0 is alone in bin 1; so bin 0 gives label 1, and that opens bin 2, which gives label 2."""
    graph = np.array([[1, 1, 0, 1, 1], [1, 0, 0, 1, 1], [0, 1, 1, 1, 1]])
    design = saffron_design(graph, rng)
    labels, scores = decode_peeling(design, design.pool([[0, 1, 2]]), 5)
    assert labels.tolist() == [[0, 1, 2, -1, -1]]
    assert scores.tolist() == [[1, 1, 1, -np.inf, -np.inf]]


@BOTH
@pytest.mark.parametrize("seed", range(40))
def test_peeling_agrees_with_its_reference(signatures, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    design = random_design(rng, signatures)
    truth = label_sets(rng, 5, design.n_labels, min(design.n_labels, rng.integers(1, 6)))
    tests = flip(design.pool(truth), 0.01 * (seed % 3), rng)
    counts, expected_counts = np.empty((2, 5), np.int64)
    options = {"min_support": rng.choice([0.0, 0.9])}
    labels, scores = decode_peeling(design, tests, 7, operations=counts, **options)
    use_reference(monkeypatch)
    expected = decode_peeling(design, tests, 7, operations=expected_counts, **options)
    assert (labels == expected[0]).all()
    assert (scores == expected[1]).all()
    assert (counts == expected_counts).all()


@BOTH
def test_exact_tests_name_only_what_is_there(signatures, rng):
    design = saffron_design(regular_graph(30, 2000, 4, rng), rng, signatures=signatures)
    truth = label_sets(rng, 300, 2000, 10)
    labels, scores = decode_peeling(design, design.pool(truth), 30)
    assert wrong(labels, truth) == 0
    assert (scores[labels >= 0] == 1).all()


@pytest.mark.usefixtures("kernels")
def test_the_other_bins_of_a_label_can_contradict_it(rng):
    """One bin shows label 5, the three others that it is in show nothing: 1/4 of its tests are positive."""
    design = saffron_design(regular_graph(8, 40, 4, rng), rng)
    tests = design.pool([[5]])
    first = design.tables.label_bins[design.tables.label_ptr[5]]
    tests[:, (first + 1) * design.n_tests :] = False
    trusting = decode_peeling(design, tests, 2, min_support=0)
    assert trusting[0].tolist() == [[5, -1]]
    assert trusting[1].tolist() == [[0.25, -np.inf]]
    assert (decode_peeling(design, tests, 2)[0] == -1).all()


# Proposition 1.

PROPOSITION = [  # d, k, m1, c, the share of the support
    (4_000, 5, 30, 5, 1.0),
    (20_000, 50, 250, 5, 0.98),
    (100_000, 200, 1000, 5, 0.99),
]


def succeeds(d, k, m1, c, share, n=150):
    """Does a row recover this share of its k labels with a probability above 0.9, with 99 % confidence?"""
    rng = np.random.default_rng(1)
    design = saffron_design(regular_graph(m1, d, c, rng), rng)
    truth = label_sets(rng, n, d, k)
    labels, _ = decode_peeling(design, design.pool(truth), k)
    good = int((found(labels, truth) >= share).sum())
    return binomtest(good, n).proportion_ci(0.98, "exact").low > 0.9


@pytest.mark.parametrize(("d", "k", "m1", "c", "share"), PROPOSITION)
def test_proposition_1_recovery(d, k, m1, c, share):
    assert succeeds(d, k, m1, c, share)
    assert not succeeds(d, k, m1 // 3, c, share)  # the statement is not empty


def operations(d, k, rng, decode=decode_peeling):
    design = saffron_design(regular_graph(4 * k, d, 2, rng), rng)
    tests = design.pool(rng.integers(d, size=(4, k)))
    counts = np.empty(4, np.int64)
    decode(design, as_margins(tests), k, operations=counts)
    return counts.mean()


def test_proposition_1_operations(rng):
    """k log(d / k) for a thousand to ten million labels, and for five to eighty of them per row."""
    cases = [(10**e, 20) for e in range(3, 8)] + [(10**5, 5), (10**5, 80)]
    counts = np.array([operations(d, k, rng) for d, k in cases])
    per = counts / [k * np.log2(d / k) for d, k in cases]
    assert per.max() / per.min() < 1.4
    growth = np.polyfit([np.log2(d / k) for d, k in cases[:5]], counts[:5], 1)
    fitted = np.polyval(growth, [np.log2(d / k) for d, k in cases[:5]])
    assert np.abs(fitted / counts[:5] - 1).max() < 0.05


# Margins.


@BOTH
@pytest.mark.parametrize("seed", range(40))
def test_noisy_decoding_agrees_with_its_reference(signatures, seed, monkeypatch):
    """Which leaves no bin out: so the kernel's bound never costs a label."""
    rng = np.random.default_rng(seed)
    design = random_design(rng, signatures)
    truth = label_sets(rng, 5, design.n_labels, min(design.n_labels, rng.integers(1, 6)))
    margins = as_margins(design.pool(truth)) + rng.normal(scale=0.7, size=(5, design.n_groups))
    offset = rng.normal(scale=0.3, size=design.n_labels) if seed % 2 else None
    options = {"offset": offset, "n_doubtful": seed % 4}
    labels, scores = decode_noisy(design, margins, 4, **options)
    use_reference(monkeypatch)
    expected = decode_noisy(design, margins, 4, **options)
    assert (labels == expected[0]).all()
    np.testing.assert_allclose(scores, expected[1], rtol=1e-5)


@BOTH
def test_scores_are_means_over_all_groups_of_a_label(signatures, rng):
    """Eqs. (3) and (4), by the matrix A."""
    design = saffron_design(regular_graph(12, 90, 3, rng), rng, signatures=signatures)
    margins = rng.normal(size=(20, design.n_groups)).astype(np.float32)
    A, other = design.A, margins.reshape(20, -1, 2, design.n_bits)[:, :, ::-1].reshape(20, -1)
    v = -np.log1p(np.exp(-2.0 * margins)) - np.log1p(np.exp(-2.0 * (margins - other)))
    expected = label_sums(v, A) / A.sum(axis=0) + np.arange(90)
    labels, scores = decode_noisy(design, margins, 6, slope=2.0, offset=np.arange(90))
    np.testing.assert_allclose(scores, np.take_along_axis(expected, labels, axis=1), rtol=1e-4)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert all(len(set(row)) == 6 for row in labels)


@BOTH
def test_noisy_decoding_finds_the_best_of_all_labels(signatures, rng):
    """Margins like those of good classifiers: nearly always the top 5 of the scores of all labels."""
    design = saffron_design(regular_graph(20, 3000, 4, rng), rng, signatures=signatures)
    truth = label_sets(rng, 200, 3000, 5)
    noise = rng.normal(scale=0.7, size=(200, design.n_groups))
    margins = (as_margins(design.pool(truth)) + noise).astype(np.float32)
    scores = label_sums(group_values(design, margins, 3.0), design.A)
    best = np.argsort(-scores, axis=1)[:, :5]
    labels, _ = decode_noisy(design, margins, 5)
    assert np.mean([set(a) == set(b) for a, b in zip(labels, best)]) > 0.95


@BOTH
def test_one_wrong_test_in_twenty_is_too_much_for_peeling_and_little_for_margins(signatures, rng):
    design = saffron_design(regular_graph(20, 4000, 4, rng), rng, signatures=signatures)
    truth = label_sets(rng, 200, 4000, 5)
    tests = flip(design.pool(truth), 0.05, rng)
    assert found(decode_peeling(design, tests, 5)[0], truth).mean() < 0.2
    good = int((found(decode_noisy(design, as_margins(tests), 5)[0], truth) == 1).sum())
    assert binomtest(good, 200).proportion_ci(0.98, "exact").low > 0.9


def test_no_label_exceeds_the_bound_of_any_of_its_bins(rng):
    design = saffron_design(regular_graph(12, 90, 3, rng), rng)
    values = rng.normal(size=(20, design.n_groups)).astype(np.float32)
    scores = label_sums(values, design.A) / design.A.sum(axis=0)
    bins, labels = design.graph.nonzero()
    assert (bin_bounds(design, values)[:, bins] >= scores[:, labels] - 1e-5).all()


def test_a_bin_that_can_only_tie_is_not_left_out(rng):
    """Every bin has one present label, all score the same, and ties go to the lowest ids."""
    design = saffron_design(np.eye(6)[::-1].repeat(4, axis=1), rng)
    margins = as_margins(design.pool([np.arange(0, 24, 4)]))
    assert decode_noisy(design, margins, 2)[0].tolist() == [[0, 4]]


def test_noisy_operations_grow_with_log_d(rng):
    counts = [operations(10**e, 20, rng, decode_noisy) for e in (3, 4, 5, 6)]
    assert counts[-1] < 4 * counts[0]  # a thousand times the labels: log2(d / k) is 2.8 times as large


# Both.


@pytest.mark.parametrize("decode", [decode_peeling, decode_noisy])
def test_a_row_does_not_depend_on_its_neighbours(decode, rng):
    design = saffron_design(regular_graph(12, 300, 3, rng), rng)
    margins = as_margins(flip(design.pool(label_sets(rng, 20, 300, 4)), 0.01, rng))
    labels, scores = decode(design, margins, 6)
    for i in range(20):
        row_labels, row_scores = decode(design, margins[i : i + 1], 6)
        assert (row_labels == labels[i]).all()
        assert (row_scores == scores[i]).all()


def test_labels_without_a_bin_are_never_named(rng):
    graph = regular_graph(4, 20, 2, rng).toarray()
    graph[:, 3] = 0
    design = saffron_design(graph, rng)
    margins = rng.normal(size=(50, design.n_groups))
    for decode in (decode_peeling, decode_noisy):
        assert 3 not in decode(design, margins, 20)[0]


@pytest.mark.usefixtures("kernels")
def test_nothing_positive_is_nothing_found(rng):
    design = saffron_design(regular_graph(4, 20, 2, rng), rng)
    labels, scores = decode_peeling(design, np.zeros((2, design.n_groups)), 3)
    assert (labels == -1).all()
    assert (scores == -np.inf).all()


def test_senseless_arguments_are_refused(rng):
    design = saffron_design(regular_graph(4, 20, 2, rng), rng)
    tests = np.zeros((1, design.n_groups))
    with pytest.raises(ValueError, match=f"7 tests per row for a design of {design.n_groups}"):
        decode_peeling(design, np.zeros((1, 7)), 3)
    with pytest.raises(ValueError, match="pass at least 1"):
        decode_noisy(design, tests, 0)
    with pytest.raises(ValueError, match=r"offset has shape \(3,\); expected one value for each of 20"):
        decode_noisy(design, tests, 3, offset=np.zeros(3))
    with pytest.raises(ValueError, match="slope=0"):
        decode_noisy(design, tests, 3, slope=0)
    with pytest.raises(ValueError, match="Pass 0 to 10"):
        decode_noisy(design, tests, 3, n_doubtful=11)
