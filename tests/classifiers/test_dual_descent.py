"""The solver against liblinear, its own duality gap, and its reference implementation."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from mlgt.classifiers import LOSSES, _kernels, solve
from mlgt.classifiers import solver as dual_descent
from mlgt.classifiers._kernels import _logit_step
from mlgt.compile.kernels import kernel
from mlgt.groups import constant_weight_groups, nmf_groups, pool
from mlgt.labels.graph import cooccurrence
from mlgt.labels.symnmf import symmetric_nmf
from references import solver as reference


@pytest.fixture(params=[_kernels, reference], ids=["numba", "numpy"])
def kernels(request, monkeypatch):
    monkeypatch.setattr(dual_descent, "_kernels", request.param)


def primal(X, target, w, b, loss, C=1.0, weight=1.0):
    """P(w, b) in float64, with the bias regularised."""
    w, b = np.asarray(w, np.float64), float(b)
    margin = target * (X.astype(np.float64) @ w + b)
    losses = np.maximum(0, 1 - margin) ** 2 if loss == "squared_hinge" else np.logaddexp(0, -margin)
    return (w @ w + b * b) / 2 + C * (weight * losses).sum()


def liblinear(X, target, loss, C=1.0, class_weight=None, tol=1e-6):
    if loss == "squared_hinge":
        fitted = LinearSVC(C=C, class_weight=class_weight, dual=False, tol=tol, max_iter=10_000)
    else:
        fitted = LogisticRegression(
            C=C, class_weight=class_weight, solver="liblinear", tol=tol, max_iter=10_000
        )
    fitted.fit(sp.csr_matrix(X, dtype=np.float64), target)
    return fitted.coef_[0], fitted.intercept_[0]


def problem(seed=0, n=150, p=40, m=70):
    rng = np.random.default_rng(seed)
    X = normalize(sp.csr_array(rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.3)))
    Z = sp.csr_array((X @ rng.normal(size=(p, m)) + 0.3 * rng.normal(size=(n, m))) > 0.4)
    return sp.csr_array(X, dtype=np.float32), Z


def targets(Z, j):
    return np.where(Z[:, [j]].toarray().ravel() > 0, 1, -1)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("loss", LOSSES)
def test_objective_is_liblinears(loss):
    X, Z = problem()
    tol = 1e-4
    found = solve(X, Z, loss=loss, tol=tol)
    assert (found.gap <= tol).all()
    for j in (0, 17, 63, 64, 69):  # both tiles and their edges
        y = targets(Z, j)
        best = primal(X, y, *liblinear(X, y, loss), loss)
        ours = primal(X, y, found.coef[:, j], found.intercept[j], loss)
        assert ours == pytest.approx(found.objective[j], rel=1e-5)
        assert best * (1 - 1e-5) <= ours <= best * (1 + 2 * tol)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.03, 30.0])
def test_other_regularisation(loss, C):
    X, Z = problem(seed=1, m=5)
    found = solve(X, Z, loss=loss, C=C, tol=1e-3, max_iter=5000)
    for j in range(5):
        y = targets(Z, j)
        best = primal(X, y, *liblinear(X, y, loss, C=C), loss, C)
        assert primal(X, y, found.coef[:, j], found.intercept[j], loss, C) <= best * 1.001


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("loss", LOSSES)
def test_row_weights_equal_repeated_rows(loss):
    X, Z = problem(seed=2, n=60, m=3)
    times = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = solve(X, Z, loss=loss, row_weight=times, tol=1e-5, max_iter=2000)
    rows = np.repeat(np.arange(60), times)
    repeated = solve(X[rows], Z[rows], loss=loss, tol=1e-5, max_iter=2000)
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-4)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=0.02)


@pytest.mark.parametrize("loss", LOSSES)
def test_class_weights_are_liblinears(loss):
    X, Z = problem(seed=3, m=4)
    pair = solve(X, Z, loss=loss, class_weight=(0.5, 3.0), tol=1e-4)
    balanced = solve(X, Z, loss=loss, class_weight="balanced", tol=1e-4)
    for j in range(4):
        y = targets(Z, j)
        best = primal(
            X,
            y,
            *liblinear(X, y, loss, class_weight={-1: 0.5, 1: 3.0}),
            loss,
            weight=np.where(y > 0, 3.0, 0.5),
        )
        assert pair.objective[j] == pytest.approx(best, rel=3e-4)
        share = (y > 0).mean()
        weight = np.where(y > 0, 0.5 / share, 0.5 / (1 - share))
        best = primal(X, y, *liblinear(X, y, loss, class_weight="balanced"), loss, weight=weight)
        assert balanced.objective[j] == pytest.approx(best, rel=3e-4)


@pytest.mark.parametrize("C", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_kernel_and_reference_take_the_same_steps(loss, C, monkeypatch):
    X, Z = problem(seed=4, n=40, m=66)
    solutions = []
    for code in (_kernels, reference):
        monkeypatch.setattr(dual_descent, "_kernels", code)
        with pytest.warns(ConvergenceWarning):
            solutions.append(solve(X, Z, loss=loss, C=C, max_iter=3, tol=1e-9))
    one, two = solutions
    # Newton's last step in the logistic kernel is below 1e-3 in u, the reference bisects to the end.
    tolerance = 2e-3 * C if loss == "logistic" else 1e-5
    np.testing.assert_allclose(one.coef, two.coef, atol=tolerance * max(1, np.abs(two.coef).max() / C))
    np.testing.assert_allclose(one.objective, two.objective, rtol=5e-3 if loss == "logistic" else 1e-4)


@pytest.mark.parametrize("norm", [0.1, 2.0, 20.0, 2000.0])
def test_the_logistic_step_solves_its_equation(norm):
    """The root of v + M + q c (sigmoid(v) - sigmoid(u)) = 0, for steps from anywhere."""
    rng, compiled = np.random.default_rng(0), kernel(error_model="numpy")(lambda *own: _logit_step(*own))
    for u, margin in zip(rng.uniform(-18, 18, 2000), rng.normal(scale=10, size=2000)):
        step = compiled(np.float32(u), np.float32(1), np.float32(norm), np.float32(margin))
        exact = reference._logit_step(u, 1.0, norm, margin)
        assert abs(step - exact) < 0.02 + 1e-5 * abs(exact)


def test_same_bits_for_any_number_of_threads():
    X, Z = problem(n=300, m=200)
    one, three = solve(X, Z, n_jobs=1, seed=7), solve(X, Z, n_jobs=3, seed=7)
    assert (one.coef == three.coef).all()
    assert (one.intercept == three.intercept).all()
    assert (one.coef != solve(X, Z, seed=8).coef).any()


def test_a_group_does_not_depend_on_its_neighbours():
    """Every tile visits rows in the same order: a group alone is the group among others, up to when
    its tile stops."""
    X, Z = problem(m=130)
    with pytest.warns(ConvergenceWarning):
        every, alone = (solve(X, Z[:, cols], max_iter=4, tol=1e-9) for cols in (slice(None), [100]))
    np.testing.assert_allclose(every.coef[:, 100], alone.coef[:, 0], atol=1e-6)


@pytest.mark.usefixtures("kernels")
def test_dense_and_sparse_agree():
    X, Z = problem(m=3)
    sparse, dense = (solve(M, Z) for M in (X, X.toarray()))
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-6)


def test_stored_zeros_and_entries_in_parts_mean_what_they_mean():
    X, Z = np.eye(4), sp.csc_array(([1.0, 0.0], [0, 1], [0, 2]), shape=(4, 1))
    assert (solve(X, Z).coef == solve(X, Z.toarray()).coef).all()
    X, Z = problem(m=3)
    doubled = sp.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2).astype(np.int64), 2 * X.indptr.astype(np.int64)),
        shape=X.shape,
    )
    assert (solve(doubled, Z).coef == solve(X, Z).coef).all()


def test_memory_is_the_weights_and_a_tile():
    """Never n x m floats: here they would be 51 MB, weights and tile are 13."""
    X = sp.csr_array(([1.0], ([0], [0])), shape=(20_000, 3000), dtype=np.float32)
    Z = sp.csr_array((np.ones(640), (np.arange(640), np.arange(640))), shape=(20_000, 640))
    solve(X[:50], Z[:50], tol=0.9)
    tracemalloc.start()
    solve(X, Z, tol=0.9, n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n, p, m, tile = 20_000, 3000, 640, 64
    assert peak < 1.3 * (4 * p * m + tile * (5 * n + 4 * p)) + 24 * n


def test_rows_without_features_only_move_the_bias():
    X = sp.csr_array((20, 3), dtype=np.float32)
    Z = np.zeros((20, 1))
    Z[:5] = 1
    found = solve(X, Z, tol=1e-6, max_iter=2000)
    # min b^2/2 + 5 (1-b)^2 + 15 (1+b)^2  =>  b = -20/41
    assert found.intercept[0] == pytest.approx(-20 / 41, rel=1e-3)
    assert (found.coef == 0).all()


def test_max_iter_warns_with_what_to_do():
    X, Z = problem()
    with pytest.warns(
        ConvergenceWarning, match=r"70 of 70 classifiers stopped at max_iter=1 .*Raise max_iter"
    ):
        solve(X, Z, max_iter=1, tol=1e-12)


def test_progress_counts_groups():
    X, Z = problem(m=130)
    calls = []
    solve(X, Z, progress=lambda done, total: calls.append((done, total)))
    assert [total for _, total in calls] == [130, 130, 130]
    assert calls[-1] == (130, 130)


def test_a_failing_callback_stops_the_work(monkeypatch):
    X, Z = problem(m=20 * 64)

    started = []
    solve_tile = dual_descent._solve_tile
    monkeypatch.setattr(dual_descent, "_solve_tile", lambda *a: started.append(0) or solve_tile(*a))

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(X, Z, progress=interrupt)
    assert len(started) < 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "choose one of squared_hinge, logistic"),
        ({"C": 0}, "C=0 must be a finite number above 0"),
        ({"C": np.inf}, "must be a finite number above 0"),
        ({"C": 1e39}, "must be a finite number above 0, from 1e-10 to 1e"),
        ({"C": [1.0, 2.0]}, r"C has shape \(2,\); expected one number, or 70, one per group"),
        ({"C": np.zeros(70)}, "must be a finite number above 0"),
        ({"class_weight": (1, np.inf)}, "finite factors > 0"),
        ({"class_weight": {-1: 1, 1: 2}}, "expected 0 and 1"),
        ({"tol": 0}, "tol=0 must be above 0"),
        ({"max_iter": 0}, "max_iter=0 must be at least 1"),
        ({"row_weight": [1.0, 2.0]}, r"row_weight has shape \(2,\); expected 150"),
        ({"row_weight": np.zeros(150)}, "zero for every row"),
        ({"row_weight": -np.ones(150)}, ">= 0"),
        ({"class_weight": "heavy"}, 'pass "balanced"'),
        ({"class_weight": (1, 2, 3)}, r"expected \(2,\) or \(70, 2\)"),
        ({"class_weight": (0, 1)}, "factors > 0"),
    ],
)
def test_bad_options_say_how_to_fix_them(options, message):
    X, Z = problem()
    with pytest.raises(ValueError, match=message):
        solve(X, Z, **options)


def test_each_group_may_have_its_own_C():
    X, Z = problem()
    costs = np.where(np.arange(Z.shape[1]) % 2, 0.1, 3.0)
    found = solve(X, Z, C=costs, tol=1e-4)
    for first, C in enumerate((3.0, 0.1)):
        alone = solve(X, Z, C=C, tol=1e-4)
        assert np.allclose(found.objective[first::2], alone.objective[first::2], rtol=3e-4)


def test_bad_data_says_what_is_wrong():
    X, Z = problem()
    with pytest.raises(ValueError, match="X has 149 rows but Z has 150"):
        solve(X[:149], Z)
    with pytest.raises(ValueError, match="no rows"):
        solve(X[:0], Z[:0])
    broken = X.copy()
    broken.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinite"):
        solve(broken, Z)


@pytest.mark.parametrize("loss", LOSSES)
def test_bibtex_objective_within_a_thousandth_of_liblinear(bibtex, loss):
    train, _ = bibtex
    X = normalize(train.X)
    rng = np.random.default_rng(0)
    Z = pool(train.Y, constant_weight_groups(120, 159, 8, rng))
    found = solve(X, Z, loss=loss, n_jobs=-1)
    for j in range(0, 120, 12):
        y = targets(Z, j)
        best = primal(X, y, *liblinear(X, y, loss, tol=1e-4), loss)
        assert found.objective[j] <= best * 1.001


@pytest.mark.parametrize("compared", [2, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", LOSSES)
def test_eurlex_groups_within_a_thousandth_of_liblinear(eurlex, loss, compared):
    """Two or all of twenty groups are compared, because liblinear takes seconds for each."""
    train, _ = eurlex
    X = normalize(train.X)
    rng = np.random.default_rng(0)
    H = symmetric_nmf(cooccurrence(train.Y), 350, rng, max_sweeps=5).H
    Z = pool(train.Y, nmf_groups(H, 16, rng)[::18])
    found = solve(X, Z, loss=loss, n_jobs=-1)
    assert Z.shape[1] == 20
    for j in range(0, 20, 20 // compared):
        y = targets(Z, j)
        best = primal(X, y, *liblinear(X, y, loss, tol=1e-4), loss)
        assert found.objective[j] <= best * 1.001


@pytest.mark.parametrize("n", [0, 1, 16, 1000, 1024, 2048, 5000])
def test_every_row_is_visited_once_those_of_a_run_together(n):
    order = dual_descent._mixed(n, np.random.default_rng(n))
    assert (np.sort(order) == np.arange(n)).all()
    for first in range(0, n - n % dual_descent.MIXED_ROWS, dual_descent.MIXED_ROWS):
        mixed = np.sort(order[first : first + dual_descent.MIXED_ROWS])
        starts = mixed[mixed % dual_descent.RUN_ROWS == 0]
        if n % dual_descent.RUN_ROWS == 0:  # else one run is shorter, and others are divided
            assert len(starts) == dual_descent.MIXED_ROWS // dual_descent.RUN_ROWS
    assert n < 2048 or (np.diff(order) == 1).mean() < 0.1
