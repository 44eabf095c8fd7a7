"""Results of tasks as files: what was written is read, and nothing else."""

import numpy as np
import pytest

from mlgt.tasks.files import read_arrays, write_arrays

ARRAYS = [
    np.arange(7, dtype=np.uint16),
    np.empty((0, 3), np.float32),
    np.array([True, False]),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array([], np.int8),
    np.arange(100, dtype=np.int64)[::3],
]


def test_arrays_come_back_and_may_be_changed(tmp_path):
    write_arrays(tmp_path / "a", ARRAYS)
    for array, found in zip(ARRAYS, read_arrays(tmp_path / "a"), strict=True):
        np.testing.assert_array_equal(array, found)
        assert array.dtype == found.dtype
        found[...] = 0
    np.testing.assert_array_equal(read_arrays(tmp_path / "a")[0], ARRAYS[0])
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_file_cut_short_or_altered_counts_as_missing(tmp_path):
    write_arrays(tmp_path / "a", ARRAYS)
    content = (tmp_path / "a").read_bytes()
    for size in [0, 1, 31, 32, 33, len(content) // 2, len(content) - 1]:
        (tmp_path / "b").write_bytes(content[:size])
        assert read_arrays(tmp_path / "b") is None
    for place in range(0, len(content), 37):
        (tmp_path / "b").write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert read_arrays(tmp_path / "b") is None
    assert read_arrays(tmp_path / "c") is None


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(TypeError, match="objects"):
        write_arrays(tmp_path / "a", [np.arange(3), np.array(["x"], object)])
    assert list(tmp_path.iterdir()) == []
