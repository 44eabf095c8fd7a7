"""Weights of one byte: w ~ scale q, q a whole number from -127 to 127, one scale per classifier.

Rounding errors are independent and at most scale / 2, so the margin of a row of length 1 is off by about
scale / sqrt(12): 0.01 if the largest weight is 4.

Where that is more than enough, q is one of the *squares* 0, +-1, +-4, ... +-49, which are dense where most
weights are. In memory a square takes a byte as any q; in a file, half a byte (`pack_squares`), or less by
Huffman's code (`deflate`): most weights are one of a few squares.
"""

import math
import zlib

import numpy as np

MAX_BYTE, MAX_ROOT = 127, 7
BLOCK = 1 << 16
"""Weights that are rounded at a time: they stay in the caches."""
_SQUARES = np.sign(np.arange(-8, 8)).astype(np.int8) * np.arange(-8, 8).astype(np.int8) ** 2
"""The square of each half byte; that of 0, -64, is not used."""


def quantize_columns(W: np.ndarray, squares: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return (q (p, m) int8, scale (m,) float32) of a dense W (p, m)."""
    step = max(1, BLOCK // max(1, W.shape[1]))
    blocks = [slice(first, first + step) for first in range(0, len(W), step)]
    peaks = np.zeros(W.shape[1], np.float32)
    for own in blocks:
        np.maximum(peaks, np.abs(W[own]).max(axis=0), out=peaks)
    scale, q = _scale(peaks, MAX_ROOT**2 if squares else MAX_BYTE), np.empty(W.shape, np.int8)
    for own in blocks:
        units = W[own] / scale
        q[own] = _nearest_squares(units) if squares else np.rint(units, out=units)
    return q, scale


def squares_of_bytes(q: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `quantize_columns` makes of q * scale with `squares`, by a table. The largest byte of
    each column is MAX_BYTE, or all are 0."""
    table = _nearest_squares(np.arange(256).astype(np.int8) * (MAX_ROOT**2 / MAX_BYTE)).astype(np.int8)
    factor = np.where((q != 0).any(axis=0), MAX_BYTE / MAX_ROOT**2, 1)
    return table[q.view(np.uint8)], (scale * factor).astype(np.float32)


def _nearest_squares(units):
    """The squares whose roots are nearest to those of the units."""
    return np.copysign(np.rint(np.sqrt(np.abs(units))) ** 2, units)


def are_squares(q: np.ndarray) -> bool:
    """True if every q is the square of a half byte."""
    known = np.zeros(256, bool)
    known[_SQUARES[1:].view(np.uint8)] = True
    step = max(1, BLOCK // max(1, math.prod(q.shape[1:])))
    return all(known[q[first : first + step].view(np.uint8)].all() for first in range(0, len(q), step))


def pack_squares(q: np.ndarray) -> np.ndarray:
    """Return squares q (p, m) as half bytes (p, ceil(m / 2)) uint8, two columns in each."""
    code = np.full(256, 8, np.uint8)  # that of 0
    code[_SQUARES[1:].view(np.uint8)] = np.arange(1, 16)
    halves = code[q.view(np.uint8)]
    if q.shape[1] % 2:
        halves = np.concatenate([halves, np.full((len(q), 1), 8, np.uint8)], axis=1)
    return halves[:, ::2] | halves[:, 1::2] << 4


def unpack_squares(packed: np.ndarray, m: int) -> np.ndarray:
    """Return the squares (p, m) int8 of half bytes; raise ValueError if one of them has none."""
    if packed.size and not ((packed & 15).all() and (packed >> 4).all()):
        raise ValueError("coef has a half byte of 0, which stands for no weight")
    both = _SQUARES[np.stack([np.arange(256) & 15, np.arange(256) >> 4], axis=1)]
    return np.ascontiguousarray(both[packed].reshape(len(packed), 2 * packed.shape[1])[:, :m])


def deflate(packed: np.ndarray, runs: bool = False) -> np.ndarray:
    """Return the bytes of an array as a zlib stream (z,) uint8; no repeated strings are searched, which
    weights do not have, but `runs` of the same byte are."""
    stream = zlib.compressobj(1, strategy=zlib.Z_RLE if runs else zlib.Z_HUFFMAN_ONLY)
    return np.frombuffer(stream.compress(packed.data) + stream.flush(), np.uint8)


def inflate(stream: np.ndarray, shape: tuple[int, ...], name: str = "coef") -> np.ndarray:
    """Return what `deflate` was given, uint8 of this shape; raise ValueError if it had another size."""
    size, reader = math.prod(shape), zlib.decompressobj()
    try:
        content = reader.decompress(stream.data, min(size, 1100 * len(stream)) + 1)  # 1032 are possible
    except zlib.error as error:
        raise ValueError(f"{name} is no zlib stream ({error})") from None
    if len(content) != size or not reader.eof:
        raise ValueError(f"{name} is not the zlib stream of {size} bytes")
    return np.frombuffer(content, np.uint8).reshape(shape).copy()  # can be written to


def quantize_runs(values: np.ndarray, indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (q int8, scale (d,) float32) of the sparse rows values[indptr[l] : indptr[l + 1]]."""
    lengths = np.diff(indptr)
    peaks = np.zeros(len(lengths), np.float32)
    filled = np.flatnonzero(lengths)
    if len(filled):
        peaks[filled] = np.maximum.reduceat(np.abs(values), indptr[filled])
    scale = _scale(peaks, MAX_BYTE)
    return np.rint(values / np.repeat(scale, lengths)).astype(np.int8), scale


def _scale(peaks, most):
    return np.where(peaks > 0, peaks / most, 1).astype(np.float32)
