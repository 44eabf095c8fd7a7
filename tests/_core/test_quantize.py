import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.quantize import (
    are_squares,
    deflate,
    inflate,
    pack_squares,
    quantize_columns,
    quantize_runs,
    squares_of_bytes,
    unpack_squares,
)
from mlgt._core.rows import scale_rows
from mlgt.classifiers.margins import group_margins


def test_columns_are_within_half_a_step(rng):
    W = (rng.normal(size=(2000, 7)) * 10.0 ** rng.integers(-3, 3, 7)).astype(np.float32)
    W[:, 4] = 0
    q, scale = quantize_columns(W)
    assert q.dtype == np.int8
    assert (np.abs(q * scale - W) <= 0.501 * scale).all()
    assert np.abs(q).max(axis=0).tolist() == [127, 127, 127, 127, 0, 127, 127]


def test_runs_have_a_scale_each(rng):
    indptr = np.array([0, 3, 3, 8, 8])
    values = rng.normal(size=8).astype(np.float32) * np.float32(50)
    q, scale = quantize_runs(values, indptr)
    assert scale.shape == (4,)
    assert (scale[[1, 3]] == 1).all()
    assert (np.abs(q * np.repeat(scale, np.diff(indptr)) - values) <= 0.501 * scale.max()).all()
    empty, scale = quantize_runs(values[:0], np.zeros(3, int))
    assert (len(empty), scale.tolist()) == (0, [1, 1])


def test_margins_of_bytes_are_those_of_the_rounded_weights(rng):
    X = scale_rows(sp.csr_array(rng.normal(size=(40, 90)) * (rng.random((40, 90)) < 0.3), dtype=np.float32))
    W, b = rng.normal(size=(90, 70)).astype(np.float32), rng.normal(size=70).astype(np.float32)
    q, scale = quantize_columns(W)
    found = group_margins(X, q, b, scale)
    np.testing.assert_allclose(found, X @ (q * scale) + b, atol=1e-5)
    error = found - group_margins(X, W, b)
    assert 0 < error.std() < 1.5 * scale.max() / np.sqrt(12)  # as `quantize` says


@pytest.mark.parametrize("m", [0, 1, 7, 8])
def test_squares_take_half_a_byte(rng, m):
    W = rng.normal(size=(300, m)).astype(np.float32) ** 3
    q, scale = quantize_columns(W, squares=True)
    packed = pack_squares(q)
    assert are_squares(q)
    assert packed.shape == (300, (m + 1) // 2)
    assert (unpack_squares(packed, m) == q).all()
    again, _ = quantize_columns(q * scale, squares=True)
    assert (again == q).all()
    # roots are at most half a step off, and a weight keeps its sign
    roots = np.sqrt(np.abs(W) / scale) - np.sqrt(np.abs(q.astype(np.float32)))
    assert np.abs(roots).max(initial=0) <= 0.501
    assert (q * W >= 0).all()


def test_bytes_become_squares_as_their_weights_do(rng):
    W = rng.normal(size=(3000, 7)).astype(np.float32) ** 3
    W[:, 4] = 0
    q, scale = quantize_columns(W)
    found, units = squares_of_bytes(q, scale)
    expected, expected_units = quantize_columns(q * scale, squares=True)
    assert (found == expected).all()
    np.testing.assert_allclose(units, expected_units, rtol=1e-6)


def test_bytes_that_are_no_squares_are_told_apart(rng):
    assert not are_squares(np.array([[1, 2]], np.int8))
    with pytest.raises(ValueError, match="half byte of 0"):
        unpack_squares(np.array([[0x80]], np.uint8), 2)


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (300, 17)])
def test_deflated_bytes_come_back(rng, shape):
    packed = rng.binomial(15, 0.5, size=shape).astype(np.uint8)
    stream = deflate(packed)
    assert stream.ndim == 1
    assert (inflate(stream, shape) == packed).all()


def test_a_stream_of_another_size_is_refused(rng):
    stream = deflate(np.zeros((1000, 1000), np.uint8))  # a few bytes for a million
    for shape in ((1000, 999), (1001, 1000)):
        with pytest.raises(ValueError, match="not the zlib stream of"):
            inflate(stream, shape)
    with pytest.raises(ValueError, match="not the zlib stream of"):
        inflate(stream[:-1], (1000, 1000))
    with pytest.raises(ValueError, match="no zlib stream"):
        inflate(np.arange(99, dtype=np.uint8), (9, 9))
