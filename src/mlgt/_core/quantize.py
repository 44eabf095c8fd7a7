"""Weights of one byte: w ~ scale q, q a whole number from -127 to 127, one scale per classifier.

Rounding errors are independent and at most scale / 2, so the margin of a row of length 1 is off by about
scale / sqrt(12): 0.01 if the largest weight is 4.
"""

import numpy as np

MAX_BYTE = 127


def quantize_columns(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (q (p, m) int8, scale (m,) float32) of a dense W (p, m)."""
    scale = _scale(np.abs(W).max(axis=0, initial=0.0))
    q = np.empty(W.shape, np.int8)
    for first in range(0, len(W), 1024):
        q[first : first + 1024] = np.rint(W[first : first + 1024] / scale)
    return q, scale


def quantize_runs(values: np.ndarray, indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (q int8, scale (d,) float32) of the sparse rows values[indptr[l] : indptr[l + 1]]."""
    lengths = np.diff(indptr)
    peaks = np.zeros(len(lengths), np.float32)
    filled = np.flatnonzero(lengths)
    if len(filled):
        peaks[filled] = np.maximum.reduceat(np.abs(values), indptr[filled])
    scale = _scale(peaks)
    return np.rint(values / np.repeat(scale, lengths)).astype(np.int8), scale


def _scale(peaks):
    return np.where(peaks > 0, peaks / MAX_BYTE, 1).astype(np.float32)
