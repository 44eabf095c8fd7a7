"""Reading a model folder: every file is opened once, through one descriptor of the folder.

So all that is read belongs to one model, whatever happens to the folder's name meanwhile. A model that is
replaced while it is opened is opened again: a reader gets the old model or the new one. Large arrays are
mapped, small ones read; each is compared with its checksum before it is used.
"""

import errno
import hashlib
import io
import math
import mmap
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from .._core.aside import replaced_place
from .._core.errors import ModelFileError
from .fitted import FittedModel
from .format import from_folder, upgrade
from .header import ADVICE, HEADER, parse_header
from .packing import Unpacked

MAX_READ_BYTES = 1 << 16
"""Size up to which arrays are read; larger ones are mapped."""
ATTEMPTS = 200
"""How often a model that is replaced again and again is opened again."""
_EXPECTED = "Expected one written by `mlgt train` or save(path)."
_ARRAY_NAME = re.compile(r"[a-z_]+(-[0-9]+)?(/[a-z_]+)?")
_ENTRY = {"dtype": str, "shape": list, "bytes": int, "sha256": str}
_NPY_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_NPY_ERRORS = (LookupError, ValueError, SyntaxError, TokenError, MemoryError, RecursionError)
"""What NumPy raises for a header that is not its own."""
_NPY_HEADER_BYTES = 1 << 14


def read_model(
    path: str | os.PathLike[str], digest: str | None = None
) -> tuple[dict[str, Any], FittedModel]:
    """(header, model) of the folder `path`; the header is upgraded to the current version.

    With `digest`, raise unless the model has it.
    """
    header, arrays = open_model(path)
    if digest is not None and header.get("digest") != digest:
        raise ModelFileError(f"{path} has the digest {header.get('digest')}; expected {digest}.")
    return make_model(header, arrays)


def make_model(header: Mapping[str, Any], arrays: "StoredArrays") -> tuple[dict[str, Any], FittedModel]:
    """The same from what `open_model` returns."""
    with report_bad_header(arrays.path):
        header = upgrade(header)
        model = from_folder(header, Unpacked(arrays))
        model.decoder, model.calibrated  # noqa: B018  made once, for all threads; raise if options are wrong
        return header, model


