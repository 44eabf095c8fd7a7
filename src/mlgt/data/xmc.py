"""The text format of the Extreme Classification Repository, read and written.

    15539 5000 3993                  n rows, p features, d labels
    446,521,1149 0:0.084556 1:0.14   the labels of row 0, then its features as feature:value
     3:1                             a row without labels starts with a blank

- Ids are whole numbers from 0 (or from 1: `first_label`, `first_feature`), in any order. A label
  given twice counts once; the values of a feature given twice add up. Zeros are not stored.
- A first token with a colon is a feature: the row has no labels. svmlight files are written so.
- Without the first line this is svmlight's multilabel format. A first line of three whole numbers
  is a header, since no row looks so; other files have rows only, and their width is what
  `n_features` and `n_labels` say, or the largest id asks for.
- Every line is a row, an empty one has neither labels nor features. After the n rows of a header
  only blank lines may follow.
- Lines end in LF or CRLF (the last one may just end); blanks and tabs separate, one or several; a
  UTF-8 byte order mark is skipped; gzip is unpacked. Comments and query ids are errors, as is all
  else: a `DataFormatError` names the file and the line.
"""

import operator
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.errors import DataFormatError, HeaderMismatchError
from ._explain import Counted, explain, show
from ._growing import Growing
from ._parse import LARGEST_COUNT, OK, Arrays, Ids, allocate, parse
from .dataset import Dataset
from .files import packing, read_lines, replacing

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PIECE = 1 << 26
"""Bytes of text parsed at a time."""
HEADER = re.compile(rb"[ \t]*([0-9]+)[ \t]+([0-9]+)[ \t]+([0-9]+)[ \t]*\r?")


# ---- reading ----


