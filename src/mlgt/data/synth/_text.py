"""Compiled writer of rows in the XMC format (`mlgt.data.xmc`).

Values must be in (0, 1] with four significant digits, as in synthetic data; `write_xmc` takes all.
"""

import numpy as np

from ...compile.kernels import kernel
from .. import Dataset
from ._kernels import four_digits

NEWLINE, BLANK, COMMA, POINT, ZERO, COLON = 10, 32, 44, 46, 48, 58
MAX_ENTRY_BYTES = 37  # a blank, 10 digits, a colon, a digit, a point, 22 digits; labels need fewer


def to_text(rows: Dataset) -> memoryview:
    """Return the lines of these rows."""
    X, Y = rows.X, rows.Y
    text = np.empty(MAX_ENTRY_BYTES * (X.nnz + Y.nnz) + X.shape[0], np.uint8)
    size = _write_rows(text, X.indptr, X.indices, X.data, Y.indptr, Y.indices)
    return text[:size].data


@kernel()
def _write_rows(text, word_ptr, words, values, label_ptr, labels):
    at = 0
    for i in range(word_ptr.size - 1):
        for l in range(label_ptr[i], label_ptr[i + 1]):
            if l > label_ptr[i]:
                text[at] = COMMA
                at += 1
            at = _write_whole(text, at, labels[l])
        for j in range(word_ptr[i], word_ptr[i + 1]):
            text[at] = BLANK
            at = _write_whole(text, at + 1, words[j])
            text[at] = COLON
            at = _write_value(text, at + 1, values[j])
        text[at] = NEWLINE
        at += 1
    return at


@kernel()
def _write_whole(text, at, number):
    """Write the digits of a number from `at` on; return where they end."""
    end, rest = at + 1, number // 10
    while rest > 0:
        end, rest = end + 1, rest // 10
    for i in range(end - 1, at - 1, -1):
        text[i] = ZERO + number % 10
        number //= 10
    return end


@kernel()
def _write_value(text, at, value):
    """Write a value like 0.0312, without zeros at the end; return where it ends."""
    mantissa, places = four_digits(value)
    while places > 0 and mantissa % 10 == 0:
        mantissa, places = mantissa // 10, places - 1
    whole = mantissa // 10**places if places < 18 else 0
    text[at] = ZERO + whole
    if places == 0:
        return at + 1
    text[at + 1] = POINT
    end = at + 2 + places
    for i in range(end - 1, at + 1, -1):
        text[i] = ZERO + mantissa % 10
        mantissa //= 10
    return end
