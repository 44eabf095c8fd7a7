"""Reading and writing bytes: gzip is recognised by its content, and writes are atomic."""

import errno
import gzip
import io
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from .aside import folder_aside, locked, sync_folder
from .errors import DataFormatError
from .limits import DEFAULT_LIMITS, Limits

PathLike = str | os.PathLike[str]
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 16 + zlib.MAX_WBITS
CHUNK_BYTES = 1 << 20
CHECK_BYTES = 1 << 26  # read between two looks at the free memory
STANDARD_INPUT = "-"
"""Path that stands for standard input."""
MESSAGES = {
    FileNotFoundError: (errno.ENOENT, "there is no such file; check the path"),
    IsADirectoryError: (errno.EISDIR, "this is a folder; pass the path of one file"),
    PermissionError: (errno.EACCES, "the file may not be read; check its permissions"),
}


def read_bytes(path: PathLike, limits: Limits = DEFAULT_LIMITS) -> bytearray:
    """Read a file or pipe, or standard input for `-`; gzip is unpacked.

    Peak memory is the unpacked size and at most an eighth more, where `realloc` can grow a block in place.
    """
    content, checked = bytearray(), 0
    with open_bytes(path, limits) as source:
        while chunk := source.read(CHUNK_BYTES):
            content += chunk
            if len(content) - checked > CHECK_BYTES:
                checked = len(content)
                check_room(path, checked)
    return content


def check_room(path: PathLike, size: int) -> None:
    """Raise if less memory is free than the `size` bytes that the file has taken so far: what follows needs
    that much again."""
    from .memory import check_memory  # with NumPy, which help does without

    what = f"{name_of(path)}: what follows after {size / 1e9:.1f} GB of it"
    check_memory(size, what, "Split the file, or read it on a machine with more memory.")


def read_pieces(path: PathLike, size: int, limits: Limits = DEFAULT_LIMITS) -> Iterator[bytearray]:
    """Read the same in pieces of whole lines, about `size` bytes each; the last may lack its newline."""
    piece, n_lines = bytearray(), 0
    with open_bytes(path, limits) as source:
        while chunk := source.read(CHUNK_BYTES):
            piece += chunk
            if len(piece) >= size and (end := piece.rfind(b"\n") + 1):
                rest = piece[end:]
                del piece[end:]
                n_lines += piece.count(b"\n")
                yield piece
                piece = rest
            elif len(piece) > limits.line_bytes and len(piece) - piece.rfind(b"\n") > limits.line_bytes:
                line = n_lines + piece.count(b"\n") + 1
                raise DataFormatError(f"{name_of(path)}, line {line}: {limits.long_line('this line')}")
    if piece:
        yield piece


def read_head(path: PathLike, size: int = 4096) -> bytes:
    """Return at most `size` of the first bytes, unpacked; they can be read again. b"" for a named pipe."""
    if path != STANDARD_INPUT:
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            return b""
        with open_bytes(path) as source:
            return source.read(size)
    head = _standard_input().peek(size)
    if head[:2] != GZIP_MAGIC:
        return head[:size]
    try:
        return zlib.decompressobj(GZIP_WINDOW).decompress(head, size)
    except zlib.error:  # reported when the data is read
        return b""


def _standard_input() -> Any:
    if sys.stdin is None:
        raise DataFormatError("standard input is closed; pass a file, or pipe something in.")
    return sys.stdin.buffer


class _Counted:
    """The packed bytes of a gzip file, and how many were read."""

    def __init__(self, file):
        self.file, self.count, self.seek = file, 0, file.seek

    def read(self, size=-1):
        data = self.file.read(size)
        self.count += len(data)
        return data


class _BoundedGzip(gzip.GzipFile):
    """A gzip file that stops where its content is out of proportion to its size."""

    def __init__(self, file, path, limits):
        self._packed, self._path, self._limits = _Counted(file), path, limits
        super().__init__(fileobj=self._packed, mode="rb")

    def _checked(self, data):
        self._limits.check_ratio(self.tell(), self._packed.count, lambda: name_of(self._path))
        return data

    def read(self, size=-1):
        return self._checked(super().read(size))

    def read1(self, size=-1):
        return self._checked(super().read1(size))


def name_of(path: PathLike) -> str:
    """The name of a file in messages."""
    return "standard input" if path == STANDARD_INPUT else os.fspath(path)