def read_xmc(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    first_label: int = 0,
    first_feature: int = 0,
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read features X (n, p) and labels Y (n, d) from a file, plain or gzip.

    n_features, n_labels: the width of X and Y; with a header they must agree with it, without one
    they default to what the largest id asks for.
    first_label, first_feature: 0 or 1, the smallest id in the file, which becomes column 0.

    folder: where to keep the arrays instead of in memory; X and Y are then mapped from files there, which
    must stay as long as they are used.

    Values are rounded to float32 as Python would; see `mlgt.data._parse` on more than 15 digits.
    Peak memory: twice 8 bytes per feature:value, 8 per label and 24 per row, and PIECE bytes of text; with
    a folder, some PIECEs.
    """
    n_features = _check_count("n_features", n_features)
    n_labels = _check_count("n_labels", n_labels)
    first_label = _check_first("first_label", first_label)
    first_feature = _check_first("first_feature", first_feature)

    pieces = read_lines(path, PIECE)
    text = next(pieces, bytearray())
    header, start = _read_header(path, text)
    features = _counted(path, "feature", first_feature, n_features, header)
    labels = _counted(path, "label", first_label, n_labels, header)
    n_rows, n_lines = -1 if header is None else header.n_rows, 0
    X, Y = Growing(folder, "X"), Growing(folder, "Y")
    while text:
        _check_text(path, text, n_lines)
        rows = _read_rows(path, text, start, n_rows, X.n_rows, n_lines, features, labels)
        part = _csr(rows.values, rows.features, rows.feature_ptr, _width(features, rows.features))
        _check_sums(path, part, n_lines + (start > 0 and header is not None), first_feature)
        part.eliminate_zeros()
        X.add(part)
        ones = np.ones(rows.labels.size, dtype=np.float32)
        part = _csr(ones, rows.labels, rows.label_ptr, _width(labels, rows.labels))
        part.data[:] = 1  # labels given twice
        Y.add(part)
        n_lines += text.count(b"\n")
        text, start = next(pieces, bytearray()), 0
    if X.n_rows < n_rows:
        raise _error(
            path,
            X.n_rows + 1,
            f"the file ends after {X.n_rows} rows; expected the {n_rows} that the header counts; "
            "fetch the file again if it was cut short, or correct the header.",
        )
    return Dataset(X.whole(), Y.whole())


class Header(NamedTuple):
    """The first line of a file."""

    n_rows: int
    n_features: int
    n_labels: int


def _read_header(path, text):
    """The header, or None where there is none, and where the first row begins."""
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    if len(text) == start:
        raise DataFormatError(
            f"{os.fspath(path)}: the file is empty; expected a header `n p d` or at least one "
            "row; check that it was written to the end."
        )
    _check_text(path, text, 0)
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    match = HEADER.fullmatch(text, start, end)
    if match is None:
        return None, start
    counts = []
    for name, digits in zip(("rows", "features", "labels"), match.groups()):
        digits = bytes(digits).lstrip(b"0") or b"0"
        if len(digits) > 10 or int(digits) > LARGEST_COUNT:
            raise _error(
                path,
                1,
                f"the header counts {show(digits)[1:-1]} {name}; expected at most "
                f"{LARGEST_COUNT}; correct the header.",
            )
        counts.append(int(digits))
    return Header(*counts), min(end + 1, len(text))


def _check_text(path, text, n_lines):
    """`n_lines` came before `text`."""
    nul = text.find(b"\0")
    if nul >= 0:
        raise _error(
            path,
            n_lines + text.count(b"\n", 0, nul) + 1,
            "a NUL byte, so this is no text; expected plain text (UTF-8, not UTF-16), or such "
            "text packed with gzip; convert or unpack the file.",
        )


def _counted(path, name, first, given, header):
    """The ids of labels or features: as many as the header says, or the caller, or int32."""
    if header is None and given is None:
        return Counted(name, Ids(first, LARGEST_COUNT), None)
    if header is None:
        return Counted(name, Ids(first, given), f"n_{name}s={given}")
    total = getattr(header, f"n_{name}s")
    if given not in (None, total):
        message = (
            f"{os.fspath(path)}, line 1: the header counts {total} {name}s, but n_{name}s={given} was "
            f"passed; expected the same number; leave out n_{name}s, or correct the header."
        )
        raise HeaderMismatchError(message, f"{name}s", total, given)
    return Counted(name, Ids(first, total), "the header")


def _read_rows(path, text, start, n_rows, n_before, n_lines, features, labels):
    """The arrays of the rows of a piece of text, cut to what was filled.

    `n_rows` are promised in all, -1 for any number; `n_before` rows and `n_lines` lines came before.
    """
    out = allocate(text)
    left = n_rows - n_before if n_rows >= 0 else -1
    code, row, offset = parse(
        np.frombuffer(text, dtype=np.uint8), start, left, features.ids, labels.ids, out
    )
    if code != OK:
        line_start = text.rfind(b"\n", 0, offset) + 1 or start
        line_end = text.find(b"\n", offset)
        line = bytes(text[line_start : line_end if line_end >= 0 else None])
        message = explain(code, line, offset - line_start, n_rows, features, labels)
        raise _error(path, n_lines + text.count(b"\n", 0, offset) + 1, message)
    n_entries, n_ones = out.feature_ptr[row], out.label_ptr[row]
    return Arrays(
        out.feature_ptr[: row + 1],
        out.features[:n_entries],
        out.values[:n_entries],
        out.label_ptr[: row + 1],
        out.labels[:n_ones],
    )


def _width(counted, indices):
    """The number of columns; where nobody says, the largest index asks for it."""
    if counted.source is not None:
        return counted.ids.total
    return int(indices.max(initial=-1)) + 1


def _csr(values, indices, ptr, n_columns):
    """A CSR array with sorted, distinct indices; values of the same index are added."""
    ptr = ptr.astype(np.int32 if ptr[-1] <= np.iinfo(np.int32).max else np.int64)
    matrix = sp.csr_array((values, indices, ptr), shape=(ptr.size - 1, n_columns))
    matrix.sum_duplicates()
    return matrix


def _check_sums(path, X, n_lines, first_feature):
    """Values are finite one by one, but those of a feature given twice may add up to infinity."""
    if np.isfinite(X.data).all():
        return
    entry = int(np.flatnonzero(~np.isfinite(X.data))[0])
    row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
    raise _error(
        path,
        n_lines + row + 1,
        f"the values of feature {X.indices[entry] + first_feature}, which is there more than "
        "once, add up to more than float32 holds; expected sums up to 3.4e38; give the feature "
        "once.",
    )


def _error(path, line, message):
    return DataFormatError(f"{os.fspath(path)}, line {line}: {message}")


def _check_count(name, count):
    if count is None:
        return None
    count = operator.index(count)
    if not 0 <= count <= LARGEST_COUNT:
        raise ValueError(f"{name}={count}: expected a count from 0 to {LARGEST_COUNT}, or None.")
    return count


def _check_first(name, first):
    first = operator.index(first)
    if first not in (0, 1):
        raise ValueError(f"{name}={first}: expected 0 or 1, the smallest id in the file.")
    return first


# ---- writing ----

ROWS_AT_ONCE = 1024


def write_xmc(path: str | os.PathLike[str], X, Y, *, header: bool = True) -> None:
    """Write features X (n, p) and labels Y (n, d) of 0 and 1 to a file; gzip if it ends in .gz.

    X and Y are sparse or dense. Values are written as float32, so that reading them back gives
    the same bits; zeros are not written. Without the header, empty last columns are lost unless
    the reader is told n_features and n_labels. The file appears whole or not at all.
    """
    X, Y = _check_X(X), _check_Y(Y)
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and Y has {Y.shape[0]}; expected one row of labels for "
            "each row of features; pass the same rows of both."
        )
    if not header and X.shape[0] == 0:
        raise ValueError("no rows and no header make an empty file, which says nothing; pass header=True.")
    if max(X.shape + Y.shape) > LARGEST_COUNT:
        raise ValueError(
            f"X has the shape {X.shape} and Y {Y.shape}; expected at most {LARGEST_COUNT} rows, "
            "features and labels; leave out unused columns."
        )
    with replacing(path) as file:
        if os.fspath(path).lower().endswith(".gz"):
            with packing(file) as packed:
                packed.writelines(_lines(X, Y, header))
        else:
            file.writelines(_lines(X, Y, header))


def _lines(X, Y, header) -> Iterator[bytes]:
    """The bytes of the file, many lines at a time."""
    n, p = X.shape
    if header:
        yield f"{n} {p} {Y.shape[1]}\n".encode()
    for begin in range(0, n, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, n)
        feature_ptr = X.indptr[begin : end + 1].tolist()
        label_ptr = Y.indptr[begin : end + 1].tolist()
        entries = slice(feature_ptr[0], feature_ptr[-1])
        features = [f" {j}:{v}" for j, v in zip(X.indices[entries].tolist(), _decimals(X.data[entries]))]
        labels = list(map(str, Y.indices[label_ptr[0] : label_ptr[-1]].tolist()))
        yield "".join(
            ",".join(_part(labels, label_ptr, i)) + "".join(_part(features, feature_ptr, i)) + "\n"
            for i in range(end - begin)
        ).encode()


def _part(items, ptr, i):
    return items[ptr[i] - ptr[0] : ptr[i + 1] - ptr[0]]


def _decimals(values):
    """Texts that round to these float32: of 6 digits where such do, else of 9, which always do."""
    numbers = values.tolist()
    texts = [f"{v:.6g}" for v in numbers]
    with np.errstate(over="ignore"):  # the largest float32 with 6 digits is infinite
        same = np.array(list(map(float, texts))).astype(np.float32) == values
    for i in np.flatnonzero(~same).tolist():
        texts[i] = f"{numbers[i]:.9g}"
    return texts


def _check_X(X):
    X = _to_csr("X", X)
    if not np.isfinite(X.data).all():
        raise ValueError(
            "X has values that are NaN, infinite, or too large for float32; expected finite "
            "numbers; replace them before writing."
        )
    return X


def _check_Y(Y):
    Y = _to_csr("Y", Y)
    if not (Y.data == 1).all():
        odd = Y.data[Y.data != 1][0]
        raise ValueError(f"Y has the value {odd:g}; expected 0 and 1; write a label that is present as 1.")
    return Y


def _to_csr(name, matrix):
    """A float32 copy with sorted, distinct indices and no zeros."""
    matrix = matrix if sp.issparse(matrix) else np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "buif":
        raise ValueError(
            f"{name} has {matrix.ndim} dimensions and the type {matrix.dtype}; expected a matrix "
            "of real numbers, sparse or dense."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = sp.csr_array(matrix, dtype=np.float32, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
