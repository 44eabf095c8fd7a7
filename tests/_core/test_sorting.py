import numpy as np
import pytest
from numba import njit

from mlgt._core.sorting import nth_smallest, order_falling

nth_compiled = njit(lambda values, n: nth_smallest(values, n))
order_compiled = njit(lambda values, count: order_falling(values, count))


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
        assert nth(values.copy(), n) == np.sort(values)[n]


@pytest.mark.parametrize("order", [order_falling, order_compiled], ids=["python", "numba"])
def test_the_order_falls_and_is_stable(order, values):
    for count in {0, 1, len(values) // 2, len(values)}:
        expected = np.argsort(-values[:count], kind="stable")
        assert (order(values, count) == expected).all()


def test_values_that_are_no_numbers_end_too():
    values = np.array([np.nan, 1, np.nan, 0, np.nan, 2], np.float32)
    nth_compiled(values.copy(), 2)
    assert sorted(order_compiled(values, 6).tolist()) == list(range(6))
