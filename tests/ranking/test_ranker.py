import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from mlgt._core.rows import scale_rows
from mlgt.ranking import LabelRanker, _kernels, train_ranker, training_pairs
from mlgt.ranking.centroids import label_centroids
from mlgt.ranking.ranker import MIN_PIECES, _label_ranges, label_costs
from references import ranker as reference


@pytest.fixture(params=[_kernels.fit_labels, reference.fit_labels], ids=["numba", "numpy"])
def fit_labels(request, monkeypatch):
    monkeypatch.setattr(_kernels, "fit_labels", request.param)


def problem(seed=0, n=80, p=30, d=12, K=5):
    rng = np.random.default_rng(seed)
    X = scale_rows(sp.csr_array(rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.4), dtype=np.float32))
    Y = sp.csr_array((X @ rng.normal(size=(p, d)) > 0.9).astype(np.float32))
    candidates = np.stack([rng.choice(d, K, replace=False) for _ in range(n)])
    return X, Y, candidates


def test_pairs_are_the_positives_and_the_wrong_candidates():
    _, Y, candidates = problem()
    candidates[3, 2:] = -1  # a row with fewer candidates
    pairs = training_pairs(candidates, Y)
    for l in range(12):
        own = slice(pairs.indptr[l], pairs.indptr[l + 1])
        positives = set(Y[:, [l]].nonzero()[0])
        named = set(np.flatnonzero((candidates == l).any(axis=1)))
        assert set(pairs.rows[own][pairs.positive[own]]) == positives
        assert set(pairs.rows[own][~pairs.positive[own]]) == named - positives
        assert len(pairs.rows[own]) == len(positives | named)


@pytest.mark.usefixtures("fit_labels")
def test_each_ranker_is_the_linear_svm_of_its_pairs():
    X, Y, candidates = problem()
    pairs = training_pairs(candidates, Y)
    ranker = train_ranker(X, pairs, tol=1e-5, max_iter=2000, prune=0.0)
    for l in range(12):
        own = slice(pairs.indptr[l], pairs.indptr[l + 1])
        rows, target = pairs.rows[own], pairs.positive[own]
        if len(set(target)) < 2:
            continue
        svc = LinearSVC(tol=1e-8, max_iter=100_000).fit(sp.csr_matrix(X[rows], dtype=np.float64), target)
        np.testing.assert_allclose(ranker.weights[[l]].toarray()[0], svc.coef_[0], atol=2e-3)
        assert ranker.bias[l] == pytest.approx(svc.intercept_[0], abs=2e-3)


@pytest.mark.parametrize("p", [30, 64, 65, 200])
def test_kernel_and_reference_take_the_same_steps(p, monkeypatch):
    X, Y, candidates = problem(seed=1, p=p)
    pairs = training_pairs(candidates, Y)
    one = train_ranker(X, pairs, tol=0, max_iter=3, prune=0.0, seed=5)
    monkeypatch.setattr(_kernels, "fit_labels", reference.fit_labels)
    two = train_ranker(X, pairs, tol=0, max_iter=3, prune=0.0, seed=5)
    np.testing.assert_allclose(one.weights.toarray(), two.weights.toarray(), atol=1e-4)
    np.testing.assert_allclose(one.bias, two.bias, atol=1e-4)
    assert one.weights.has_sorted_indices


def test_same_bits_for_any_number_of_threads():
    X, Y, candidates = problem(d=150, K=20)
    pairs = training_pairs(candidates, Y)
    one, two = (train_ranker(X, pairs, n_jobs=j) for j in (1, 3))
    assert (one.weights != two.weights).nnz == 0
    assert (one.bias == two.bias).all()


def test_same_bits_for_any_ranges_of_labels(monkeypatch):
    X, Y, candidates = problem(d=150, K=20)
    pairs = training_pairs(candidates, Y)
    one = train_ranker(X, pairs)
    monkeypatch.setattr("mlgt.ranking.ranker.MIN_PIECES", 1)
    two = train_ranker(X, pairs)
    assert (one.weights != two.weights).nnz == 0
    assert (one.bias == two.bias).all()


@pytest.mark.parametrize("seed", range(5))
def test_ranges_of_labels_have_about_as_many_rows_each(seed):
    """Within one label, which is never divided; labels without rows are in some range too."""
    counts = np.random.default_rng(seed).poisson(3, 500) * (np.arange(500) % 3 > 0)
    edges = _label_ranges(counts, words=1.0)
    assert (edges[0], edges[-1], len(edges)) == (0, 500, MIN_PIECES + 1)
    sums = np.add.reduceat(counts, edges[:-1])
    assert sums.max() - sums.min() <= 2 * counts.max()
    assert list(_label_ranges(np.zeros(2, int), words=1.0)) == [0, 1, 2]


def test_pruning_drops_small_weights_only():
    X, Y, candidates = problem()
    pairs = training_pairs(candidates, Y)
    full, pruned = (train_ranker(X, pairs, prune=t) for t in (0.0, 0.1))
    dense = full.weights.toarray()
    assert (pruned.weights.toarray() == np.where(np.abs(dense) >= 0.1, dense, 0)).all()
    assert (np.abs(pruned.weights.data) >= np.float32(0.1)).all()


