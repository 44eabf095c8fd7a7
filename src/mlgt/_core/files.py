"""Reading and writing bytes: gzip is recognised by its content, and writes are atomic."""

import errno
import gzip
import io
import os
import secrets
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from .errors import DataFormatError

PathLike = str | os.PathLike[str]
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 16 + zlib.MAX_WBITS
CHUNK_BYTES = 1 << 20
STANDARD_INPUT = "-"
"""Path that stands for standard input."""
MESSAGES = {
    FileNotFoundError: (errno.ENOENT, "there is no such file; check the path"),
    IsADirectoryError: (errno.EISDIR, "this is a folder; pass the path of one file"),
    PermissionError: (errno.EACCES, "the file may not be read; check its permissions"),
}


def read_bytes(path: PathLike) -> bytearray:
    """Read a file or pipe, or standard input for `-`; gzip is unpacked.

    Peak memory is the unpacked size and at most an eighth more, where `realloc` can grow a block in place.
    """
    content = bytearray()
    with open_bytes(path) as source:
        while chunk := source.read(CHUNK_BYTES):
            content += chunk
    return content


def read_pieces(path: PathLike, size: int) -> Iterator[bytearray]:
    """Read the same in pieces of whole lines, about `size` bytes each; the last may lack its newline."""
    piece = bytearray()
    with open_bytes(path) as source:
        while chunk := source.read(CHUNK_BYTES):
            piece += chunk
            if len(piece) >= size and (end := piece.rfind(b"\n") + 1):
                rest = piece[end:]
                del piece[end:]
                yield piece
                piece = rest
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


@contextmanager
def open_bytes(path: PathLike) -> Iterator[Any]:
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
            with gzip.GzipFile(fileobj=file) if packed else nullcontext(file) as source:
                yield source
    except tuple(MESSAGES) as problem:
        raise _explained(type(problem), path) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        reason = "cut short" if isinstance(problem, EOFError) else f"corrupt ({problem})"
        raise DataFormatError(
            f"{os.fspath(path)}: the gzip data is {reason}; expected a complete gzip file; copy or "
            "download it again."
        ) from None


def _explained(error, path):
    return error(*MESSAGES[error], os.fspath(path))


def read_text(path: PathLike) -> str:
    """Read a file of UTF-8 text, plain or gzip, with or without a byte order mark."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DataFormatError(f"{os.fspath(path)} is not UTF-8 text ({problem}); convert it.") from None


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

    It is written to a temporary file in the same folder, so that readers see the old file or the new one
    and never a part. If the block fails or is interrupted, it is removed and `path` stays as it was.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise _explained(IsADirectoryError, path)
    if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced, only written
        with io.BufferedWriter(_Output(target, "wb", path)) as file:
            yield file
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "the folder to write in does not exist; create it", str(target.parent)
        )
    check_writable(target.parent)
    aside = target.with_name(f".mlgt-{secrets.token_hex(8)}.part")
    try:
        with io.BufferedWriter(_Output(aside, "xb", path)) as file:
            yield file
            file.flush()
            with naming(os.fspath(path)):
                os.fsync(file.fileno())
        os.replace(aside, target)
    except BaseException:  # Ctrl-C too
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def making_folder(path: PathLike) -> Iterator[None]:
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
def gzip_writer(file: IO[bytes], level: int = 6) -> Iterator[IO[bytes]]:
    """Open a binary file that writes gzip to `file`; level 1 is fast, 9 small.

    The gzip header has no name and no date: the same content gives the same bytes.
    """
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=file, mtime=0) as packed:
        yield packed  # type: ignore[misc]
