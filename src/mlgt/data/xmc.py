"""Reader and writer of the text format of the Extreme Classification Repository.

    15539 5000 3993                  n rows, p features, d labels
    446,521,1149 0:0.084556 1:0.14   the labels of row 0, then its features as feature:value
     3:1                             a row without labels starts with a blank

- Ids are whole numbers from 0 (or from 1: `first_label`, `first_feature`), in any order. A label
  given twice counts once; the values of a feature given twice add up. Zeros are not stored.
- A first token with a colon is a feature: the row has no labels. svmlight files look like this.
- Without the first line this is svmlight's multilabel format. A first line of three whole numbers is a
  header, since no row looks like that; other files have rows only, and their width is given by
  `n_features` and `n_labels`, or by the largest id.
- Every line is a row; an empty one has neither labels nor features. After the n rows of a header only
  blank lines may follow.
- Lines end in LF or CRLF, except perhaps the last; one or more blanks and tabs separate; a UTF-8 byte
  order mark is skipped; gzip is unpacked. Everything else, comments and query ids included, is a
  `DataFormatError` that names the file and the line.
"""

import operator
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.csr import CSRBuilder, make_csr
from .._core.errors import DataFormatError, HeaderMismatchError
from .._core.files import PathLike, check_room, gzip_writer, read_pieces, replacing
from .._core.limits import DEFAULT_LIMITS, Limits
from .._core.memory import files_in
from .._core.sparse import check_stored
from ._explain import Axis, explain, format_id
from ._parse import MAX_COUNT, OK, Arrays, Ids, allocate, parse
from .dataset import Dataset

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PIECE_BYTES = 1 << 24  # size of the text parsed at a time: it takes some 10 times as much memory
HEADER = re.compile(rb"[ \t]*([0-9]+)[ \t]+([0-9]+)[ \t]+([0-9]+)[ \t]*\r?")


# ---- reading ----


