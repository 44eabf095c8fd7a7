"""Order for compiled kernels: the n-th of some values, and stable sorting.

numba's `np.partition` and `np.argsort` do the same and are slower, and take two to five seconds to
compile on the first run on a machine, each time that a kernel calls them; these take a quarter of a second.
"""

from typing import Any

import numpy as np

from .compile import helper

RUN = 16
"""Length of the runs that are sorted by insertion, before they are merged."""


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
    """Return the places of values[:count] from the largest to the smallest, equals in their order."""
    order, spare = np.empty(count, np.int64), np.empty(count, np.int64)
    for i in range(count):
        at = i
        while at % RUN > 0 and values[order[at - 1]] < values[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    width = RUN
    while width < count:
        for first in range(0, count, 2 * width):
            middle, end = min(first + width, count), min(first + 2 * width, count)
            left, right = first, middle
            for at in range(first, end):
                if right == end or (left < middle and not values[order[left]] < values[order[right]]):
                    spare[at] = order[left]
                    left += 1
                else:
                    spare[at] = order[right]
                    right += 1
        order, spare = spare, order
        width *= 2
    return order
