"""Order for compiled kernels: the n-th of some values, and stable sorting.

numba's `np.partition` and `np.argsort` do the same and are slower, and take two to five seconds to
compile on the first run on a machine, each time that a kernel calls them; these take a quarter of a second.
"""

from typing import Any

import numpy as np

from .compile import helper


@helper(error_model="numpy")
def nth_smallest(values: np.ndarray, n: int) -> Any:
    """Return what values[n] would be if `values` were sorted; they are overwritten.

    Each pass splits the values by a pivot without a branch, which a processor could not predict: a third of
    the time of Hoare's algorithm.
    """
    size = values.shape[0]
    below, above = np.empty(size, values.dtype), np.empty(size, values.dtype)
    while size > 1:
        first, middle, last = values[0], values[size // 2], values[size - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        lower = higher = 0
        for i in range(size):
            value = values[i]
            below[lower], above[higher] = value, value
            lower += value < pivot
            higher += value > pivot
        if n < lower:
            values, below, size = below, values, lower
        elif n >= size - higher:
            n -= size - higher
            values, above, size = above, values, higher
        else:
            return pivot
    return values[0]


@helper(error_model="numpy")
def order_falling(values: np.ndarray, count: int) -> np.ndarray:
    """Return the places of values[:count], float32, from the largest to the smallest, equals in their
    order: a radix sort by bytes, in a sixth of the time of a merge sort for a thousand values."""
    order, spare, starts = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(257, np.int64)
    copy = np.empty(count, np.float32)
    for i in range(count):
        copy[i], order[i] = values[i] + np.float32(0.0), i  # -0.0 equals 0.0
    keys = copy.view(np.uint32)
    for i in range(count):  # bits of negative values rise as the values fall; those of others are turned
        if copy[i] >= 0.0:
            keys[i] ^= np.uint32(0x7FFFFFFF)
    for shift in (0, 8, 16, 24):
        starts[:] = 0
        for i in range(count):
            starts[((keys[i] >> shift) & 255) + 1] += 1
        for byte in range(256):
            starts[byte + 1] += starts[byte]
        for i in range(count):
            byte = (keys[order[i]] >> shift) & 255
            spare[starts[byte]] = order[i]
            starts[byte] += 1
        order, spare = spare, order
    return order
