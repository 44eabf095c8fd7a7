"""Compiled kernels of `analysis` and `terms`. Texts and terms are UTF-8; all offsets count bytes."""

import numpy as np
from numpy import uint32, uint64

from ..compile.kernels import ONE, kernel

START, CONTINUE, TAIL = 1, 2, 4
"""What a character may do: begin a token, follow within it, or end it (any number of times)."""
BLANK = 32


@kernel(light=True, limit=8 * ONE)
def find_tokens(text, bounds, classes, data, starts, ends, places, indptr):
    """Write the tokens of each text to `data`, with a blank before the first and after each; return how
    many there are.

    Text i is text[bounds[i] : bounds[i + 1]]. `classes` has the class of each code point, or those of
    ASCII if there are no others. Token t is data[starts[t] : ends[t]], taken from text[places[t]:].
    """
    count, size = 0, 1
    data[0] = BLANK
    for i in range(bounds.shape[0] - 1):
        at, end = bounds[i], bounds[i + 1]
        state = 0  # 0 outside, CONTINUE inside a token, TAIL in its tail
        while at < end:
            byte = text[at]
            width = 1
            if byte < 0x80:
                kind = classes[byte]
            else:
                width = 2 + (byte >= 0xE0) + (byte >= 0xF0)
                point = uint32(byte) & uint32(0x7F >> width)
                for j in range(1, width):
                    point = (point << uint32(6)) | uint32(text[at + j] & 0x3F)
                kind = classes[point]
            if state != 0:
                if state == CONTINUE and kind & CONTINUE:
                    pass
                elif kind & TAIL:
                    state = TAIL
                else:
                    state = 0
                    ends[count] = size
                    data[size] = BLANK
                    size += 1
                    count += 1
            if state == 0 and kind & START:
                state = CONTINUE
                starts[count], places[count] = size, at
            if state != 0:
                for j in range(at, at + width):
                    data[size] = text[j]
                    size += 1
            at += width
        if state != 0:
            ends[count] = size
            data[size] = BLANK
            size += 1
            count += 1
        indptr[i + 1] = count
    return count


@kernel(light=True)
def character_runs(data, indptr, starts, ends, shortest, longest, run_ptr, run_starts, run_ends):
    """Write the runs of `shortest` to `longest` characters of each token with a blank on both sides; return
    how many. A token shorter than a run is one run, once."""
    count = 0
    for i in range(indptr.shape[0] - 1):
        for t in range(indptr[i], indptr[i + 1]):
            begin, end = starts[t] - 1, ends[t] + 1
            for first in range(begin, end):
                if data[first] & 0xC0 == 0x80:
                    continue  # within a character
                length, at = 0, first
                while at < end and length < longest:
                    at += 1
                    while at < end and data[at] & 0xC0 == 0x80:
                        at += 1
                    length += 1
                    if length >= shortest or (at == end and first == begin):
                        run_starts[count], run_ends[count] = first, at
                        count += 1
        run_ptr[i + 1] = count
    return count


@kernel()
def hash_terms(data, starts, ends, hashes):
    """Hash each term data[starts[t] : ends[t]]: FNV-1a and a mixing step, so that all bits are good."""
    for t in range(starts.shape[0]):
        h = uint64(0xCBF29CE484222325)
        for j in range(starts[t], ends[t]):
            h = (h ^ uint64(data[j])) * uint64(0x100000001B3)
        h = (h ^ (h >> uint64(32))) * uint64(0xD6E8FEB86659FD93)
        hashes[t] = h ^ (h >> uint64(32))


@kernel()
def look_up(
    first, data, starts, ends, hashes, slots, slot_hashes, terms, bounds, known, learning, columns
):  # fmt: skip
    """Write the column of each run from `first` on, -1 if it is unknown; return (next run, known terms).

    A slot of the table holds a term, or -1; term t is terms[bounds[t] : bounds[t + 1]]. There are two slots
    per entry of `bounds`. When `learning`, unknown terms are added, until there is no room.
    """
    mask = slots.shape[0] - 1
    for r in range(first, starts.shape[0]):
        h, start, length = hashes[r], starts[r], ends[r] - starts[r]
        slot = np.int64(h & uint64(mask))
        column = -1
        while slots[slot] >= 0 and column < 0:
            if slot_hashes[slot] == h:
                begin = bounds[slots[slot]]
                same = bounds[slots[slot] + 1] - begin == length
                j = 0
                while same and j < length:
                    same = terms[begin + j] == data[start + j]
                    j += 1
                if same:
                    column = slots[slot]
            slot = (slot + 1) & mask
        if column < 0 and learning:
            if known + 1 == bounds.shape[0] or bounds[known] + length > terms.shape[0]:
                return r, known
            column = known
            slots[slot], slot_hashes[slot] = known, h
            for j in range(length):  # a slice would take seconds to compile
                terms[bounds[known] + j] = data[start + j]
            bounds[known + 1] = bounds[known] + length
            known += 1
        columns[r] = column
    return starts.shape[0], known


@kernel(light=True)
def hashed_columns(data, starts, ends, width, columns):
    """Write the column of each run: MurmurHash3 (32 bits, seed 0), without sign, modulo `width`."""
    bits = uint64(0xFFFFFFFF)
    for r in range(starts.shape[0]):
        h, k, size = uint64(0), uint64(0), ends[r] - starts[r]
        for j in range(size + 1):  # the last step is that of the rest, which may be empty
            if j < size:
                k |= uint64(data[starts[r] + j]) << uint64(8 * (j & 3))
            if j == size or j & 3 == 3:
                k = k * uint64(0xCC9E2D51) & bits
                h ^= ((k << uint64(15)) | (k >> uint64(17))) * uint64(0x1B873593) & bits
                k = uint64(0)
                if j < size:
                    h = ((h << uint64(13)) | (h >> uint64(19))) * uint64(5) + uint64(0xE6546B64) & bits
        h ^= uint64(size)
        h = (h ^ (h >> uint64(16))) * uint64(0x85EBCA6B) & bits
        h = (h ^ (h >> uint64(13))) * uint64(0xC2B2AE35) & bits
        h ^= h >> uint64(16)
        signed = np.int64(h) - ((np.int64(h) >> 31) << 32)
        if signed == -2147483648:  # scikit-learn's way: no positive number of 32 bits
            columns[r] = (2147483647 - (width - 1)) % width
        else:
            columns[r] = abs(signed) % width
