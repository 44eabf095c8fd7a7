"""Work spaces of kernels, one per thread: a single row must not pay for clearing an array of all labels.

A kernel finds its space as it was made, zeros or minus ones, and leaves it so. Arrays that vector
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


class _Kept(threading.local):
    zeros = np.zeros(0, np.float32)
    minus_ones = np.full(0, -1, np.int32)


_kept = _Kept()


def zeros(size: int) -> np.ndarray:
    """(size,) float32 of zeros, until the next call in this thread."""
    if len(_kept.zeros) < size:
        made = np.zeros(size, np.float32)
        if size > MAX_KEPT:
            return made
        _kept.zeros = made
    return _kept.zeros[:size]


def minus_ones(size: int) -> np.ndarray:
    """(size,) int32 of minus ones, until the next call in this thread."""
    if len(_kept.minus_ones) < size:
        made = np.full(size, -1, np.int32)
        if size > MAX_KEPT:
            return made
        _kept.minus_ones = made
    return _kept.minus_ones[:size]


def aligned_zeros(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Zeros that begin with a cache line, so that no vector of 64 bytes crosses one. NumPy's begin
    anywhere."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + size].view(dtype).reshape(shape)
