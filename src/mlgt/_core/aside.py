"""Writing aside: what is written takes its final name by a rename, when it is complete.

    .NAME.mlgt-lock        held by the one process that writes NAME; the system frees it when that ends
    .NAME.mlgt-xxxx...     what is being written; the first four digits stand for the machine
    .NAME.mlgt-replaced    the old NAME between two renames, where the system cannot exchange two names
    .NAME.mlgt-work        finished tasks of the training of NAME, which may be killed and go on

Only the holder of the lock writes, so what else was written from this machine is left from a process that
was killed: the next writer removes it. What other machines wrote is removed if it is a day old, since some
shared file systems have locks for each machine only.
"""

import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no locks, and leftovers stay
    fcntl = None  # type: ignore[assignment]

MAX_NAME_BYTES = 200
"""Longer names are replaced by their hash: a file name has at most 255 bytes."""
DAY_SECONDS = 86400
_held: ContextVar[frozenset[tuple[int, Path]]] = ContextVar("held", default=frozenset())
"""(process, target) whose lock is held by this call or by one of its callers."""
_own: set[Path] = set()
"""What this process is writing."""
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF, errno.EPERM}


@contextmanager
def making_folder(path: str | os.PathLike[str]) -> Iterator[None]:
    """Create a folder, with those above it, for a block; if the block fails, remove the new ones."""
    path = Path(path).absolute()
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:  # Ctrl-C too
        for folder in new:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock of `target`, which a caller may hold already.

    Raises FileExistsError if someone else holds it. Folders above `target` are made if need be.
    """
    if _is_held(target):
        yield
        return
    lock = target.with_name(f"{_prefix(target)}lock")
    with making_folder(target.parent):
        handle = _acquire(lock, target)
        token = _held.set(_held.get() | ({(os.getpid(), target)} if handle is not None else set()))
        try:
            yield
        finally:
            _held.reset(token)
            if handle is not None:
                with suppress(OSError):
                    lock.unlink()
                os.close(handle)


@contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, removed at the end unless it was renamed.

    With the lock of `target`, what killed writers left is removed first.
    """
    for left in _leftovers(target) if _is_held(target) else ():
        shutil.rmtree(left, ignore_errors=True)
    aside = target.with_name(f"{_prefix(target)}{_machine()}{secrets.token_hex(4)}")
    try:
        _own.add(aside)
        aside.mkdir()
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        _own.discard(aside)


def replaced_place(target: Path) -> Path:
    """Where the old `target` is between two renames."""
    return target.with_name(f"{_prefix(target)}replaced")


def work_place(target: Path) -> Path:
    """Where the finished tasks of the training of `target` are kept."""
    return target.with_name(f"{_prefix(target)}work")


def _is_held(target):
    return (os.getpid(), target) in _held.get()


def _machine():
    return hashlib.sha256(platform.node().encode()).hexdigest()[:4]


def _leftovers(target):
    """What killed writers of `target` left: those of this machine, and old ones."""
    pattern = re.compile(re.escape(_prefix(target)) + r"([0-9a-f]{12}|replaced)")
    found = []
    with suppress(OSError):  # the folder may not be listed
        for file in target.parent.iterdir():
            if pattern.fullmatch(file.name) and file not in _own:
                here = file.name.removeprefix(_prefix(target)).startswith((_machine(), "replaced"))
                if here or time.time() - file.stat().st_mtime > DAY_SECONDS:
                    found.append(file)
    return found


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk: a rename may be lost with the power until then."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # a folder that may be written but not read
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system whose folders cannot be synced
            raise
    finally:
        os.close(handle)


def _prefix(target):
    name = target.name
    if len(os.fsencode(name)) > MAX_NAME_BYTES:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}.mlgt-"


def _acquire(lock, target):
    """A descriptor that holds the lock, or None where there are no locks."""
    if fcntl is None:
        return None
    while True:
        handle = _open_lock(lock)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        except FileNotFoundError:
            pass  # its last holder has removed it: again
        except BlockingIOError:
            os.close(handle)
            why = "another process or thread is writing it; wait for its end, or write elsewhere"
            raise FileExistsError(errno.EEXIST, why, str(target)) from None
        except OSError as error:
            os.close(handle)
            lock.unlink(missing_ok=True)
            if error.errno in _UNSUPPORTED:
                return None
            raise
        os.close(handle)


def _open_lock(lock):
    flags = os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(lock, flags | os.O_RDWR, 0o666)  # NFS locks only what is open for writing
    except PermissionError:
        try:
            handle = os.open(lock, flags | os.O_RDONLY, 0o666)
        except PermissionError as error:
            why = "this lock of another user may not be opened; remove it if nobody writes there"
            raise PermissionError(error.errno, why, str(lock)) from None
    with suppress(OSError):
        os.fchmod(handle, 0o666)  # so that others can use it if this process is killed
    return handle
