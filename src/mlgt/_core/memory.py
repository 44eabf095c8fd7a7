"""Will it fit? The memory this process may still use, a refusal in words before it is too late, and room on
disk for what need not be in memory all the time."""

import mmap
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from .errors import MLGTError


def available_memory():
    """Bytes that can still be had, or None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            return None
    try:  # a container may allow less than the machine has
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text("ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text("ascii"))
        stat = dict(
            line.split() for line in Path("/sys/fs/cgroup/memory.stat").read_text("ascii").splitlines()
        )
        used -= int(stat.get("inactive_file", 0))  # files that were read: given back when asked for
        free = min(free, max(0, limit - used))
    except (OSError, ValueError):
        pass
    return free


def empty_on_disk(shape, dtype):
    """An array in a file without a name, in the folder for temporary files (TMPDIR): the system may write
    what is not in use to it and have the memory back. It goes when the array does."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="mlgt-") as file:
        try:  # a full disk is known now, not by a crash when a page is written
            os.posix_fallocate(file.fileno(), 0, size)
        except AttributeError:
            pass  # not on every system
        except OSError as error:
            where = tempfile.gettempdir()
            text = f"no room for {size / 1e9:.1f} GB of temporary files; set TMPDIR to a folder with more"
            raise OSError(error.errno, text, where) from None
        # not np.memmap: joblib would send its name to other processes, and it has none
        return np.frombuffer(mmap.mmap(file.fileno(), size), dtype).reshape(shape)


def room_on_disk():
    """Bytes free in the folder for temporary files; 0 where that folder is itself in memory."""
    where = tempfile.gettempdir()
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
        inside = [(mount[1], mount[2]) for mount in mounts if Path(where).is_relative_to(mount[1])]
        if max(inside, key=lambda mount: len(mount[0]))[1] in ("tmpfs", "ramfs"):
            return 0
    except (OSError, ValueError, IndexError):
        pass  # no such list: taken for a disk
    return shutil.disk_usage(where).free


def on_disk(array):
    """The same array in such a file."""
    copy = empty_on_disk(array.shape, array.dtype)
    copy[...] = array
    return copy


def is_mapped(array):
    """Does the array lie in a file?"""
    while isinstance(array, np.ndarray | memoryview):
        array = array.obj if isinstance(array, memoryview) else array.base
    return isinstance(array, mmap.mmap)


def check_memory(needed, what, advice):
    """Refuse work that needs more bytes than there are, saying what to do instead."""
    available = available_memory()
    if available is not None and needed > available:
        raise MLGTError(
            f"{what} would need about {needed / 1e9:.1f} GB, but only {available / 1e9:.1f} GB of memory "
            f"are free. {advice}"
        )
