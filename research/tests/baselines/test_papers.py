"""The other systems of the paper's tables: each keeps what defines it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.svm import LinearSVC

from mlgt._core.rows import scale_rows
from mlgt._core.topk import top_k
from mlgt.classifiers.solver import solve
from mlgt.metrics import precision_at
from mlgt_research.baselines import (
    DiSMECClassifier,
    OneVsAllClassifier,
    PfastreXMLClassifier,
    PPDSparseClassifier,
    SLEECClassifier,
)
from mlgt_research.baselines._tree_kernels import columns_of, fit_split, rank_labels, split_rows
from mlgt_research.baselines.pfastrexml import grow_tree, ideal_gains, inverse_propensities
from mlgt_research.baselines.ppd_sparse import largest
from mlgt_research.baselines.sleec import embed_labels, label_neighbours, neighbour_error

MODELS = [
    DiSMECClassifier(),
    PPDSparseClassifier(),
    SLEECClassifier(20, n_learners=2, cluster_size=150),
    PfastreXMLClassifier(10),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_they_learn_and_depend_on_the_seed_alone(model, topics):
    (X, Y), (X_test, Y_test) = topics
    frequent = np.argsort(-Y.sum(axis=0), kind="stable")[:1]
    guess = precision_at(Y_test, np.tile(frequent, (X_test.shape[0], 1)), 1)
    labels, scores = clone(model).set_params(random_state=0).fit(X, Y).predict_topk(X_test, 5)
    assert precision_at(Y_test, labels, 1) > 3 * guess
    assert (np.diff(scores, axis=1) <= 0).all()
    again = clone(model).set_params(random_state=0, n_jobs=2).fit(X, Y).predict_topk(X_test, 5)
    assert (again[0] == labels).all()


def test_dismec_drops_small_weights_alone(topics):
    (X, Y), _ = topics
    full = OneVsAllClassifier(random_state=0).fit(X, Y).classifiers_.coef
    kept = DiSMECClassifier(0.05, random_state=0).fit(X, Y).coef_.toarray()
    np.testing.assert_array_equal(kept, np.where(np.abs(full) < 0.05, 0, full))
    assert 0 < (kept != 0).sum() < (full != 0).sum()


def test_ppd_sparse_reaches_the_objective_of_the_batched_solver(topics):
    """Without l1 and with the squared hinge both minimize the same function."""
    (X, Y), _ = topics
    model = PPDSparseClassifier(0.0, loss="squared_hinge", tol=1e-4, random_state=0).fit(X, Y)
    best = solve(scale_rows(X), Y, C=1.0, loss="squared_hinge", tol=1e-5, max_iter=3000, seed=0)
    np.testing.assert_allclose(model.objective_, best.objective, rtol=2e-3)
    assert (model.gap_ <= 1e-4).all()


def test_ppd_sparse_reaches_the_objective_of_a_support_vector_machine(topics):
    """Without l1, the hinge is that of liblinear."""
    (X, Y), _ = topics
    X = scale_rows(X)
    model = PPDSparseClassifier(0.0, tol=1e-3, random_state=0).fit(X, Y)
    for l in range(3):
        y = np.where(Y[:, [l]].toarray().ravel() > 0, 1, -1)
        other = LinearSVC(loss="hinge", C=1.0, tol=1e-6, max_iter=100_000, random_state=0).fit(X, y)
        w, b = other.coef_[0], other.intercept_[0]
        objective = (w @ w + b * b) / 2 + np.maximum(0, 1 - y * (X @ w + b)).sum()
        assert model.objective_[l] == pytest.approx(objective, rel=5e-3)


@pytest.mark.parametrize("count", [1, 4, 6])
def test_ppd_sparse_adds_the_rows_that_violate_most(count):
    slack, found = np.array([0.5, 0, 2, 1, 1, 3, 1, 1.0]), np.array([0, 2, 3, 4, 5, 6, 7])
    assert set(largest(slack, found, count)) == {1: {5}, 4: {5, 2, 3, 4}, 6: {5, 2, 3, 4, 6, 7}}[count]


def test_ppd_sparse_is_optimal_with_l1(topics):
    """P(w) from its definition is within its gap; more l1 leaves fewer weights and rows."""
    (X, Y), _ = topics
    unit = scale_rows(X)
    nnz = []
    for lam in (0.01, 0.3):
        model = PPDSparseClassifier(lam, tol=1e-3, random_state=0).fit(X, Y)
        W, b = model.coef_.toarray().astype(float), model.intercept_.astype(float)
        margins = np.where(Y.toarray() > 0, 1, -1) * (unit @ W + b)
        size = (W**2).sum(axis=0) / 2 + lam * np.abs(W).sum(axis=0) + b**2 / 2 + lam * np.abs(b)
        objective = size + np.maximum(0, 1 - margins).sum(axis=0)
        np.testing.assert_allclose(model.objective_, objective, rtol=1e-4)
        assert (model.gap_ <= 1e-3).all()
        nnz.append(model.coef_.nnz)
    assert nnz[1] < 0.7 * nnz[0]
    assert model.n_active_.mean() < X.shape[0]


def test_neighbours_share_most_labels(rng):
    """Of frequent labels, whose products are dense, and of rare ones."""
    Y = (rng.random((300, 40)) < np.where(np.arange(40) < 5, 0.3, 0.01)).astype(np.float64)
    omega, exact = label_neighbours(sp.csr_array(Y), 10), Y @ Y.T
    entries = omega.tocoo()
    np.testing.assert_array_equal(entries.data, exact[entries.row, entries.col])
    best = -np.sort(-(exact - np.diag(np.diag(exact) + 1)), axis=1)[:, :10].sum()
    assert omega.sum() == best + np.trace(exact)


def test_sleec_keeps_the_neighbours_by_labels(topics):
    """Eq. (1) falls below that of the best rank-r part of YY', and the nearest stay nearest."""
    (_, Y), _ = topics
    Y = sp.csr_array(Y, dtype=np.float64)
    omega = label_neighbours(Y, 10)
    Z, start = (embed_labels(Y, omega, 12, steps, np.random.default_rng(0)) for steps in (20, 0))
    assert neighbour_error(Z, omega) < 0.8 * neighbour_error(start, omega)
    true, exact = (
        products - np.diag(np.full(len(products), np.inf)) for products in (Z @ Z.T, (Y @ Y.T).toarray())
    )
    nearest, _ = top_k(true.astype(np.float32), 10)
    kept = np.take_along_axis(exact, nearest, axis=1).mean()
    best = top_k(exact.astype(np.float32), 10)[1].mean()
    chance = exact[np.isfinite(exact)].mean()
    assert (kept - chance) > 0.8 * (best - chance)


