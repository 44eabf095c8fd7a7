"""What is written is read back as it was, to the bit."""

import gzip
import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mlgt.data import read_xmc, write_xmc

FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


def same(a, b):
    """Whether two CSR arrays have the same shape and stored entries, to the bit."""
    return (
        a.shape == b.shape
        and np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.data.view(np.int32), b.data.view(np.int32))
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@settings(deadline=None)
@given(st.data(), st.integers(0, 6), st.integers(0, 5), st.integers(0, 5))
def test_round_trip(folder, data, n, p, d):
    """Any matrices: empty rows, no labels, no columns, no rows, any float32."""
    X = sp.csr_array(data.draw(hnp.arrays(np.float32, (n, p), elements=FLOAT32 | st.just(0))))
    Y = sp.csr_array(data.draw(hnp.arrays(np.bool_, (n, d))).astype(np.float32))
    for name in "round.txt", "round.txt.gz":
        write_xmc(folder / name, X, Y)
        back = read_xmc(folder / name)
        assert same(back.X, X)
        assert same(back.Y, Y)
    if n > 0:
        write_xmc(folder / "rows.txt", X, Y, header=False)
        back = read_xmc(folder / "rows.txt", n_features=p, n_labels=d)
        assert same(back.X, X)
        assert same(back.Y, Y)


def test_round_trip_of_float32_of_every_size(tmp_path):
    """Bits at random, so every exponent is met, and the extremes."""
    bits = np.random.default_rng(0).integers(0, 2**32, 20_000, dtype=np.uint32)
    values = bits.view(np.float32)
    info = np.finfo(np.float32)
    extremes = [info.max, info.min, info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
    values = np.concatenate([values[np.isfinite(values) & (values != 0)], np.float32(extremes)])
    X = sp.csr_array(values.reshape(-1, 1))
    Y = sp.csr_array((values.size, 1), dtype=np.float32)
    write_xmc(tmp_path / "x.txt", X, Y)
    assert same(read_xmc(tmp_path / "x.txt").X, X)


def test_text(tmp_path):
    """Labels and features are sorted, values are short, a row without labels begins blank."""
    X = sp.coo_array(([0.1, 1, 3, -4, 1e-7, 2], ([0, 0, 1, 1, 3, 3], [2, 0, 1, 1, 0, 1])))
    Y = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 1]])
    write_xmc(tmp_path / "x.txt", X, Y)
    rows = b"0,2 0:1 2:0.1\n 1:-1\n1\n2 0:1e-07 1:2\n"
    assert (tmp_path / "x.txt").read_bytes() == b"4 3 3\n" + rows
    write_xmc(tmp_path / "x.txt", X, Y, header=False)
    assert (tmp_path / "x.txt").read_bytes() == rows


@pytest.mark.parametrize("kind", [np.asarray, sp.coo_matrix, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, bool])
def test_kinds_of_matrices(tmp_path, kind, dtype):
    X, Y = kind(np.eye(3, 4, dtype=dtype)), kind(np.eye(3, 2, dtype=dtype))
    write_xmc(tmp_path / "x.txt", X, Y)
    assert (tmp_path / "x.txt").read_bytes() == b"3 4 2\n0 0:1\n1 1:1\n 2:1\n"


def test_matrices_are_left_as_they_were(tmp_path):
    X = sp.csr_array((np.float32([1, 2, 0, 3]), [2, 0, 1, 0], [0, 4]), shape=(1, 3))
    Y = sp.csr_array((np.float32([1, 0, 1]), [2, 1, 0], [0, 3]), shape=(1, 3))
    write_xmc(tmp_path / "x.txt", X, Y)
    assert (tmp_path / "x.txt").read_bytes() == b"1 3 3\n0,2 0:5 2:1\n"
    assert X.indices.tolist() == [2, 0, 1, 0]
    assert X.data.tolist() == [1, 2, 0, 3]
    assert Y.indices.tolist() == [2, 1, 0]


def test_many_rows(tmp_path):
    """More rows than are put into text at once."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.standard_normal((3000, 8)).astype(np.float32) * (rng.random((3000, 8)) < 0.3))
    Y = sp.csr_array((rng.random((3000, 5)) < 0.3).astype(np.float32))
    write_xmc(tmp_path / "x.txt", X, Y)
    back = read_xmc(tmp_path / "x.txt")
    assert same(back.X, X)
    assert same(back.Y, Y)


def test_gzip_is_reproducible(tmp_path):
    X, Y = np.eye(3), np.eye(3)
    for name in "a.txt.gz", "b.TXT.GZ":
        write_xmc(tmp_path / name, X, Y)
    packed = (tmp_path / "a.txt.gz").read_bytes()
    assert packed == (tmp_path / "b.TXT.GZ").read_bytes()
    assert packed[4:8] == bytes(4)  # no date
    assert gzip.decompress(packed) == b"3 3 3\n0 0:1\n1 1:1\n2 2:1\n"


GOOD = np.eye(2)


@pytest.mark.parametrize(
    ("X", "Y", "said"),
    [
        pytest.param(GOOD, np.eye(3), "X has 2 rows and Y has 3; expected one row", id="rows"),
        pytest.param([[1, np.nan]], [[1]], "NaN, infinite, or too large for float32", id="NaN"),
        pytest.param([[1, -np.inf]], [[1]], "NaN, infinite, or too large", id="infinity"),
        pytest.param([[1, 1e39]], [[1]], "NaN, infinite, or too large", id="overflow"),
        pytest.param(GOOD, 2 * GOOD, "Y has the value 2; expected 0 and 1", id="counts"),
        pytest.param(GOOD, 0.5 * GOOD, "Y has the value 0.5; expected 0 and 1", id="fractions"),
        pytest.param(GOOD, np.nan * GOOD, "Y has the value nan; expected 0 and 1", id="NaN in Y"),
        pytest.param(GOOD, [0, 1], "Y has 1 dimensions", id="vector"),
        pytest.param([["a"]], [[1]], "X has 2 dimensions and the type <U1; expected", id="words"),
        pytest.param(
            sp.csr_array((1, 2**31)), [[1]], "expected at most 2147483647 rows, features", id="wide"
        ),
    ],
)
def test_bad_matrices_write_nothing(tmp_path, X, Y, said):
    with pytest.raises(ValueError, match=said):
        write_xmc(tmp_path / "x.txt", X, Y)
    assert os.listdir(tmp_path) == []


def test_no_rows_need_a_header(tmp_path):
    with pytest.raises(ValueError, match="pass header=True"):
        write_xmc(tmp_path / "x.txt", np.empty((0, 2)), np.empty((0, 3)), header=False)
