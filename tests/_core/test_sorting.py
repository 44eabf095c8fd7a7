import itertools

import numpy as np
import pytest
from numba import njit

from mlgt._core.sorting import VALUES, best_places, nth_smallest, order_falling, space
from mlgt.compile import kernels

kernels._numba()  # knows helpers from then on
nth_compiled = njit(lambda floats, size, n: nth_smallest(floats, size, n))
order_compiled = njit(lambda bits, count, keys: order_falling(bits, count, keys))
best_compiled = njit(lambda *arguments: best_places(*arguments))


def nth_of(values, n, nth):
    floats = space(len(values)).floats
    floats[0, : len(values)] = values
    return nth(floats, len(values), n)


def order_of(values, order):
    work = space(len(values))
    work.floats[VALUES, : len(values)] = values
    order(work.bits, len(values), work.keys)
    return work.keys[0, : len(values)]


@pytest.fixture(params=["few", "many", "signs", "ties", "constant", "falling", "infinite"])
def values(request, rng):
    found = {
        "few": rng.random(3),
        "many": rng.random(1000),
        "signs": np.concatenate([rng.normal(size=200), [0.0, -0.0, 1e-45, -1e-45] * 3]),
        "ties": rng.integers(0, 5, 300),
        "constant": np.ones(77),
        "falling": -np.arange(130.0),
        "infinite": np.where(rng.random(200) < 0.5, -np.inf, rng.random(200)),
    }[request.param]
    return found.astype(np.float32)


@pytest.mark.parametrize("nth", [nth_smallest, nth_compiled], ids=["python", "numba"])
def test_the_nth_value_is_that_of_the_sorted_values(nth, values):
    for n in {0, len(values) // 3, len(values) - 1}:
        assert nth_of(values, n, nth) == np.sort(values)[n]


@pytest.mark.parametrize("order", [order_falling, order_compiled], ids=["python", "numba"])
def test_the_order_falls_and_is_stable(order, values):
    for count in {0, 1, len(values) // 2, len(values)}:
        expected = np.argsort(-values[:count], kind="stable")
        assert (order_of(values[:count], order) == expected).all()


@pytest.mark.parametrize("best", [best_places, best_compiled], ids=["python", "numba"])
@pytest.mark.parametrize("floor", [-np.inf, 0.3])
def test_the_best_places_are_the_first_of_the_order(best, values, floor):
    work = space(len(values))
    own = work.places, work.floats, work.keys, work.flags, work.eights
    bars = np.array([floor, max(floor, values[0]) if len(values) else floor, np.inf], np.float32)
    for k, likely in itertools.product({1, 40, len(values)}, bars):
        found = best(values, len(values), k, np.float32(floor), likely, *own)
        falling = np.argsort(-values, kind="stable")
        expected = np.sort(falling[values[falling] > np.float32(floor)][:k])
        assert work.places[:found].tolist() == expected.tolist()


def test_values_that_are_no_numbers_end_too():
    values = np.array([np.nan, 1, np.nan, 0, np.nan, 2], np.float32)
    nth_of(values, 2, nth_compiled)
    assert sorted(order_of(values, order_compiled).tolist()) == list(range(6))
