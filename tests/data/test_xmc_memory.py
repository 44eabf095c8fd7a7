"""What reading a file takes: the text and the arrays, whatever a header claims."""

import tracemalloc

import pytest

from mlgt._core.errors import DataFormatError
from mlgt.data import read_xmc


@pytest.fixture
def traced():
    """The peak of what was allocated since the test began to trace."""
    yield tracemalloc
    tracemalloc.stop()


def test_a_header_allocates_nothing(tmp_path, traced):
    path = tmp_path / "some.txt"
    path.write_bytes(b"2147483647 2147483647 2147483647\n0 0:1\n")
    traced.start()
    with pytest.raises(DataFormatError, match="the file ends after 1 rows"):
        read_xmc(path)
    assert traced.get_traced_memory()[1] < 20e6


def test_peak_is_text_and_arrays(tmp_path, traced):
    """As in the docstring of read_xmc, with an eighth more while the text grows."""
    n_rows, n_entries, n_labels = 20_000, 30, 3
    row = b"0,1,2" + b"".join(b" %d:0.%d" % (j, j + 1) for j in range(n_entries)) + b"\n"
    text = b"%d %d %d\n" % (n_rows, n_entries, n_labels) + row * n_rows
    path = tmp_path / "some.txt"
    path.write_bytes(text)
    read_xmc(path)  # compiles
    traced.start()
    read_xmc(path)
    arrays = n_rows * (8 * n_entries + 8 * n_labels + 24)
    assert traced.get_traced_memory()[1] < 1.125 * len(text) + arrays + 2e6
