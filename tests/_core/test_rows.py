import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.memory import is_mapped
from mlgt._core.rows import BLOCK_ROWS, Rows, WordRows, as_rows, map_blocks, scale_rows


@pytest.mark.parametrize("power", [1.0, 0.5, 0.3, 2.0])
@pytest.mark.parametrize("unit", [True, False])
def test_power_then_length(rng, power, unit):
    dense = rng.normal(size=(50, 20)) * (rng.random((50, 20)) < 0.4)
    dense[3] = 0
    expected = np.sign(dense) * np.abs(dense) ** power
    if unit:
        expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-30)
    X = sp.csr_array(dense, dtype=np.float32)
    before = X.copy()
    np.testing.assert_allclose(scale_rows(X, power, unit).toarray(), expected, atol=1e-6)
    assert (X != before).nnz == 0


def test_large_values_do_not_overflow():
    X = sp.csr_array(np.float32([[3e30, 4e30]]))
    np.testing.assert_allclose(scale_rows(X).toarray(), [[0.6, 0.8]], rtol=1e-6)


def test_rows_in_a_file_are_scaled_into_a_file(rng, tmp_path):
    X = sp.csr_array(rng.random((50, 20)), dtype=np.float32)
    X.data.tofile(tmp_path / "data")
    data = np.memmap(tmp_path / "data", np.float32, "r")
    mapped = sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
    scaled = scale_rows(mapped, 0.5)
    assert is_mapped(scaled.data)
    assert not is_mapped(scale_rows(X, 0.5).data)
    np.testing.assert_array_equal(scaled.data, scale_rows(X, 0.5).data)
    np.testing.assert_array_equal(mapped.data, X.data)


def test_blocks_keep_the_order(rng):
    X = sp.csr_array(rng.random((1500, 4)), dtype=np.float32)
    for jobs in (1, 3):
        blocks = map_blocks(lambda rows: rows.sum(axis=1), X, jobs)
        assert len(blocks) == 3
        np.testing.assert_allclose(np.concatenate(blocks), X.sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_an_error_in_a_block_ends_the_others(jobs):
    """It reaches the caller from any thread, and threads begin no further block."""
    X, begun = sp.csr_array((64 * BLOCK_ROWS, 4), dtype=np.float32), []

    def fail(rows):
        begun.append(rows)
        raise ValueError("no such row")

    with pytest.raises(ValueError, match="no such row"):
        map_blocks(fail, X, jobs)
    assert len(begun) <= jobs


@pytest.mark.parametrize(
    "rows", [slice(0, 5), slice(3, 9), slice(7, 7), slice(9, 4), slice(None), slice(-2, None), [4, 0]]
)
def test_rows_are_sliced_like_a_matrix(rng, rows):
    X = sp.random(12, 30, 0.2, "csr", dtype=np.float32, random_state=rng)
    words = WordRows(np.arange(13), np.arange(12, dtype=np.int32))
    own = Rows(X.indptr, X.indices, X.data, X.shape, words)
    np.testing.assert_array_equal(own[rows].csr().toarray(), X[rows].toarray())
    np.testing.assert_array_equal(own[rows].words.words, np.arange(12)[rows])
    assert as_rows(own) is own
    if isinstance(rows, slice):
        assert as_rows(X)[rows].data.base is not None  # entries are shared