@contextmanager
def report_bad_header(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong in putting a model together into words about its header."""
    try:
        yield
    except ModelFileError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise ModelFileError(
            f"{Path(path) / HEADER} does not describe a whole model ({error!r}). {ADVICE}"
        ) from None


def open_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], "StoredArrays"]:
    """(header, arrays) of the folder `path`, all files opened."""

    def open_all(folder):
        header = folder.header()
        return header, StoredArrays(folder, header)

    return _read(path, open_all)


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a model folder as a dict, its format checked."""
    return _read(path, _Folder.header)


def _read(path, read):
    """read(folder), again if the folder is replaced meanwhile."""
    for _ in range(ATTEMPTS):
        try:
            folder = _find(Path(path))
        except FileNotFoundError:
            if os.path.exists(path):  # it came back meanwhile
                continue
            raise ModelFileError(
                f"{path} is not a model folder: there is no such folder. {_EXPECTED}"
            ) from None
        with folder:
            try:
                return read(folder)
            except (ModelFileError, OSError):
                if not folder.was_replaced():
                    raise
    raise ModelFileError(f"{path} is written by another process all the time. Try again when it has ended.")


def _find(path):
    """The folder `path`, or the old one if a writer is between two renames."""
    try:
        return _Folder(path)
    except FileNotFoundError:
        return _Folder(replaced_place(Path(os.path.realpath(path))))


class _Folder:
    """An open model folder: its files are found through its descriptor, where the system has these."""

    def __init__(self, path):
        self.path, self.handle = Path(path), None
        if os.open in os.supports_dir_fd:
            try:
                self.handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except NotADirectoryError:
                raise ModelFileError(f"{path} is not a model folder: it is a file. {_EXPECTED}") from None
        elif not self.path.exists():
            raise FileNotFoundError

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.handle is not None:
            os.close(self.handle)

    def was_replaced(self):
        """True if another folder has taken the name of this one."""
        if self.handle is None:
            return False
        try:
            return not os.path.samestat(os.fstat(self.handle), os.stat(self.path))
        except OSError:
            return True

    def header(self):
        try:
            with self.open(HEADER) as stream:
                return parse_header(stream.read(), self.path / HEADER)
        except FileNotFoundError:
            raise ModelFileError(
                f"{self.path} is not a model folder: it has no {HEADER}. {_EXPECTED}"
            ) from None

    def open(self, name: str) -> Any:
        """Open a regular file of this folder; links are not followed."""
        file = self.path / name
        try:
            if self.handle is None:
                if file.is_symlink() or file.parent.is_symlink():
                    raise OSError(errno.ELOOP, "")
                stream: Any = open(file, "rb")  # noqa: SIM115
            else:
                stream = os.fdopen(self._descriptor(name), "rb", buffering=0)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise ModelFileError(
                    f"{file} is a link, or lies in one; expected files of the folder itself. Copy the "
                    "model with what its links lead to (cp -RL)."
                ) from None
            raise OSError(error.errno, error.strerror, str(file)) from None
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            stream.close()
            raise ModelFileError(f"{file} is no regular file. {ADVICE}")
        return stream

    def _descriptor(self, name):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        inner, _, last = name.rpartition("/")
        if not inner:
            return os.open(last, flags | os.O_NONBLOCK, dir_fd=self.handle)
        parent = os.open(inner, flags | os.O_DIRECTORY, dir_fd=self.handle)
        try:
            return os.open(last, flags | os.O_NONBLOCK, dir_fd=parent)
        finally:
            os.close(parent)


class StoredArrays(Mapping):
    """The arrays of a model folder by name, read or mapped; compared with their checksums on first use."""

    def __init__(self, folder: _Folder, header: Mapping[str, Any]) -> None:
        self.path = folder.path
        entries = header.get("arrays")
        if not isinstance(entries, dict) or not all(map(_is_entry, entries.values())):
            raise ModelFileError(f"{self.path / HEADER} does not list the model's arrays. {ADVICE}")
        self.entries: dict[str, dict] = entries
        self._contents = {name: self._open(folder, name, entry) for name, entry in entries.items()}
        self._arrays: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            self._arrays[name] = self._array(name, self.entries[name])
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def file(self, name: str) -> Path:
        return self.path / f"{name}.npy"

    def _open(self, folder, name, entry):
        """The bytes of the file, read or mapped."""
        if not _ARRAY_NAME.fullmatch(name):
            raise ModelFileError(
                f"{self.path / HEADER} names the array {name!r} outside the folder. {ADVICE}"
            )
        try:
            stream = folder.open(f"{name}.npy")
        except FileNotFoundError:
            raise ModelFileError(f"{self.file(name)} is missing. {ADVICE}") from None
        with stream:
            size = os.fstat(stream.fileno()).st_size
            if size != entry["bytes"]:
                raise ModelFileError(
                    f"{self.file(name)} has {size} bytes; expected {entry['bytes']}. {ADVICE}"
                )
            if size > MAX_READ_BYTES:
                # Nothing writes to it, but numba would compile kernels again for read-only arrays.
                return mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_COPY)
            return bytearray(stream.read(size))

    def _array(self, name, entry):
        content, file = self._contents[name], self.file(name)
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise ModelFileError(f"{file} was altered: its checksum is not the saved one. {ADVICE}")
        try:
            head = io.BytesIO(content[:_NPY_HEADER_BYTES])
            shape, is_fortran, dtype = _NPY_HEADERS[np.lib.format.read_magic(head)](head)
        except _NPY_ERRORS as error:
            raise ModelFileError(
                f"{file} is not a NumPy array ({type(error).__name__}). {ADVICE}"
            ) from None
        if dtype.str != entry["dtype"] or list(shape) != entry["shape"]:
            raise ModelFileError(f"{file} has another type or shape than {HEADER} says. {ADVICE}")
        if dtype.kind not in "biuf" or not dtype.isnative:
            raise ModelFileError(
                f"{file} has the type {dtype.str}; expected numbers in this machine's byte order. {ADVICE}"
            )
        count, begin = math.prod(shape), head.tell()
        if min(shape, default=0) < 0 or begin + count * dtype.itemsize != entry["bytes"]:
            raise ModelFileError(f"{file} does not hold as many bytes as its shape needs. {ADVICE}")
        array = np.frombuffer(content, dtype, count, begin) if count else np.empty(0, dtype)
        return np.require(array.reshape(shape, order="F" if is_fortran else "C"), requirements="A")


def _is_entry(entry):
    return isinstance(entry, dict) and all(type(entry.get(key)) is kind for key, kind in _ENTRY.items())
