"""Arrays in files without a name."""

import errno
import os
import tempfile

import numpy as np
import pytest

from mlgt._core.memory import empty_on_disk, is_mapped, on_disk


def test_the_array_is_the_same_and_no_file_is_left(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = rng.integers(-128, 127, (30, 7)).astype(np.int8)
    copy = on_disk(array)
    assert type(copy) is np.ndarray
    assert is_mapped(copy)
    assert is_mapped(copy[3:5].T)
    assert not is_mapped(array)
    np.testing.assert_array_equal(copy, array)
    copy[2] = 5
    assert (copy[2] == 5).all()
    if os.name == "posix":
        assert not list(tmp_path.iterdir())


def test_nothing_can_be_on_disk_too():
    assert on_disk(np.empty((0, 4), np.float32)).shape == (0, 4)


def test_a_full_disk_is_reported_before_it_is_written_to(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match=r"no room for 4\.0 GB of temporary files; set TMPDIR"):
        empty_on_disk((1_000_000_000,), np.float32)
