"""Results of tasks as files: arrays in the format of `.npy`, one after another, then their SHA-256.

A file is written aside and takes its name by a rename. Nothing waits for the disk: what a loss of power
leaves incomplete has another checksum and counts as missing.
"""

import hashlib
import io
import mmap
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

ALIGNMENT = 64
PART = ".part"
_DIGEST_BYTES = hashlib.sha256().digest_size


def write_arrays(path: Path, arrays: Sequence[np.ndarray]) -> None:
    """Write arrays, none of them of objects, to a new file."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART}")
    digest = hashlib.sha256()
    try:
        with open(part, "wb") as file:
            for array in arrays:
                for piece in _pieces(np.ascontiguousarray(array)):
                    file.write(piece)
                    digest.update(piece)
            file.write(digest.digest())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _pieces(array):
    if array.dtype.hasobject:
        raise TypeError("an array of objects cannot be kept in a file")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    yield header.getvalue()
    yield array.reshape(-1).view(np.uint8)
    yield bytes(-array.nbytes % ALIGNMENT)


def read_arrays(path: Path) -> tuple[np.ndarray, ...] | None:
    """The arrays of a file, mapped; changes stay in memory. None if the file is missing or broken."""
    try:
        with open(path, "rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):  # an empty file
        return None
    end = len(content) - _DIGEST_BYTES
    with memoryview(content) as view:
        if end < 0 or hashlib.sha256(view[:end]).digest() != view[end:]:
            return None
    arrays = []
    while content.tell() < end:
        np.lib.format.read_magic(content)
        shape, _, dtype = np.lib.format.read_array_header_1_0(content)
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(content, dtype, count, content.tell()).reshape(shape))
        content.seek(-(-(content.tell() + arrays[-1].nbytes) // ALIGNMENT) * ALIGNMENT)
    return tuple(arrays)