def test_labels_without_rows_have_no_opinion():
    X, Y, candidates = problem()
    pairs = training_pairs(
        np.where(candidates == 4, -1, candidates), Y.multiply(np.arange(12) != 4).tocsr()
    )
    ranker = train_ranker(X, pairs)
    assert ranker.weights[[4]].nnz == 0
    assert ranker.bias[4] == 0


def test_margins_are_the_products_of_the_candidates(rng):
    X, _, candidates = problem()
    weights = sp.csr_array(rng.normal(size=(12, 30)) * (rng.random((12, 30)) < 0.5), dtype=np.float32)
    bias = rng.normal(size=12).astype(np.float32)
    parts = weights.indptr, weights.indices, weights.data, np.ones(12, np.float32), bias
    ranker = LabelRanker(*parts, n_features=30)
    candidates[0, 1] = -1
    expected = np.take_along_axis(X @ weights.T.toarray() + ranker.bias, np.maximum(candidates, 0), axis=1)
    found = ranker.margins(X, candidates)
    assert found[0, 1] == -np.inf
    found[0, 1] = expected[0, 1]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    rounded = ranker.in_bytes()
    assert rounded.values.dtype == np.int8
    assert (np.abs((rounded.weights - ranker.weights).toarray()) <= rounded.scale[:, None] * 0.501).all()
    close = rounded.margins(X, candidates)
    close[0, 1] = expected[0, 1]
    assert np.abs(close - expected).max() < 0.1
    assert (close != expected).any()


@pytest.mark.usefixtures("fit_labels")
def test_weights_are_drawn_to_the_centroids(rng):
    """Eq. (2) has its minimum there."""
    X, Y, candidates = problem()
    pairs, centroids = training_pairs(candidates, Y), label_centroids(X, Y)
    options = {"tol": 1e-6, "max_iter": 5000, "prune": 0.0}
    ranker = train_ranker(X, pairs, centroids, C=0.7, **options)
    dense, target = X.toarray().astype(float), 2.0 * pairs.positive - 1
    for l in range(12):
        own = slice(pairs.indptr[l], pairs.indptr[l + 1])
        rows, y = dense[pairs.rows[own]], target[own]
        center, w, b = 2 * centroids[[l]].toarray()[0], ranker.weights[[l]].toarray()[0], ranker.bias[l]

        def objective(w, b, center=center, rows=rows, y=y):
            slack = np.maximum(0, 1 - y * (rows @ w + b))
            return ((w - center) ** 2).sum() / 2 + (b + 1) ** 2 / 2 + 0.7 * (slack**2).sum()

        best = objective(w, b)
        for _ in range(20):  # no step away from it is better
            assert objective(w + rng.normal(size=30) * 0.01, b + rng.normal() * 0.01) > best - 1e-5


@pytest.mark.usefixtures("fit_labels")
def test_training_goes_on_from_its_dual_variables():
    X, Y, candidates = problem(seed=3)
    pairs, centroids = training_pairs(candidates, Y), label_centroids(X, Y)
    options = {"prune": 0.0, "tol": 1e-6}
    alpha = np.zeros(len(pairs.rows), np.float32)
    without = np.ones(80)
    without[:20] = 0
    train_ranker(X, pairs, centroids, row_weight=without, alpha=alpha, max_iter=3000, **options)
    assert (alpha[np.isin(pairs.rows, np.arange(20))] == 0).all()
    resumed = train_ranker(X, pairs, centroids, alpha=alpha, max_iter=3000, **options)
    fresh = train_ranker(X, pairs, centroids, max_iter=3000, **options)
    np.testing.assert_allclose(resumed.weights.toarray(), fresh.weights.toarray(), atol=2e-3)
    # what comes out are the weights of what is left in alpha
    again = train_ranker(X, pairs, centroids, alpha=alpha, max_iter=0, **options)
    np.testing.assert_allclose(again.weights.toarray(), resumed.weights.toarray(), atol=1e-4)


def test_progress_counts_labels():
    X, Y, candidates = problem()
    calls = []
    train_ranker(X, training_pairs(candidates, Y), progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (12, 12)


@pytest.mark.usefixtures("fit_labels")
def test_some_labels_can_be_trained_again():
    X, Y, candidates = problem(seed=4)
    pairs = training_pairs(candidates, Y)
    some = np.arange(12) % 3 == 0
    old, new = (train_ranker(X, pairs, C=C, prune=0.0) for C in (1.0, 0.1))
    part = train_ranker(X, pairs, C=0.1, prune=0.0, labels=some)
    assert (part.weights[np.flatnonzero(~some)].nnz, part.bias[~some].any()) == (0, False)
    both = old.updated(part, some)
    expected = np.where(some[:, None], new.weights.toarray(), old.weights.toarray())
    assert (both.weights.toarray() == expected).all()
    assert (both.bias == np.where(some, new.bias, old.bias)).all()
    at_once = train_ranker(X, pairs, C=np.where(some, 0.1, 1.0), prune=0.0)
    assert (at_once.weights.toarray() == expected).all()


def test_labels_with_many_rows_cost_less():
    """Eq. (3)."""
    costs = label_costs(np.array([0, 1, 50, 200, 5000]), C=3.0)
    np.testing.assert_allclose(costs, [3, 3, 3, 1.5, 0.3], rtol=1e-6)
