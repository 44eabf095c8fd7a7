"""Bytes from and to files: gzip is known by its content, and a write is whole or not at all."""

import errno
import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import DataFormatError

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20


def read_bytes(path: str | os.PathLike[str]) -> bytearray:
    """The bytes of a file or pipe, unpacked if they are gzip, whatever it is called.

    Peak memory is the unpacked size and at most an eighth more, where `realloc` can grow a block
    in place.
    """
    content = bytearray()
    try:
        if os.path.isdir(path):  # Windows would call this a lack of permission
            raise IsADirectoryError
        with open(path, "rb") as raw:
            packed = raw.peek(2)[:2] == GZIP_MAGIC
            with gzip.GzipFile(fileobj=raw) if packed else raw as source:
                while chunk := source.read(CHUNK):
                    content += chunk
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
    return content


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