def read_xmc(
    path: PathLike | Sequence[PathLike],
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    first_label: int = 0,
    first_feature: int = 0,
    folder: PathLike | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Dataset:
    """Read features X (n, p) and labels Y (n, d) from a file, plain or gzip.

    Values are rounded to float32 as in Python; `mlgt.data._parse` describes the case of more than 15
    digits. Peak memory: 16 bytes per feature:value, 16 per label and 48 per row, and 64 MB of text; with a
    folder, a few times 64 MB.

    Parameters
    ----------
    path : str or path-like, or a sequence of them
        The file; `-` is standard input. Several files are read as parts of one, each with a header or none.
    n_features, n_labels : int, optional
        Number of columns of X and of Y. They must agree with the header if there is one; without one they
        default to what the largest id needs.
    first_label, first_feature : {0, 1}, default=0
        Smallest id in the file, which becomes column 0.
    folder : str or path-like, optional
        Folder for the arrays. X and Y are then mapped from files there, which have no name and are removed
        with X and Y; by default they are in memory.
    limits : Limits, optional
        The longest line and the largest ratio of compression.

    Returns
    -------
    Dataset
        The features X and the labels Y.

    Raises
    ------
    DataFormatError
        If the file does not follow the format, or exceeds a limit. The message names the line.

    Examples
    --------
    >>> import tempfile
    >>> from mlgt.data import read_xmc, write_xmc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_xmc(f"{folder}/rows.txt", [[0, 0.5], [2, 0]], [[1, 0, 1], [0, 1, 0]])
    ...     data = read_xmc(f"{folder}/rows.txt")
    >>> data.X.toarray().tolist(), data.Y.shape
    ([[0.0, 0.5], [2.0, 0.0]], (2, 3))
    """
    counts = _check_count("n_features", n_features), _check_count("n_labels", n_labels)
    first = _check_first("first_feature", first_feature), _check_first("first_label", first_label)
    with files_in(folder):
        X, Y = CSRBuilder(folder is not None), CSRBuilder(folder is not None)
    for part in [path] if isinstance(path, str | os.PathLike) else path:
        counts = _read(part, counts, first, X, Y, limits)
    return Dataset(X.build(), Y.build())


def _read(path, counts, first, X, Y, limits):
    """Append the rows of a file, piece by piece; returns the numbers of features and labels, if known."""
    pieces = _read_pieces(path, limits)
    text, n_lines = next(pieces, (bytearray(), 0))
    header, start = _read_header(path, text)
    features = _axis(path, "feature", first[0], counts[0], header)
    labels = _axis(path, "label", first[1], counts[1], header)
    n_rows, before = -1 if header is None else header.n_rows, X.n_rows
    while text:
        rows = _read_rows(path, text, start, n_rows, X.n_rows - before, n_lines, features, labels)
        block = _canonical_csr(rows.values, rows.features, rows.feature_ptr, features)
        _check_sums(path, block, n_lines + (start > 0 and header is not None), first[0])
        block.eliminate_zeros()
        X.append(block)
        ones = np.ones(rows.labels.size, dtype=np.float32)
        block = _canonical_csr(ones, rows.labels, rows.label_ptr, labels)
        block.data[:] = 1  # labels given twice
        Y.append(block)
        check_room(path, X.n_bytes + Y.n_bytes)
        (text, n_lines), start = next(pieces, (bytearray(), 0)), 0
    if (found := X.n_rows - before) < n_rows:
        raise _error(
            path, found + 1,
            f"the file ends after {found} rows; expected the {n_rows} that the header counts; "
            "fetch the file again if it was cut short, or correct the header.",
        )  # fmt: skip
    return counts if header is None else header[1:]


def _read_pieces(path, limits):
    """Yield pieces of the text, each with the number of lines before it; raise if one is not text."""
    n_lines = 0
    for text in read_pieces(path, PIECE_BYTES, limits):
        nul = text.find(b"\0")
        if nul >= 0:
            raise _error(
                path,
                n_lines + text.count(b"\n", 0, nul) + 1,
                "a NUL byte, so this is not text; expected plain text (UTF-8, not UTF-16), or such "
                "text packed with gzip; convert or unpack the file.",
            )
        yield text, n_lines
        n_lines += text.count(b"\n")


class Header(NamedTuple):
    """The first line of a file."""

    n_rows: int
    n_features: int
    n_labels: int


def _read_header(path, text):
    """Return the header or None, and where the first row begins."""
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    if len(text) == start:
        raise DataFormatError(
            f"{os.fspath(path)}: the file is empty; expected a header `n p d` or at least one "
            "row; check that it was written to the end."
        )
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    match = HEADER.fullmatch(text, start, end)
    if match is None:
        return None, start
    counts = []
    for name, digits in zip(("rows", "features", "labels"), match.groups()):
        digits = bytes(digits).lstrip(b"0") or b"0"
        if len(digits) > 10 or int(digits) > MAX_COUNT:
            raise _error(
                path,
                1,
                f"the header counts {format_id(digits)} {name}; expected at most "
                f"{MAX_COUNT}; correct the header.",
            )
        counts.append(int(digits))
    return Header(*counts), min(end + 1, len(text))


def _axis(path, name, first, given, header):
    """The ids of labels or features: their number is the header's, the caller's, or that of int32."""
    if header is None and given is None:
        return Axis(name, Ids(first, MAX_COUNT), None)
    if header is None:
        return Axis(name, Ids(first, given), f"n_{name}s={given}")
    total = getattr(header, f"n_{name}s")
    if given not in (None, total):
        message = (
            f"{os.fspath(path)}, line 1: the header counts {total} {name}s, but n_{name}s={given} was "
            f"passed; expected the same number; leave out n_{name}s, or correct the header."
        )
        raise HeaderMismatchError(message, f"{name}s", total, given)
    return Axis(name, Ids(first, total), "the header")


def _read_rows(path, text, start, n_rows, n_before, n_lines, features, labels):
    """Parse a piece of the text, after `n_before` of `n_rows` rows (-1: any number) and `n_lines` lines."""
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


def _canonical_csr(values, indices, ptr, axis):
    """A CSR array with sorted, distinct indices; values of the same index are added.

    Its width is the number of ids, or what the largest one needs if the number is not known.
    """
    width = int(indices.max(initial=-1)) + 1 if axis.source is None else axis.ids.total
    matrix = make_csr(values, indices, ptr, width)
    matrix.sum_duplicates()
    return matrix


def _check_sums(path, X, n_lines, first_feature):
    """Raise if values of a feature given twice, each finite, add up to infinity."""
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
    if not 0 <= count <= MAX_COUNT:
        raise ValueError(f"{name}={count}: expected a count from 0 to {MAX_COUNT}, or None.")
    return count


def _check_first(name, first):
    first = operator.index(first)
    if first not in (0, 1):
        raise ValueError(f"{name}={first}: expected 0 or 1, the smallest id in the file.")
    return first


# ---- writing ----

ROWS_PER_WRITE = 1024


def write_xmc(path: PathLike, X: Any, Y: Any, *, header: bool = True) -> None:
    """Write features X (n, p) and labels Y (n, d) to a file.

    Values are written as float32, so that reading them back gives the same bits; zeros are not written.
    The file appears complete or not at all.

    Parameters
    ----------
    path : str or path-like
        The file; gzip if its name ends in .gz.
    X : array-like or sparse matrix of shape (n, p)
        Features.
    Y : array-like or sparse matrix of shape (n, d)
        Labels, 0 and 1.
    header : bool, default=True
        Whether to write the line of counts. Without it, empty last columns are lost unless the reader
        gets `n_features` and `n_labels`.

    Raises
    ------
    ValueError
        If X or Y cannot be written in this format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mlgt.data import write_xmc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_xmc(f"{folder}/rows.txt", [[0, 0.5], [2, 0]], [[1, 0, 1], [0, 1, 0]])
    ...     print(pathlib.Path(f"{folder}/rows.txt").read_text(), end="")
    2 2 3
    0,2 1:0.5
    1 0:2
    """
    X, Y = _check_X(X), _check_Y(Y)
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and Y has {Y.shape[0]}; expected one row of labels for "
            "each row of features; pass the same rows of both."
        )
    if not header and X.shape[0] == 0:
        raise ValueError("no rows and no header would make an empty file; pass header=True.")
    if max(X.shape + Y.shape) > MAX_COUNT:
        raise ValueError(
            f"X has the shape {X.shape} and Y {Y.shape}; expected at most {MAX_COUNT} rows, "
            "features and labels; leave out unused columns."
        )
    with replacing(path) as file:
        if os.fspath(path).lower().endswith(".gz"):
            with gzip_writer(file) as packed:
                packed.writelines(_lines(X, Y, header))
        else:
            file.writelines(_lines(X, Y, header))


def _lines(X, Y, header) -> Iterator[bytes]:
    """Yield the bytes of the file, ROWS_PER_WRITE lines at a time."""
    n, p = X.shape
    if header:
        yield f"{n} {p} {Y.shape[1]}\n".encode()
    for begin in range(0, n, ROWS_PER_WRITE):
        end = min(begin + ROWS_PER_WRITE, n)
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
    """Format float32 values so that they can be read back: with 6 digits if that suffices, else with 9."""
    numbers = values.tolist()
    texts = [f"{v:.6g}" for v in numbers]
    with np.errstate(over="ignore"):  # 6 digits of the largest float32 round to infinity
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
    """Return a float32 copy with sorted, distinct indices and no zeros."""
    check_stored(matrix)
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
