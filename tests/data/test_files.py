"""Reading by content rather than name; writing whole or not at all."""

import gzip
import os
import subprocess
import sys

import pytest

from mlgt._core import files
from mlgt._core.files import gzip_writer, read_bytes, replacing
from mlgt.data import read_xmc, write_xmc


@pytest.mark.parametrize("name", ["a.txt", "a.gz"])
@pytest.mark.parametrize("size", [0, 1, 2, 100, 3 * files.CHUNK_BYTES + 1])
def test_gzip_is_known_by_its_content(tmp_path, name, size):
    content = bytes(range(1, 256)) * (size // 255 + 1)
    path = tmp_path / name
    for stored in content[:size], gzip.compress(content[:size]):
        path.write_bytes(stored)
        assert read_bytes(path) == content[:size]
        assert read_bytes(str(path)) == content[:size]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file; check the path") as error:
        read_xmc(tmp_path / "none.txt")
    assert error.value.filename == str(tmp_path / "none.txt")


def test_folder_for_a_file(tmp_path):
    said = "this is a folder; pass the path of one file"
    with pytest.raises(IsADirectoryError, match=said):
        read_xmc(tmp_path)
    with pytest.raises(IsADirectoryError, match=said):
        write_xmc(tmp_path, [[1]], [[1]])


def test_no_permission(tmp_path, monkeypatch):
    def refuse(*args):
        raise PermissionError

    monkeypatch.setattr(files, "open", refuse, raising=False)
    with pytest.raises(PermissionError, match="the file may not be read; check its permissions"):
        read_xmc(tmp_path / "a.txt")


def test_missing_folder_to_write_in(tmp_path):
    with pytest.raises(FileNotFoundError, match="the folder to write in does not exist; create"):
        write_xmc(tmp_path / "none" / "a.txt", [[1]], [[1]])


def test_replacing_is_seen_at_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, ValueError])
@pytest.mark.parametrize("packed", [False, True])
def test_nothing_is_left_of_a_failure(tmp_path, problem, packed):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def write(path):
        with replacing(path) as file:
            if packed:
                with gzip_writer(file) as packed_file:
                    packed_file.write(b"new")
                    raise problem
            file.write(b"new")
            raise problem

    for target in path, tmp_path / "b.txt":
        with pytest.raises(problem):
            write(target)
    assert os.listdir(tmp_path) == ["a.txt"]
    assert path.read_bytes() == b"old"


def test_nothing_is_left_of_an_interrupted_write(tmp_path, monkeypatch):
    """Ctrl-C between two rows."""

    def interrupted(*args):
        yield b"1 1 1\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("mlgt.data.xmc._lines", interrupted)
    for name in "a.txt", "a.txt.gz":
        with pytest.raises(KeyboardInterrupt):
            write_xmc(tmp_path / name, [[1]], [[1]])
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_links_and_modes(tmp_path):
    """A link stays a link, and a new file has the rights of any new file."""
    (tmp_path / "a.txt").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    (tmp_path / "b.txt").write_bytes(b"")
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no devices as files")
def test_devices_are_written_and_not_replaced():
    write_xmc("/dev/null", [[1]], [[1]])
    assert not os.path.isfile("/dev/null")


def test_the_mode_of_a_file_is_kept(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        file.write(b"new")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="the system has no /dev/stdout")
def test_standard_output_by_its_name(tmp_path):
    """A pipe, and a file to which a shell appends."""
    code = (
        "from mlgt._core.files import replacing\nwith replacing('/dev/stdout') as file: file.write(b'new')"
    )
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (piped.stdout, piped.stderr) == ("new", "")
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with open(path, "ab") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert path.read_bytes() == b"oldnew"


def test_a_folder_that_may_be_written_but_not_listed(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("mlgt._core.aside.Path.iterdir", refuse)
    with replacing(tmp_path / "out") as file:
        file.write(b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
