import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.model.sample import MAX_ROUNDING, MIN_ROWS, Sample, affordable_rows


@pytest.mark.parametrize("size", [0.5, 1e5, 1e-9])
@pytest.mark.parametrize(("words", "kind"), [(8, np.int8), (9000, np.float16)])
def test_rows_in_bytes_are_nearly_the_same(words, kind, size):
    """A row that became 0 would look like every taught one."""
    values = np.full(words, 0.02, np.float32)
    values[0] = 1.0  # many words that are much smaller than the first need more than bytes
    X = sp.csr_array(size * values[None])
    kept = Sample.of(X, sp.csr_array(np.array([[1, 0]], np.float32)), (0, 0, 1))
    kind = np.float32 if kind == np.float16 and size != 0.5 else kind  # beyond 16 bits
    assert kept.values.dtype == kind
    assert (kept.scale is None) == (kind != np.int8)
    lost = abs(kept.X - X).power(2).sum() / X.power(2).sum()
    assert lost <= MAX_ROUNDING
    assert [row for row, _ in kept.recall(X)] == [0]


def test_rows_in_bytes_stay_the_same_when_they_are_kept_again(rng):
    X = sp.csr_array((rng.random((40, 60)) * (rng.random((40, 60)) < 0.3)).astype(np.float32))
    Y = sp.csr_array(np.ones((40, 2), np.float32))
    once = Sample.of(X, Y, (0, 40, 0))
    again = Sample.of(once.X, Y, (0, 40, 0))
    assert once.values.dtype == np.int8
    assert abs(once.X - again.X).max() <= 1e-6


def test_fewer_rows_are_kept_beside_small_classifiers():
    assert affordable_rows(1000, entries=120, n_weights=120 * 101) == 202
    assert affordable_rows(1000, entries=120, n_weights=1) == MIN_ROWS
    assert affordable_rows(60, entries=120, n_weights=1) == 60
    assert affordable_rows(1000, entries=20, n_weights=10_000 * 256) == 1000


def test_another_row_is_not_recalled():
    X = sp.csr_array(np.array([[0.25, 0, 0.5]], np.float32))
    kept = Sample.of(X, sp.csr_array(np.array([[1, 0]], np.float32)), (0, 0, 1))
    other = sp.csr_array(np.array([[0, 1, 1]], np.float32))
    assert list(kept.recall(other)) == []
