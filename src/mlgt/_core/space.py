"""Work spaces of kernels, one per thread: a single row must not pay for clearing an array of all labels.

A kernel finds its space as it was made, zeros, minus ones or a copy, and leaves it so. Arrays that vector
instructions read again and again are `aligned_zeros`.
"""

import math
import threading
from typing import Any

import numpy as np

MAX_KEPT = 1 << 24
"""Entries of the largest space that is kept."""
LINE = 64
"""Bytes of a cache line."""
_kept = threading.local()


def zeros(size: int) -> np.ndarray:
    """(size,) float32 of zeros, until the next call in this thread."""
    return _constant(size, 0, np.float32)


def minus_ones(size: int) -> np.ndarray:
    """(size,) int32 of minus ones, until the next call in this thread."""
    return _constant(size, -1, np.int32)


def kept_copy(array: np.ndarray) -> np.ndarray:
    """A copy of an array that does not change, until the next call in this thread; callers leave the copy
    as they found it."""
    kept = getattr(_kept, "copy", None)
    if kept is None or kept[0] is not array:
        kept = array, array.copy()
        if array.size <= MAX_KEPT:
            _kept.copy = kept
    return kept[1]


def _constant(size, value, dtype):
    kept = getattr(_kept, dtype.__name__, None)
    if kept is None or len(kept) < size:
        kept = np.full(size, value, dtype)
        if size <= MAX_KEPT:
            setattr(_kept, dtype.__name__, kept)
    return kept[:size]


def aligned_zeros(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Zeros that begin with a cache line, so that no vector of 64 bytes crosses one. NumPy's begin
    anywhere. NumPy asks for large pages of memory for `empty` arrays, in older releases not for `zeros`."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.empty(size + LINE, np.uint8)
    raw.fill(0)
    start = -raw.ctypes.data % LINE
    return raw[start : start + size].view(dtype).reshape(shape)
