"""Memory: how much this process may still use, an error before it runs out, and arrays in files on disk."""

import ctypes
import errno
import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import MLGTError

_OWN_GROUPS, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
_GROUP_FILES = (
    ("memory.max", "memory.current", ""),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)
"""Limit, use, and how names of sums begin in memory.stat: of the second and the first version."""
_folder: ContextVar[str | None] = ContextVar("folder", default=None)


def available_memory() -> int | None:
    """Return the bytes this process may still allocate, or None if the system does not report them."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            return None
    return min([free, *_left_in_groups()])


def _left_in_groups() -> Iterator[int]:
    """Yield the bytes that each control group of this process leaves it: a container, a batch job or a
    service may allow less than the machine has."""
    try:
        own = _OWN_GROUPS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in own:
        _, controllers, path = line.split(":", 2)
        second = not controllers  # the second version has one tree for all
        if not second and "memory" not in controllers.split(","):
            continue
        limit, current, prefix = _GROUP_FILES[0 if second else 1]
        top = _GROUPS if second else _GROUPS / "memory"
        group = top / path.lstrip("/")
        for folder in (group, *group.parents[: len(group.parts) - len(top.parts)]):
            with suppress(OSError, ValueError):  # no limit, or a group that a container does not show
                sizes = [int((folder / name).read_text("ascii")) for name in (limit, current)]
                lines = (folder / "memory.stat").read_text("ascii").splitlines()
                pages = dict(line.split() for line in lines)  # the system gives back the page cache
                cached = sum(int(pages.get(f"{prefix}{kind}_file", 0)) for kind in ("inactive", "active"))
                yield max(0, sizes[0] - sizes[1] + cached)


@contextmanager
def files_in(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Put the files of arrays on disk into a folder; None is the folder for temporary files (TMPDIR)."""
    if folder is not None and not os.path.isdir(folder):
        why = "the folder to keep the arrays in does not exist; create it"
        raise FileNotFoundError(errno.ENOENT, why, os.fspath(folder))
    token = _folder.set(None if folder is None else os.fspath(folder))
    try:
        yield
    finally:
        _folder.reset(token)


def _place() -> str:
    return _folder.get() or tempfile.gettempdir()


def _unnamed_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="mlgt-", dir=_place())


class MappedFile(mmap.mmap):
    """A mapping of a file that can be read without it, too."""

    number: int
    """That of the open file."""

    @classmethod
    def of(cls, file: IO[bytes], size: int = 0, **options: Any) -> "MappedFile":
        """Map an open file, which may be closed then."""
        mapped = cls(file.fileno(), size, **options)
        mapped.number = os.dup(file.fileno())
        weakref.finalize(mapped, os.close, mapped.number)
        return mapped


def _mapped(file: IO[bytes], shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    # np.memmap would not do: joblib sends its file name to other processes, and there is none
    return np.frombuffer(MappedFile.of(file), dtype).reshape(shape)


def empty_on_disk(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an array in an unnamed file in the folder of `files_in`.

    The system may write unused parts to the file and free their memory. The file is removed with the array.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(shape, dtype)
    with _unnamed_file() as file:
        try:  # a full disk raises here, instead of a crash when a page is written
            os.posix_fallocate(file.fileno(), 0, size)
        except AttributeError:  # not available on every system
            file.truncate(size)
        except OSError as error:
            advice = "set TMPDIR to" if _folder.get() is None else "train to"
            text = f"no room for {size / 1e9:.1f} GB of temporary files; {advice} a folder with more"
            raise OSError(error.errno, text, _place()) from None
        return _mapped(file, shape, dtype)


def maker(array: np.ndarray) -> Callable[..., np.ndarray]:
    """`empty_on_disk` if the array is in a file, else `np.empty`."""
    return empty_on_disk if is_mapped(array) else np.empty


class Growing:
    """An array (n,) that grows at its end, in memory or on disk as `empty_on_disk` has it."""

    def __init__(self, dtype: Any, on_disk: bool = False) -> None:
        self.dtype, self.size = np.dtype(dtype), 0
        self._parts: list[np.ndarray] = []
        self._file = _unnamed_file() if on_disk else None

    @property
    def n_bytes(self) -> int:
        """Size of what is in memory."""
        return 0 if self._file is not None else self.size * self.dtype.itemsize

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        values = np.ascontiguousarray(values, self.dtype)
        self.size += len(values)
        if self._file is None:
            self._parts.append(values)
        elif len(values):
            self._file.write(values.data)

    def finish(self) -> np.ndarray:
        """Return the array; call it once."""
        if self._file is None:
            parts, self._parts = self._parts[::-1], []
            if len(parts) == 1:
                return parts[0]
            whole, filled = np.empty(self.size, self.dtype), 0
            while parts:  # each is freed when it has been copied
                part = parts.pop()
                whole[filled : filled + len(part)] = part
                filled += len(part)
            return whole
        with self._file as file:
            file.flush()
            return _mapped(file, (self.size,), self.dtype) if self.size else np.empty(0, self.dtype)


def room_on_disk() -> int:
    """Return the free bytes in the folder of `files_in`; 0 if that folder is itself in memory."""
    where = os.path.abspath(_place())
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
        inside = [(mount[1], mount[2]) for mount in mounts if Path(where).is_relative_to(mount[1])]
        if max(inside, key=lambda mount: len(mount[0]))[1] in ("tmpfs", "ramfs"):
            return 0
    except (OSError, ValueError, IndexError):
        pass  # the system has no such list; assume a disk
    return shutil.disk_usage(where).free


def on_disk(array: np.ndarray) -> np.ndarray:
    """Return a copy of the array in an unnamed file, as `empty_on_disk` makes it."""
    copy = empty_on_disk(array.shape, array.dtype)
    copy[...] = array
    return copy


def mapping(array: Any) -> mmap.mmap | None:
    """Return the mapped file that the array is in, or None."""
    while isinstance(array, np.ndarray | memoryview):
        array = array.obj if isinstance(array, memoryview) else array.base
    return array if isinstance(array, mmap.mmap) else None


def is_mapped(array: Any) -> bool:
    """Return whether the array is in a file."""
    return mapping(array) is not None


def give_back() -> None:
    """Let the C library return freed memory to the system: it keeps arrays of up to 32 MB otherwise."""
    with suppress(AttributeError, OSError, TypeError):  # only that of GNU has such a function
        ctypes.CDLL(None).malloc_trim(0)


def check_memory(needed: float, what: str, advice: str) -> None:
    """Raise if `what` needs more bytes than are available; `advice` says what to do instead."""
    available = available_memory()
    if available is not None and needed > available:
        raise MLGTError(
            f"{what} would need about {needed / 1e9:.1f} GB, but only {available / 1e9:.1f} GB of memory "
            f"are free. {advice}"
        )
