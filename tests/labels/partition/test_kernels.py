"""Each kernel and its reference do the same; what they promise is tested on both."""

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.labels.graph import cut_weight
from mlgt.labels.partition import _kernels
from references import partition as reference

BOTH = pytest.mark.parametrize("code", [_kernels, reference], ids=["numba", "python"])


def random_graph(seed, n=40, edges=90):
    rng = np.random.default_rng(seed)
    weight = np.zeros((n, n), np.int64)
    i, j = rng.integers(n, size=(2, edges))
    weight[i, j] = rng.integers(1, 5, edges)
    weight = np.triu(weight, 1)
    return sp.csr_array(weight + weight.T), rng


def arrays(A):
    return A.indptr, A.indices, A.data


@pytest.mark.parametrize("seed", range(10))
def test_propagate_equals_its_reference(seed):
    A, rng = random_graph(seed)
    mass = rng.integers(1, 4, 40)
    start = rng.integers(-1, 4, 40)
    cap = np.full(4, mass.sum() // 4 + 2)  # some parts are overfull at the start, some vertices in none
    order = rng.permutation(40)
    results = []
    for code in (_kernels, reference):
        part = start.copy()
        load = np.bincount(part[part >= 0], mass[part >= 0], 4).astype(np.int64)
        code.propagate(*arrays(A), mass, part, load, cap, order, 6)
        assert (load == np.bincount(part[part >= 0], mass[part >= 0], 4)).all()
        results.append(part)
    assert (results[0] == results[1]).all()
    assert (results[0] != start).any()


@BOTH
def test_propagation_lowers_the_cut_and_keeps_the_caps(code):
    A, rng = random_graph(3)
    part = rng.permutation(np.arange(40) % 4)
    before = cut_weight(A, part)
    load, cap = np.bincount(part), np.full(4, 12)
    code.propagate(*arrays(A), np.ones(40, np.int64), part, load, cap, rng.permutation(40), 8)
    assert cut_weight(A, part) < before
    assert (np.bincount(part, minlength=4) <= cap).all()


@BOTH
def test_an_overfull_part_sheds_even_what_nothing_draws_away(code):
    A, rng = random_graph(0)
    part = np.zeros(40, np.int64)
    load, cap = np.array([40, 0]), np.array([20, 20])
    code.propagate(*arrays(A), np.ones(40, np.int64), part, load, cap, rng.permutation(40), 8)
    assert (np.bincount(part) == 20).all()


@pytest.mark.parametrize("limit", [0, 3, 40])
@pytest.mark.parametrize("seed", range(5))
def test_cover_equals_its_reference_and_covers(seed, limit):
    A, rng = random_graph(seed)
    one, two = (rng.integers(-1, 3, 40) for _ in range(2))
    two[:] = one
    before = (one < 0).sum()
    taken = _kernels.cover(*arrays(A), one, limit)
    assert taken == reference.cover(*arrays(A), two, limit) == (one < 0).sum() - before <= limit
    assert (one == two).all()
    assert limit < 40 or cut_weight(A, one) == 0


@pytest.mark.parametrize("seed", range(10))
def test_release_equals_its_reference_and_stays_strict(seed):
    A, rng = random_graph(seed, edges=60)
    part = rng.integers(0, 3, 40)
    part[rng.random(40) < 0.3] = -1
    _kernels.cover(*arrays(A), part, 40)
    before = (part < 0).sum()
    order = rng.permutation(np.flatnonzero(part < 0))
    cap = np.full(3, 14)
    results = []
    for code in (_kernels, reference):
        mine = part.copy()
        load = np.bincount(mine[mine >= 0], minlength=3)
        back = code.release(A.indptr, A.indices, mine, load, cap, order)
        assert (load == np.bincount(mine[mine >= 0], minlength=3)).all()
        assert back == before - (mine < 0).sum() > 0
        assert cut_weight(A, mine) == 0
        results.append(mine)
    assert (results[0] == results[1]).all()


@pytest.mark.parametrize("seed", range(10))
def test_pack_equals_its_reference_and_balances(seed):
    rng = np.random.default_rng(seed)
    sizes = np.sort(rng.geometric(0.2, 60))[::-1].astype(np.int64)
    start = rng.choice([-1, 0, 0, 1, 2], 60)
    target = np.array([0.5, 0.25, 0.25]) * sizes.sum()
    results = []
    for code in (_kernels, reference):
        home = start.copy()
        load = np.bincount(start[start >= 0], sizes[start >= 0], 3).astype(np.int64)
        code.pack(sizes, home, load, target)
        assert (load == np.bincount(home, sizes, 3)).all()
        assert (np.abs(load - target) <= 2).all()  # sizes end in many ones
        results.append(home)
    assert (results[0] == results[1]).all()