def test_label_neighbours_are_those_with_the_largest_products(rng):
    Y = sp.csr_array((rng.random((40, 12)) < 0.3).astype(np.float64))
    omega, products = label_neighbours(Y, 5), (Y @ Y.T).toarray()
    for i in range(40):
        own = set(omega.indices[omega.indptr[i] : omega.indptr[i + 1]].tolist())
        others = np.delete(products[i], i)
        assert i in own
        assert len(own) == 6
        assert min(products[i, j] for j in own - {i}) >= np.sort(others)[-5]
    assert (omega.toarray()[omega.toarray() > 0] == products[omega.toarray() > 0]).all()


def test_rankings_follow_propensity_weighted_counts(rng):
    """Eq. (2) against its definition."""
    Y = sp.csr_array((rng.random((30, 9)) < 0.4).astype(np.float64))
    weights, gains = inverse_propensities(Y.sum(axis=0), 30), ideal_gains(Y)
    out, rows = np.zeros(9), np.arange(5, 25)
    rank_labels(rows, gains, Y.indptr, Y.indices, weights, np.zeros(9), out)
    scores = (Y.toarray()[rows] * gains[rows, None]).sum(axis=0) * weights
    expected = np.empty(9)
    expected[np.argsort(-scores)] = 1 / np.log2(2 + np.arange(9))
    np.testing.assert_allclose(out, expected)


def test_rare_labels_weigh_more():
    weights = inverse_propensities(np.array([1, 10, 1000]), 5000)
    assert (np.diff(weights) < 0).all()
    assert (weights > 1).all()


def test_a_node_separates_what_shares_no_label(rng):
    """Two groups of rows with labels of their own end on two sides, whatever the start."""
    Y = np.zeros((40, 6))
    Y[:20, :3], Y[20:, 3:] = rng.random((20, 3)) < 0.8, rng.random((20, 3)) < 0.8
    Y[:20, 0] = Y[20:, 3] = 1
    Y = sp.csr_array(Y)
    scratch = np.zeros(6), np.zeros((2, 6))
    for _ in range(10):
        start = rng.random(40) < 0.5
        left = split_rows(
            np.arange(40), start, ideal_gains(Y), Y.indptr, Y.indices, np.ones(6), *scratch, 50
        )
        assert len(set(left[:20])) == len(set(left[20:])) == 1
        assert not scratch[1].any()


def test_the_classifier_of_a_node_never_gets_worse(rng):
    """Each sweep lowers the objective, and enough of them separate what can be separated."""
    X = sp.csr_array(rng.random((60, 8)) * (rng.random((60, 8)) < 0.5))
    target = (X[:, [0]].toarray().ravel() > X[:, [1]].toarray().ravel()).astype(float)
    features, *columns = columns_of(np.arange(60), X.indptr, X.indices, X.data, np.zeros(8, np.int64))
    values = []
    for sweeps in (0, 1, 3, 10, 100):
        w, b = fit_split(target, *columns, 10.0, sweeps)
        margin = (2 * target - 1) * (X[:, features] @ w + b)
        values.append(np.abs(w).sum() + 10 * np.logaddexp(0, -margin).sum())
    assert (np.diff(values) < 1e-9).all()
    assert (margin > 0).mean() > 0.95


def test_leaves_partition_the_training_rows(topics):
    (X, Y), _ = topics
    X, Y = sp.csr_array(scale_rows(X), dtype=np.float64), sp.csr_array(Y, dtype=np.float64)
    tree = grow_tree(X, Y, np.ones(Y.shape[1]), 10, 10.0, np.random.default_rng(0))
    assert len(tree.children) == tree.leaves.shape[0] - 1
    named = [~child for child in tree.children.ravel() if child < 0]
    assert sorted(named) == list(range(tree.leaves.shape[0]))
    found = tree.find(X)
    assert (tree.leaves[found].multiply(Y).sum(axis=1) > 0).mean() > 0.7


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (DiSMECClassifier(-1), "delta=-1 must be"),
        (PPDSparseClassifier(-0.1), "lam=-0.1 must be"),
        (PPDSparseClassifier(loss="log"), "choose one of hinge, squared_hinge"),
        (SLEECClassifier(0), "dimension=0 must be a whole number"),
        (PfastreXMLClassifier(0), "n_trees=0 must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(model, said, topics):
    with pytest.raises(ValueError, match=said):
        model.fit(*topics[0])
