"""Parser for the rows of an XMC file, from bytes to arrays: one pass, compiled, byte by byte.

`parse_lines` takes its place if the file is small and has no error; `tests/references/parse.py` defines
what both do. They have the signature

    parse(text, start, n_rows, features, labels, out) -> code, row, offset

text      uint8 (size,), whole lines of the file
start     byte where the first row begins
n_rows    number of rows that may follow, or -1 for any number
features  Ids of the features: the first id and how many there are
labels    Ids of the labels
out       Arrays as `allocate` returns them, to be filled

code is OK and row the number of rows; otherwise code is the error in row `row` (from 0), whose token
begins at byte `offset`. Entries are stored in the order of the file; the caller sorts them and adds up
duplicates.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from ..compile.kernels import MANY, helper, kernel

# Error codes. `mlgt.data._explain` has a message for each.
OK = 0
BAD_LABEL = 1  # not a non-negative integer
LABEL_RANGE = 2  # before the first label or after the last
BAD_FEATURE = 3  # not a non-negative integer and a colon
FEATURE_RANGE = 4  # before the first feature or after the last
BAD_VALUE = 5  # not a finite decimal number
VALUE_RANGE = 6  # past the largest float32
EXTRA_ROW = 7  # more rows than the header counts

MAX_COUNT = 2**31 - 1  # largest number of rows, features or labels: all are int32


class Ids(NamedTuple):
    """The ids `first`, ..., `first + total - 1`, stored as 0, ..., `total - 1`."""

    first: int
    total: int


class Arrays(NamedTuple):
    """The parsed rows; row i has the entries ptr[i]:ptr[i + 1]."""

    feature_ptr: np.ndarray  # int64 (rows + 1,)
    features: np.ndarray  # int32 (entries,)
    values: np.ndarray  # float32 (entries,)
    label_ptr: np.ndarray  # int64 (rows + 1,)
    labels: np.ndarray  # int32 (row labels,)


def allocate(text: bytes | bytearray) -> Arrays:
    """Return arrays that are large enough for `text`.

    A row ends in a newline or at the end of the text, an entry has a colon, and a label is the first of
    its row or follows a comma.
    """
    n_rows = text.count(b"\n") + 1
    n_entries = text.count(b":")
    return Arrays(
        feature_ptr=np.zeros(n_rows + 1, dtype=np.int64),
        features=np.empty(n_entries, dtype=np.int32),
        values=np.empty(n_entries, dtype=np.float32),
        label_ptr=np.zeros(n_rows + 1, dtype=np.int64),
        labels=np.empty(n_rows + text.count(b","), dtype=np.int32),
    )


# ---- a line at a time ----

VALUE = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ENTRY = rb"[0-9]{1,9}:-?(?:0?\.[0-9]{1,13}|[0-9]{1,9}|[0-9]{1,6}\.[0-9]{1,9})(?:e[+-]?0?[0-9])?"
LINE = re.compile(rb"(?:[0-9]{1,9}(?:,[0-9]{1,9})*|" + _ENTRY + rb")?(?: " + _ENTRY + rb")* ?\r?")
"""Rows as programs write them. Values have 15 digits and a power of ten of 22 at most, so that all round
alike."""


def parse_lines(text, start, n_rows, features, labels, out):
    """Parse the rows of `text` if all are as usual and without error, else return NotImplemented."""
    lines = text[start:].tobytes().removesuffix(b"\n").split(b"\n")
    if len(lines) > n_rows >= 0 or start == text.size or not all(map(LINE.fullmatch, lines)):
        return NotImplemented
    n_features = n_labels = 0
    for row, line in enumerate(lines, 1):
        own, _, rest = line.partition(b" ")
        own, rest = (b"", line) if b":" in own else (own, rest)
        ids, parts = own.split(b",") if own.strip() else [], rest.replace(b":", b" ").split()
        first, n_features = n_features, n_features + len(parts) // 2
        out.features[first:n_features] = list(map(int, parts[::2]))
        out.values[first:n_features] = list(map(float, parts[1::2]))
        first, n_labels = n_labels, n_labels + len(ids)
        out.labels[first:n_labels] = list(map(int, ids))
        out.label_ptr[row], out.feature_ptr[row] = n_labels, n_features
    for ids, known in ((out.features[:n_features], features), (out.labels[:n_labels], labels)):
        ids -= known.first
        if len(ids) and not 0 <= ids.min() <= ids.max() < known.total:
            return NotImplemented
    return OK, len(lines), text.size


# ---- byte by byte, compiled ----

TAB, NEWLINE, RETURN, BLANK, COLON, COMMA = 9, 10, 13, 32, 58, 44
PLUS, MINUS, POINT, ZERO, NINE, LOWER_E, UPPER_E = 43, 45, 46, 48, 57, 101, 69

ID_OVERFLOW = 2**31  # number that stands for every larger id
MAX_DIGITS = 18  # significant digits of a value that are kept; they fit int64
# Powers of ten: float32 is 0 below 10**(MAX_DIGITS - 64), infinite at 10**39. Exact up to 10**22.
POWERS = np.array([float(f"1e{k}") for k in range(65)])


@kernel(light=parse_lines, limit=MANY, error_model="numpy")
def parse(text, start, n_rows, features, labels, out):
    """Parse the rows of `text`; see the module."""
    row = n_features = n_labels = 0
    while start < text.size:
        i = start
        start, stop = _line_bounds(text, i)
        if row == n_rows:
            i = _skip_blanks(text, i, stop)
            if i < stop:
                return EXTRA_ROW, row, i
            continue

        if _has_labels(text, i, stop):
            more = True
            while more:
                index, end = _read_id(text, i, stop)
                more = end < stop and text[end] == COMMA
                if end == i or not (more or _token_ends(text, end, stop)):
                    return BAD_LABEL, row, i
                index -= labels.first
                if not 0 <= index < labels.total:
                    return LABEL_RANGE, row, i
                out.labels[n_labels] = index
                n_labels += 1
                i = end + 1 if more else end

        i = _skip_blanks(text, i, stop)
        while i < stop:
            index, end = _read_id(text, i, stop)
            if end == i or end == stop or text[end] != COLON:  # noqa: SIM109
                return BAD_FEATURE, row, i
            index -= features.first
            if not 0 <= index < features.total:
                return FEATURE_RANGE, row, i
            value, value_end = _read_value(text, end + 1, stop)
            if value_end == end + 1 or not _token_ends(text, value_end, stop):
                return BAD_VALUE, row, i
            number = np.float32(value)
            if np.isinf(number):
                return VALUE_RANGE, row, i
            out.features[n_features] = index
            out.values[n_features] = number
            n_features += 1
            i = _skip_blanks(text, value_end, stop)

        row += 1
        out.label_ptr[row] = n_labels
        out.feature_ptr[row] = n_features
    return OK, row, start


@helper(error_model="numpy")
def _line_bounds(text, i):
    """Return where the next line begins, and where this one stops: before LF, CRLF, or the end."""
    stop = i
    while stop < text.size and text[stop] != NEWLINE:
        stop += 1
    following = stop + 1
    if stop > i and text[stop - 1] == RETURN:
        stop -= 1
    return following, stop


@helper(error_model="numpy")
def _token_ends(text, i, stop):
    """True if a token ends before byte i."""
    return i == stop or text[i] == BLANK or text[i] == TAB


@helper(error_model="numpy")
def _skip_blanks(text, i, stop):
    while i < stop and (text[i] == BLANK or text[i] == TAB):
        i += 1
    return i


@helper(error_model="numpy")
def _has_labels(text, i, stop):
    """True if the line begins with a token that has no colon."""
    if _token_ends(text, i, stop):
        return False
    while not _token_ends(text, i, stop):
        if text[i] == COLON:
            return False
        i += 1
    return True


@helper(error_model="numpy")
def _read_id(text, i, stop):
    """Return the integer at i, at most ID_OVERFLOW, and where it ends; i itself if there is none."""
    number: Any = 0
    while i < stop and ZERO <= text[i] <= NINE:
        number = 10 * number + (np.int64(text[i]) - ZERO)
        if number > ID_OVERFLOW:
            number = ID_OVERFLOW
        i += 1
    return number, i


@helper(error_model="numpy")
def _read_value(text, i, stop):
    """Return the decimal number at i as float64, and where it ends; i itself if there is none.

    Up to 15 digits and a power of ten up to 22 the result is that of `float`: mantissa and power are exact
    and the quotient or product is rounded once. Otherwise it may be off by a few units in the last place of
    float64, which changes the float32 only near the middle of two of them: about once in 10**8.
    """
    begin = i
    negative = i < stop and text[i] == MINUS
    if i < stop and (text[i] == MINUS or text[i] == PLUS):
        i += 1

    mantissa: Any = 0
    power = kept = seen = 0
    past_point = False
    while i < stop:
        if ZERO <= text[i] <= NINE:
            seen += 1
            if kept < MAX_DIGITS:
                mantissa = 10 * mantissa + (np.int64(text[i]) - ZERO)
                kept += mantissa > 0  # leading zeros do not count
                power -= past_point
            else:
                power += not past_point
        elif text[i] == POINT and not past_point:
            past_point = True
        else:
            break
        i += 1
    if seen == 0:
        return 0.0, begin

    if i < stop and (text[i] == LOWER_E or text[i] == UPPER_E):
        digits = i + 1
        if digits < stop and (text[digits] == MINUS or text[digits] == PLUS):
            digits += 1
        exponent, end = _read_id(text, digits, stop)
        if end == digits:
            return 0.0, begin
        power += -exponent if text[digits - 1] == MINUS else exponent
        i = end

    if power > 64:
        number = np.inf if mantissa > 0 else 0.0
    elif power < -64:
        number = 0.0
    else:
        number = mantissa / POWERS[-power] if power < 0 else mantissa * POWERS[power]
    return (-number if negative else number), i
