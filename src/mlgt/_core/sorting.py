"""Order for compiled kernels: the n-th of some values, the k best of a row, and stable sorting.

numba's `np.partition` and `np.argsort` do the same and are slower, and take two to five seconds to
compile on the first run on a machine, each time that a kernel calls them; these take a fifth of a second.
They allocate nothing, because that takes as long to compile as they do: callers pass a `Space`.
"""

import math
import threading
from typing import Any, NamedTuple

import numpy as np

from ..compile.kernels import helper

SAMPLE_STEP = 32
"""Distance between the values of the sample from which the k-th best is guessed."""

_kept = threading.local()
VALUES = 3
"""Row of `Space.floats` with the values that are sorted."""


class Space(NamedTuple):
    """Work space for rows of up to `size` values; what it contains does not matter."""

    places: np.ndarray  # (size + 1,) int32
    floats: np.ndarray  # (4, size + 1) float32: three rows for `nth_smallest`, and VALUES
    bits: np.ndarray  # (size + 1,) int32: the bits of floats[VALUES]
    keys: np.ndarray  # (3, at least 257) int64: two rows of keys, and where the keys of a byte begin
    flags: np.ndarray  # (size, rounded up to eights) uint8, for `best_places`
    eights: np.ndarray  # the same as uint64


def space(size: int) -> Space:
    """Return a work space for rows of up to `size` values, until the next call in this thread: the pages of
    a new one may take longer than a single row."""
    if hasattr(_kept, "space") and len(_kept.space.places) == size + 1:
        return _kept.space
    floats = np.empty((4, size + 1), np.float32)
    keys, eights = np.empty((3, max(size + 1, 257)), np.int64), np.zeros((size + 7) // 8, np.uint64)
    places, bits = np.empty(size + 1, np.int32), floats[VALUES].view(np.int32)
    _kept.space = Space(places, floats, bits, keys, eights.view(np.uint8), eights)
    return _kept.space


@helper(error_model="numpy")
def nth_smallest(floats: np.ndarray, size: int, n: int) -> Any:
    """Return what values[n] would be if the values, floats[0, :size], were sorted; they are overwritten.

    Each pass splits the values by a pivot without a branch, which a processor could not predict: a third of
    the time of Hoare's algorithm.
    """
    at, below, above = 0, 1, 2  # rows
    while size > 1:
        first, middle, last = floats[at, 0], floats[at, size // 2], floats[at, size - 1]
        low, high = (first, middle) if first < middle else (middle, first)
        pivot = low if last < low else (high if last > high else last)
        lower = higher = 0
        for i in range(size):
            value = floats[at, i]
            floats[below, lower] = value
            floats[above, higher] = value
            lower += value < pivot
            higher += value > pivot
        if n < lower:
            at, below, size = below, at, lower
        elif n >= size - higher:
            n -= size - higher
            at, above, size = above, at, higher
        else:
            return pivot
    return floats[at, 0]


@helper(error_model="numpy")
def best_places(
    row: np.ndarray, size: int, k: int, floor: Any, likely: Any, places: np.ndarray, floats: np.ndarray,
    keys: np.ndarray, flags: np.ndarray, eights: np.ndarray,
) -> int:  # fmt: skip
    """Write where the k best of row[:size] are to `places`, ascending, earlier ones first among equals;
    return how many there are, fewer if fewer exceed `floor`.

    Values above a bar are listed. The first bar is guessed from the values above `likely` or, if fewer than
    k exceed that, from those above `floor`; the second is the k-th best of the list. `likely`, at least the
    floor, is a value that k of the row should exceed, or the floor if nothing is known.
    """
    bar = _guess_bar(row, size, k, likely, floats)
    found = list_above(row, size, bar, places, keys, flags, eights)
    if found < k and likely > floor:
        bar = _guess_bar(row, size, k, floor, floats)
        found = list_above(row, size, bar, places, keys, flags, eights)
    if found < k and bar > floor:
        found = list_above(row, size, floor, places, keys, flags, eights)  # the guess was too high
    if found <= k:
        return found
    for s in range(found):
        floats[0, s] = row[places[s]]
    bar = nth_smallest(floats, found, found - k)
    spare = k
    for s in range(found):
        spare -= row[places[s]] > bar
    kept = 0
    for s in range(found):
        value = row[places[s]]
        equal = (value == bar) & (spare > 0)
        places[kept] = places[s]
        spare -= equal
        kept += (value > bar) | equal
    return k


@helper(error_model="numpy")
def _guess_bar(row, size, k, least, floats):
    """A bar that more than k values very likely exceed, at least `least`: from every SAMPLE_STEP-th value
    above that."""
    sampled, share = 0, k // SAMPLE_STEP
    for l in range(0, size, SAMPLE_STEP):
        floats[0, sampled] = row[l]
        sampled += row[l] > least
    rank = share + 3 * np.int64(math.sqrt(share)) + 4
    return nth_smallest(floats, sampled, sampled - rank) if sampled > rank else least


@helper(error_model="numpy")
def list_above(
    row: np.ndarray, size: int, bar: Any, places: np.ndarray, keys: np.ndarray, flags: np.ndarray,
    eights: np.ndarray,
) -> int:  # fmt: skip
    """Write where the values above `bar` are to `places`; return how many there are.

    No branch depends on a value. Vector instructions flag the values; then eight flags at a time are read
    as one number, and most eights have none.
    """
    for l in range(size):
        flags[l] = row[l] > bar
    count = (size + 7) // 8
    for l in range(size, 8 * count):
        flags[l] = 0
    some = 0
    for e in range(count):
        keys[0, some] = e
        some += eights[e] != 0
    found = 0
    for s in range(some):
        for l in range(8 * keys[0, s], 8 * keys[0, s] + 8):
            places[found] = l
            found += flags[l] != 0
    return found


@helper(error_model="numpy")
def order_falling(bits: np.ndarray, count: int, keys: np.ndarray) -> None:
    """Write the places of bits[:count], those of float32, to keys[0], from the largest value to the
    smallest, equals in their order: a radix sort by bytes, in a sixth of the time of a merge sort for a
    thousand values."""
    for i in range(count):
        key = np.int64(bits[i])
        if key == -0x80000000:  # -0.0 equals 0.0
            key = np.int64(0)
        if key >= 0:  # bits of negative values rise as the values fall; those of others are turned
            key ^= 0x7FFFFFFF
        keys[0, i] = (key << 32) | i
    source, target = 0, 1
    for shift in range(32, 64, 8):
        _sort_by_byte(keys, source, target, count, shift)
        source, target = target, source
    for i in range(count):
        keys[0, i] &= 0xFFFFFFFF


@helper(error_model="numpy")
def _sort_by_byte(keys, source, target, count, shift):
    for byte in range(257):
        keys[2, byte] = 0
    for i in range(count):
        keys[2, ((keys[source, i] >> shift) & 255) + 1] += 1
    for byte in range(256):
        keys[2, byte + 1] += keys[2, byte]
    for i in range(count):
        byte = (keys[source, i] >> shift) & 255
        keys[target, keys[2, byte]] = keys[source, i]
        keys[2, byte] += 1