@contextmanager
def open_bytes(path: PathLike, limits: Limits = DEFAULT_LIMITS) -> Iterator[Any]:
    """Open a file or pipe to read, or standard input for `-`; gzip is unpacked, whatever the file's name.

    Errors name the file and how to fix it.
    """
    try:
        if path == STANDARD_INPUT:
            raw: Any = nullcontext(_standard_input())
        elif os.path.isdir(path):  # Windows would raise PermissionError
            raise IsADirectoryError
        else:
            raw = open(path, "rb")  # noqa: SIM115
        with raw as file:
            packed = file.peek(2)[:2] == GZIP_MAGIC
            with _BoundedGzip(file, path, limits) if packed else nullcontext(file) as source:
                yield source
    except tuple(MESSAGES) as problem:
        raise _explained(type(problem), path) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        reason = "cut short" if isinstance(problem, EOFError) else f"corrupt ({problem})"
        raise DataFormatError(
            f"{name_of(path)}: the gzip data is {reason}; expected a complete gzip file; copy or "
            "download it again."
        ) from None


def _explained(error, path):
    return error(*MESSAGES[error], os.fspath(path))


def read_text(path: PathLike, limits: Limits = DEFAULT_LIMITS) -> str:
    """Read a file of UTF-8 text, plain or gzip, with or without a byte order mark."""
    content = read_bytes(path, limits)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise DataFormatError(f"{name_of(path)}, line {line}: {not_utf8(problem)}") from None


def read_lines(path: PathLike, limits: Limits = DEFAULT_LIMITS) -> list[str]:
    """Read the lines of a text file."""
    return [line.removesuffix("\r") for line in read_text(path, limits).removesuffix("\n").split("\n")]


def not_utf8(problem: UnicodeDecodeError) -> str:
    """The message about bytes that are no UTF-8."""
    return (
        f"this is not UTF-8 text ({problem.reason}, {problem.object[problem.start]:#x}). Save it as UTF-8; "
        "if it is Latin-1: iconv -f latin1 -t utf-8 OLD > NEW."
    )


def check_writable(folder: Path) -> None:
    """Raise unless files can be created in the folder."""
    effective = os.access in os.supports_effective_ids
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
        raise PermissionError(
            errno.EACCES, "the folder may not be written; choose another place", str(folder)
        )


def check_folder(path: PathLike) -> None:
    """Raise unless `path` is a folder that files can be created in, or can be created itself."""
    path = Path(path).absolute()
    place = next(folder for folder in (path, *path.parents) if folder.exists())
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "this is a file; choose a folder", str(place))
    check_writable(place)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the file in errors of the system that name none, as those of writing."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, name) from None


class _Output(io.FileIO):
    """A file whose errors of writing name the path that the user gave."""

    def __init__(self, file, mode, path):
        super().__init__(file, mode)
        self.path = os.fspath(path)

    def write(self, data):
        with naming(self.path):
            return super().write(data)


@contextmanager
def replacing(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a binary file to write, which replaces `path` when the block succeeds.

    It is written aside: readers see the old file or the new one and never a part. If the block fails or is
    interrupted, it is removed and `path` stays as it was.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise _explained(IsADirectoryError, path)
    if _only_written(path):
        with io.BufferedWriter(_Output(path, "ab", path)) as file:
            yield file
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "the folder to write in does not exist; create it", str(target.parent)
        )
    check_writable(target.parent)
    with naming(os.fspath(path)), locked(target), folder_aside(target) as aside:
        with io.BufferedWriter(_Output(aside / "part", "xb", path)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, aside / "part")
        os.replace(aside / "part", target)
        sync_folder(target.parent)


def _only_written(path):
    """True for devices and pipes, and for what /dev/stdout leads to: they cannot be replaced."""
    given = os.path.abspath(path)
    return given.startswith(("/dev/", "/proc/")) or (os.path.exists(given) and not os.path.isfile(given))


@contextmanager
def gzip_writer(file: IO[bytes], level: int = 6) -> Iterator[IO[bytes]]:
    """Open a binary file that writes gzip to `file`; level 1 is fast, 9 small.

    The gzip header has no name and no date: the same content gives the same bytes.
    """
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=file, mtime=0) as packed:
        yield packed  # type: ignore[misc]
