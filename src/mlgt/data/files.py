"""Bytes from and to files: gzip is known by its content, and a write is whole or not at all."""

import errno
import gzip
import os
import secrets
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from .._core.errors import DataFormatError

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20


STANDARD_INPUT = "-"
"""In the place of a path."""
GZIP_WINDOW = 16 + zlib.MAX_WBITS


def read_bytes(path: str | os.PathLike[str]) -> bytearray:
    """The bytes of a file or pipe, or of standard input for `-`, unpacked if they are gzip.

    Peak memory is the unpacked size and at most an eighth more, where `realloc` can grow a block
    in place.
    """
    content = bytearray()
    with open_bytes(path) as source:
        while chunk := source.read(CHUNK):
            content += chunk
    return content


def read_lines(path: str | os.PathLike[str], size: int) -> Iterator[bytearray]:
    """The same bytes in pieces of whole lines, of about `size` each; the last may lack its newline."""
    piece = bytearray()
    with open_bytes(path) as source:
        while chunk := source.read(CHUNK):
            piece += chunk
            if len(piece) >= size and (end := piece.rfind(b"\n") + 1):
                rest = piece[end:]
                del piece[end:]
                yield piece
                piece = rest
    if piece:
        yield piece


def read_head(path: str | os.PathLike[str], size: int = 4096) -> bytes:
    """The first bytes, unpacked, at most `size`, which can be read again; nothing of a pipe with a name."""
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
    except zlib.error:  # reading it will say what is wrong
        return b""


def _standard_input() -> Any:
    if sys.stdin is None:
        raise DataFormatError("standard input is closed; pass a file, or pipe something in.")
    return sys.stdin.buffer


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A file or pipe to read, or standard input for `-`; gzip is unpacked, whatever the file is called.

    What goes wrong with it is said in words.
    """
    try:
        if path == STANDARD_INPUT:
            raw: Any = nullcontext(_standard_input())
        elif os.path.isdir(path):  # Windows would call this a lack of permission
            raise IsADirectoryError
        else:
            raw = open(path, "rb")  # noqa: SIM115
        with raw as file:
            packed = file.peek(2)[:2] == GZIP_MAGIC
            with gzip.GzipFile(fileobj=file) if packed else nullcontext(file) as source:
                yield source
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT, "there is no such file; check the path", os.fspath(path)
        ) from None
    except IsADirectoryError:
        raise IsADirectoryError(
            errno.EISDIR, "this is a folder; pass the path of one file", os.fspath(path)
        ) from None
    except PermissionError:
        raise PermissionError(
            errno.EACCES, "the file may not be read; check its permissions", os.fspath(path)
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        reason = "cut short" if isinstance(problem, EOFError) else f"corrupt ({problem})"
        raise DataFormatError(
            f"{os.fspath(path)}: the gzip data is {reason}; expected a complete gzip file; copy or "
            "download it again."
        ) from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file, which is UTF-8, a byte order mark or gzip or neither."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DataFormatError(f"{os.fspath(path)} is not UTF-8 text ({problem}); convert it.") from None


def check_writable(folder: Path) -> None:
    """Raise unless files may be made in the folder."""
    effective = os.access in os.supports_effective_ids
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
        raise PermissionError(
            errno.EACCES, "the folder may not be written; choose another place", str(folder)
        )


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise unless files may be made in the folder `path`, or the folder itself: better known early."""
    path = Path(path).absolute()
    place = next(folder for folder in (path, *path.parents) if folder.exists())
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "this is a file; choose a folder", str(place))
    check_writable(place)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write, which takes the place of `path` when the block ends well.

    It is written aside in the same folder, so that readers see the old file or the new one and
    never a part; when the block fails or is interrupted, it is removed and `path` is as before.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "this is a folder; pass the path of one file", os.fspath(path)
        )
    if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced, only written
        with open(target, "wb") as file:
            yield file
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "the folder to write in does not exist; create it", str(target.parent)
        )
    check_writable(target.parent)
    aside = target.with_name(f".mlgt-{secrets.token_hex(8)}.part")
    try:
        with open(aside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
    except BaseException:  # Ctrl-C too
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def packing(file: IO[bytes], level: int = 6) -> Iterator[IO[bytes]]:
    """A binary file whose bytes arrive in `file` as gzip, without name or date: the same content
    gives the same bytes. Level 1 is fast, 9 small."""
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=file, mtime=0) as packed:
        yield packed  # type: ignore[misc]
