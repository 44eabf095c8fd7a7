"""Work spaces of kernels, one per thread: a single row must not pay for clearing an array of all labels.

A kernel finds its space as it was made, zeros or minus ones, and leaves it so.
"""

import threading

import numpy as np

MAX_KEPT = 1 << 24
"""Entries of the largest space that is kept."""


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
