"""Arrays in files without a name."""

import errno
import os
import tempfile

import numpy as np
import pytest

from mlgt._core import memory
from mlgt._core.memory import Growing, empty_on_disk, files_in, is_mapped, maker, on_disk, room_on_disk
from mlgt._core.texts import TextsOnDisk


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


def test_files_go_to_the_folder_of_the_context(tmp_path, monkeypatch):
    used = []
    make = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **k: used.append(k["dir"]) or make(**k))
    with files_in(tmp_path):
        empty_on_disk((3,), np.int8)
        assert room_on_disk() > 0
    empty_on_disk((3,), np.int8)
    assert used == [str(tmp_path), tempfile.gettempdir()]


@pytest.mark.parametrize("mapped", [False, True])
def test_arrays_grow_at_their_end(mapped, rng):
    parts = [rng.random(n) for n in (5, 0, 3000, 1)]
    growing = Growing(np.float32, mapped)
    for part in parts:
        growing.append(part)
    assert growing.size == 3006
    assert growing.n_bytes == (0 if mapped else 4 * 3006)
    whole = growing.finish()
    assert is_mapped(whole) == mapped
    assert (whole == np.concatenate(parts).astype(np.float32)).all()
    assert is_mapped(maker(whole)((2, 3), np.int32)) == mapped
    assert Growing(np.int8, mapped).finish().shape == (0,)


def test_texts_on_disk_are_the_texts():
    texts = ["one", "", "Ä\U0001f600\ud800", "two\nlines"]
    found = TextsOnDisk(iter(texts))
    assert list(found) == texts
    assert len(found) == 4
    assert found[2] == texts[2]
    assert found[-1] == texts[-1]
    assert found[::2] == texts[::2]
    assert list(TextsOnDisk([])) == []
    with pytest.raises(IndexError):
        found[4]


VERSIONS = {
    "second": ("0::/job/step", ".", "memory.max", "memory.current", "inactive_file"),
    "first": (
        "4:cpu,memory:/job/step\n3:pids:/\n0::/",
        "memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_control_groups_of_a_process_and_those_above_limit_its_memory(tmp_path, monkeypatch, version):
    lines, top, limit, used, cached = VERSIONS[version]
    own, job = tmp_path / "own", tmp_path / top / "job"
    own.write_text(lines + "\n")
    monkeypatch.setattr(memory, "_OWN_GROUPS", own)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    machine = memory.available_memory()
    assert machine is not None
    for folder, most in ((job / "step", "max"), (job, "5000")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / limit).write_text(f"{most}\n")
        (folder / used).write_text("3000\n")
        (folder / "memory.stat").write_text(f"anon 2000\n{cached} 1000\n")
    assert memory.available_memory() == 5000 - 3000 + 1000
    (job / "step" / limit).write_text("2500\n")
    assert memory.available_memory() == 500
    own.unlink()
    assert memory.available_memory() > 5000
