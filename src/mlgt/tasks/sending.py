"""Objects on their way to workers: large arrays as files in a shared folder, the rest by the executor.

An array that was sent before is not written again. A worker maps the files, so that it reads only the parts
that its tasks need, and keeps the shared inputs of the last two stages.
"""

import mmap
import os
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._core.errors import MLGTError
from .._core.memory import MappedFile
from .files import read_arrays, write_arrays
from .kept import versions
from .stage import Result, nothing_nested

SMALL_BYTES = 1 << 14
"""Size up to which an array goes with its object."""
N_CACHED = 2


@dataclass(frozen=True)
class Sent:
    """A pickled object and its buffers, each as bytes, or as a file (path, size)."""

    key: str
    content: Any
    buffers: tuple[Any, ...]


class Storage:
    """A folder that all workers can read and write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bytes_written = self.bytes_read = 0
        self._files: dict[tuple[int, int], _File] = {}
        self._count = self._stage = 0

    def new_place(self) -> Path:
        """A file name that was not used before."""
        self._count += 1
        return self.folder / f"{self._count:06d}"

    def send(self, value: Any, reuse: bool = False) -> Sent:
        """Write the large parts of an object. With `reuse`, arrays that were sent before are not written
        again: they must not have changed."""
        try:  # it also sends functions within objects; a dependency of Dask and joblib
            from cloudpickle import dumps
        except ImportError:  # joblib before 1.6 has a copy
            from joblib.externals.cloudpickle import dumps

        buffers: list[pickle.PickleBuffer] = []
        content = dumps(value, protocol=5, buffer_callback=buffers.append)
        views = [memoryview(content), *(buffer.raw() for buffer in buffers)]
        content, *parts = [self._write(view, reuse) for view in views]
        return Sent(str(self.new_place()), content, tuple(parts))

    def _write(self, view, reuse):
        if view.nbytes <= SMALL_BYTES:
            return bytes(view)
        key = _address(view), view.nbytes
        path = self._files[key].path if reuse and key in self._files else self.new_place()
        if not reuse or key not in self._files:
            with open(path, "wb") as file:
                file.write(view)
            self.bytes_written += view.nbytes
        if reuse:
            self._files[key] = _File(path, view, self._stage)
        return str(path), view.nbytes

    def read(self, place: Path) -> Result:
        """The result that a worker wrote."""
        arrays = read_arrays(place)
        if arrays is None:
            raise MLGTError(f"{place}: a worker's result is missing or broken; is the folder full?")
        self.bytes_read += sum(array.nbytes for array in arrays)
        return arrays

    def remove(self, inputs: Sent, place: Path) -> None:
        """Remove the inputs and the result of one task."""
        place.unlink(missing_ok=True)
        for part in (inputs.content, *inputs.buffers):
            if not isinstance(part, bytes):
                Path(part[0]).unlink(missing_ok=True)

    def end_stage(self) -> None:
        """Remove the files that this stage did not use, such as those of the stage before it."""
        for key, file in list(self._files.items()):
            if file.used < self._stage:
                file.path.unlink(missing_ok=True)
                del self._files[key]
        self._stage += 1


@dataclass
class _File:
    path: Path
    view: memoryview
    """Keeps the array, so that its address is not used again."""
    used: int


def _address(view):
    import numpy as np

    return np.frombuffer(view, np.uint8).__array_interface__["data"][0]


# On workers.

_lock = threading.Lock()
_opened: dict[str, Any] = {}


def call(
    expected: dict[str, str],
    function: Callable[[Any, Any], Result],
    shared: Any,
    inputs: Any,
    place: str | None,
) -> Result | None:
    """Run one task; with a `place`, write its result there and return None."""
    if versions() != expected:
        raise MLGTError(f"a worker {describe(versions(), expected)}")
    with nothing_nested():  # an executor may run tasks in this process
        result = function(_received(shared, keep=True), _received(inputs))
    if place is None:
        return result
    write_arrays(Path(place), result)
    return None


def _received(sent, keep=False):
    if not isinstance(sent, Sent):
        return sent
    if not keep:
        return _open(sent)
    with _lock:
        if sent.key not in _opened:
            while len(_opened) >= N_CACHED:
                del _opened[next(iter(_opened))]
            _opened[sent.key] = _open(sent)
        return _opened[sent.key]


def _open(sent):
    return pickle.loads(_map(sent.content), buffers=[_map(buffer) for buffer in sent.buffers])


def _map(buffer):
    """A buffer that may be written to, as compiled code expects; changes stay in this process."""
    if isinstance(buffer, bytes):
        return bytearray(buffer)
    path, size = buffer
    with open(path, "rb") as file:
        return MappedFile.of(file, size, access=mmap.ACCESS_COPY)


def probe(path: str, content: bytes) -> bool:
    """True if a file has this content here, and its folder can be written to."""
    try:
        return Path(path).read_bytes() == content and os.access(Path(path).parent, os.W_OK)
    except OSError:
        return False


def describe(found: dict[str, str], expected: dict[str, str]) -> str:
    """The versions that differ, in words."""
    differ = [name for name in expected if found.get(name) != expected[name]]
    has, needs = (", ".join(f"{name} {own.get(name)}" for name in differ) for own in (found, expected))
    return f"has {has}, but this process {needs}; results would differ. Install the same versions on all."
