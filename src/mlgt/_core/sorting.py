"""Order for compiled kernels: the n-th of some values, and stable sorting.

numba's `np.partition` and `np.argsort` do the same and are no faster, but take two to five seconds to
compile on the first run on a machine, each time that a kernel calls them; these take a quarter of a second.
"""

from typing import Any

import numpy as np

from .compile import helper

RUN = 16
"""Length of the runs that are sorted by insertion, before they are merged."""


@helper(error_model="numpy")
def nth_smallest(values: np.ndarray, n: int) -> Any:
    """Return what values[n] would be if `values` were sorted; they change places (Hoare's algorithm)."""
    low, high = 0, values.shape[0] - 1
    while low < high:
        pivot = values[n]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if j < n:
            low = i
        if n < i:
            high = j
    return values[n]


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
