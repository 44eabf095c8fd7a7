import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from mlgt._core.errors import NotReproducibleWarning
from mlgt.labels import symnmf
from mlgt.labels._nmf_kernels import MAX_LISTED, quartic_argmin
from mlgt.labels.graph import cooccurrence
from mlgt.labels.symnmf import objective, random_start, symmetric_nmf
from references import symnmf as reference


def label_graph(rng, n=200, d=40, density=0.08):
    return cooccurrence(rng.random((n, d)) < density)


@pytest.mark.parametrize("seed", range(200))
def test_quartic_step_is_the_global_minimum_on_the_half_line(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=2) * 10.0 ** rng.integers(-6, 7, size=2)
    x, value = quartic_argmin(a, b)

    def f(t):
        return t**4 / 4 + a * t**2 / 2 + b * t

    reach = 2 * (np.sqrt(abs(a)) + np.cbrt(abs(b)))
    grid = np.concatenate([[0.0], np.geomspace(reach * 1e-9, reach, 4000)])
    best = grid[f(grid).argmin()]
    polished = minimize_scalar(f, bounds=(best * 0.9, best * 1.1 + 1e-12), method="bounded").fun
    lowest = min(0.0, f(best), polished)
    assert x >= 0
    assert value == pytest.approx(f(x), rel=1e-9, abs=1e-300)
    assert value <= lowest * (1 - 1e-9) + 1e-300


@pytest.mark.parametrize(
    ("a", "b", "x"), [(1e200, -1e250, 1e50), (1e308, -1e308, 1), (1e-110, -1e-200, 1e-90)]
)
def test_cubes_out_of_range_change_nothing(a, b, x):
    assert quartic_argmin(a, b)[0] == pytest.approx(x)


@pytest.mark.parametrize(("a", "b"), [(0.0, -1e-200), (-1e-250, 0.0), (-1e-300, -1e-200)])
def test_the_minimum_of_next_to_nothing(a, b):
    x, value = quartic_argmin(a, b)
    assert 0 <= x < 1e-60
    assert -1e-250 < value <= 0


@pytest.mark.parametrize("sweep", [symnmf.sweep, reference.sweep], ids=["numba", "numpy"])
@pytest.mark.parametrize("seed", range(5))
def test_no_sweep_raises_the_objective_and_H_stays_nonnegative(sweep, seed, monkeypatch):
    monkeypatch.setattr(symnmf, "sweep", sweep)
    rng = np.random.default_rng(seed)
    G = label_graph(rng)
    found = symmetric_nmf(G, 7, rng, max_sweeps=12, tol=0)
    assert (np.diff(found.history) <= 1e-9 * found.history[0]).all()
    assert found.history[-1] < found.history[0]
    assert (found.H >= 0).all()
    assert found.objective == pytest.approx(objective(G, found.H.T), rel=1e-9)
    dense = np.linalg.norm(G.toarray() - found.H.T @ found.H) ** 2
    assert found.objective == pytest.approx(dense, rel=1e-9)


def test_kernel_and_reference_take_the_same_steps(rng, monkeypatch):
    G = label_graph(rng)
    start = random_start(G, 9, rng)
    found = symmetric_nmf(G, 9, rng, max_sweeps=4, tol=0, start=start).H
    monkeypatch.setattr(symnmf, "sweep", reference.sweep)
    expected = symmetric_nmf(G, 9, rng, max_sweeps=4, tol=0, start=start).H
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_rows_with_many_non_zeros_take_the_same_steps(rng, monkeypatch):
    G = label_graph(rng)
    runs = {"max_sweeps": 1, "tol": 0, "start": rng.random((G.shape[0], MAX_LISTED + 9))}
    found = symmetric_nmf(G, MAX_LISTED + 9, rng, **runs)
    monkeypatch.setattr(symnmf, "sweep", reference.sweep)
    expected = symmetric_nmf(G, MAX_LISTED + 9, rng, **runs)
    np.testing.assert_allclose(found.H, expected.H, atol=1e-7)
    np.testing.assert_allclose(found.history, expected.history, rtol=1e-9)


def test_every_entry_is_stationary_at_convergence(rng):
    """KKT: the gradient 4 (VV' - G) V is zero where V > 0 and not negative where V = 0."""
    G = label_graph(rng, d=15)
    V = symmetric_nmf(G, 3, rng, max_sweeps=5000, tol=1e-14).H.T
    gradient = 4 * (V @ (V.T @ V) - G @ V)
    scale = np.abs(G).max() * V.max()
    assert np.abs(gradient[V > 0]).max() < 1e-4 * scale
    assert gradient[V == 0].min() > -1e-4 * scale


def test_planted_clusters_are_found(rng):
    """Disjoint cliques of labels are an exact factorisation: H has one row per clique."""
    Y = np.kron(np.eye(4), np.ones((10, 5)))
    found = symmetric_nmf(cooccurrence(Y), 4, rng, max_sweeps=300, tol=1e-12)
    assert found.objective < 1e-6 * (cooccurrence(Y).data ** 2).sum()
    clusters = found.H.argmax(axis=0).reshape(4, 5)
    assert (clusters == clusters[:, :1]).all()
    assert len(set(clusters[:, 0])) == 4


def test_labels_without_training_rows_get_an_empty_column(rng):
    Y = (rng.random((60, 12)) < 0.3).astype(float)
    Y[:, [3, 8]] = 0
    H = symmetric_nmf(cooccurrence(Y), 5, rng).H
    assert (H[:, [3, 8]] == 0).all()
    assert np.isfinite(H).all()


def test_same_seed_same_result():
    G = label_graph(np.random.default_rng(1))
    one, two = (symmetric_nmf(G, 6, np.random.default_rng(3)).H for _ in range(2))
    assert (one == two).all()


def test_stops_by_tolerance_and_by_sweeps(rng):
    G = label_graph(rng)
    assert symmetric_nmf(G, 5, rng, max_sweeps=3, tol=0).n_sweeps == 3
    loose = symmetric_nmf(G, 5, rng, max_sweeps=1000, tol=0.05)
    assert loose.converged
    assert loose.n_sweeps < 1000
    assert loose.history[-2] - loose.history[-1] <= 0.05 * loose.history[-1]


def test_a_limit_in_seconds_is_recorded_as_not_reproducible(rng):
    G = label_graph(rng)
    with pytest.warns(NotReproducibleWarning, match="another run with the same seed may stop elsewhere"):
        found = symmetric_nmf(G, 5, rng, max_sweeps=50, tol=0, max_seconds=0.0)
    assert not found.reproducible
    assert symmetric_nmf(G, 5, rng, max_sweeps=2, tol=0, max_seconds=1e6).reproducible


def test_progress_counts_sweeps(rng):
    calls = []
    symmetric_nmf(label_graph(rng), 4, rng, max_sweeps=3, tol=0, progress=lambda *a: calls.append(a))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_the_kernel_gets_arrays_by_rows(rng, monkeypatch):
    """Products by columns take three times as long, and compile the kernel once more."""
    seen, sweep = [], symnmf.sweep

    def noted(*arrays):
        seen.extend(array.flags.c_contiguous for array in arrays)
        return sweep(*arrays)

    monkeypatch.setattr(symnmf, "sweep", noted)
    G = label_graph(rng)
    symmetric_nmf(G, 6, rng, max_sweeps=2)
    symmetric_nmf(G, 6, rng, max_sweeps=2, start=rng.random((40, 6)))
    assert seen
    assert all(seen)
