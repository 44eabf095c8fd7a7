"""The format, and the errors for files that do not follow it."""

import gzip

import numpy as np
import pytest

from mlgt._core.errors import DataFormatError
from mlgt.data import read_xmc, xmc
from references.parse import parse_python


@pytest.fixture(params=["compiled", "python"], autouse=True)
def parser(request, monkeypatch):
    """Every test runs with the compiled parser and with its definition."""
    if request.param == "python":
        monkeypatch.setattr(xmc, "parse", parse_python)
    return request.param


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "some.txt"
        path.write_bytes(content)
        return read_xmc(path, **options)

    return read


def dense(dataset):
    return dataset.X.toarray().tolist(), dataset.Y.toarray().tolist()


SIMPLE = b"2 3 4\n0,2 1:0.5 2:-1\n3 0:2\n"
SIMPLE_X = [[0, 0.5, -1], [2, 0, 0]]
SIMPLE_Y = [[1, 0, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(SIMPLE, id="as written"),
        pytest.param(SIMPLE[:-1], id="no newline at the end"),
        pytest.param(SIMPLE.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(SIMPLE.replace(b"\n", b"\r\n")[:-1], id="CR at the end"),
        pytest.param(SIMPLE.replace(b" ", b"\t"), id="tabs"),
        pytest.param(SIMPLE.replace(b" ", b" \t  "), id="several blanks"),
        pytest.param(SIMPLE.replace(b"\n", b" \t\n"), id="blanks at the end of lines"),
        pytest.param(b" " + SIMPLE, id="blank before the header"),
        pytest.param(b"\xef\xbb\xbf" + SIMPLE, id="byte order mark"),
        pytest.param(SIMPLE + b"\n \r\n\t\n\n ", id="blank lines after the last row"),
        pytest.param(b"2 3 4\n2,0 2:-1 1:0.5\n3 0:2\n", id="unsorted"),
        pytest.param(b"2 3 4\n2,0,2,0 1:0.5 2:-1\n3 0:2\n", id="labels given twice"),
        pytest.param(b"2 3 4\n0,2 2:1 1:.25 2:-2 1:.25\n3 0:2\n", id="features given twice"),
        pytest.param(b"2 3 4\n0,2 1:0.5 2:-1 0:0\n3 0:2 1:-0.0 2:0e9\n", id="zeros"),
        pytest.param(b"2 3 4\n0,2 0:1 1:0.5 2:-1 0:-1\n3 0:2 1:1e-60\n", id="zero sums"),
        pytest.param(b"2 3 4\n00,2 1:+5.e-1 2:-10E-01\n3 000:.2e+1\n", id="spellings"),
        pytest.param(gzip.compress(SIMPLE), id="gzip"),
        pytest.param(gzip.compress(SIMPLE[:9]) + gzip.compress(SIMPLE[9:]), id="gzip in two parts"),
    ],
)
def test_spellings_of_the_same_data(read, content):
    data = read(content)
    assert dense(data) == (SIMPLE_X, SIMPLE_Y)
    for matrix in data.X, data.Y:
        assert matrix.data.dtype == np.float32
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        assert matrix.has_canonical_format
        assert (matrix.data != 0).all()
    assert data.X.nnz == data.Y.nnz == 3


@pytest.mark.parametrize(
    ("content", "X", "Y"),
    [
        pytest.param(b"0 1:2\n1 0:3\n", [[0, 2], [3, 0]], [[1, 0], [0, 1]], id="svmlight"),
        pytest.param(b" 1:2\n1 0:3\n", [[0, 2], [3, 0]], [[0, 0], [0, 1]], id="leading blank"),
        pytest.param(b"1:2\n1 0:3\n", [[0, 2], [3, 0]], [[0, 0], [0, 1]], id="leading feature"),
        pytest.param(b"1\n0 1:1\n", [[0, 0], [0, 1]], [[0, 1], [1, 0]], id="labels only"),
        pytest.param(b"\n0 0:1\n\n", [[0], [1], [0]], [[0], [1], [0]], id="empty lines"),
        pytest.param(b"\n0 0:1\n ", [[0], [1], [0]], [[0], [1], [0]], id="blank last line"),
        pytest.param(b"\r\n0 0:1\r\n", [[0], [1]], [[0], [1]], id="empty CRLF line"),
        pytest.param(b"\n", [[]], [[]], id="nothing but a row"),
        pytest.param(b"0 2 1\n", [], [], id="no rows"),
        pytest.param(b"0 2 1", [], [], id="no rows, no newline"),
        pytest.param(b"2 0 0\n\n\n", [[], []], [[], []], id="no columns"),
        pytest.param(b"3 1 1\n\n0 0:1\n\n", [[0], [1], [0]], [[0], [1], [0]], id="empty rows"),
    ],
)
def test_rows(read, content, X, Y):
    assert dense(read(content)) == (X, Y)


def test_width_without_header(read):
    rows = b"0 1:2\n1 0:3\n"
    data = read(rows, n_features=7, n_labels=2**31 - 1)
    assert data.X.shape == (2, 7)
    assert data.Y.shape == (2, 2**31 - 1)
    assert data.Y.indices.dtype == np.int32
    assert read(b"\n", n_features=5).X.shape == (1, 5)
    assert read(b"0 2147483646:1\n").X.shape == (1, 2**31 - 1)


def test_ids_from_one(read):
    data = read(b"1,2 1:2\n 2:3\n", first_label=1, first_feature=1)
    assert dense(data) == ([[2, 0], [0, 3]], [[1, 1], [0, 0]])
    data = read(b"1 2 2\n1,2 0:2 1:3\n", first_label=1)
    assert dense(data) == ([[2, 3]], [[1, 1]])


def test_header_and_arguments_may_agree(read):
    assert dense(read(SIMPLE, n_features=3, n_labels=4)) == (SIMPLE_X, SIMPLE_Y)


# Bad rows, each with a part of its error message. The content follows a good header and row,
# so it begins on line 3.
BAD_ROWS = {
    "negative label": (b"-1 0:1", "label '-1' is negative"),
    "fractional label": (b"1,0.5 0:1", "label '0.5' is not written as a whole number"),
    "label with a plus": (b"+1 0:1", "label '+1' is not written as a whole number without sign"),
    "word as label": (b"cat 0:1", "label 'cat' is not a number"),
    "junk after label": (b"1x,2 0:1", "label '1x' is not a number"),
    "label out of range": (
        b"1,4 0:1",
        "label 4 is out of range for 4 labels, whose ids start at 0. If yours start at 1, pass "
        "first_label=1.",
    ),
    "label far out of range": (b"17", "for 4 labels, whose ids start at 0. Correct the id, or the"),
    "label beyond int32": (b"2147483648 0:1", "label 2147483648 is out of range for 4 labels"),
    "label beyond int64": (b"9" * 30 + b" 0:1", "label " + "9" * 30 + " is out of range"),
    "empty label": (b"1,,2 0:1", "an empty label in '1,,2'"),
    "comma at the end": (b"1,2, 0:1", "an empty label in '1,2,'"),
    "comma at the end of the line": (b"1,", "an empty label in '1,'"),
    "comma first": (b",1 0:1", "an empty label in ',1'"),
    "blank between labels": (b"1, 2 0:1", "an empty label in '1,'"),
    "labels without comma": (b"1 2 0:1", "'2' has no colon; expected feature:value. Labels come"),
    "labels after a blank": (b" 1,2 0:1", "'1,2' has no colon"),
    "negative feature": (b"1 -1:1", "feature '-1' is negative"),
    "fractional feature": (b"1 1.5:1", "feature '1.5' is not written as a whole number"),
    "word as feature": (b"1 dog:1", "feature 'dog' is not a number"),
    "labels glued to a feature": (b"1,2:1", "feature '1,2' is not a number"),
    "feature out of range": (
        b"1 3:1",
        "feature 3 is out of range for 3 features, whose ids start at 0. If yours start at 1, "
        "pass first_feature=1.",
    ),
    "feature beyond int32": (b"1 2147483648:1", "feature 2147483648 is out of range"),
    "no feature": (b"1 :1", "':1' has no feature id"),
    "no colon": (b"1 0:1 2", "'2' has no colon; expected feature:value"),
    "no value": (b"1 0: 1:1", "'0:' has no value"),
    "no value at the end": (b"1 0:", "'0:' has no value"),
    "junk after value": (b"1 0:1x", "the value '1x' of feature 0 is not a number"),
    "two values": (b"1 0:1:2", "the value '1:2' of feature 0 is not a number"),
    "two points": (b"1 0:1.2.3", "the value '1.2.3' of feature 0 is not a number"),
    "decimal comma": (b"1 0:1,5", "the value '1,5' of feature 0 is not a number"),
    "no digits": (b"1 0:-.e3", "the value '-.e3' of feature 0 is not a number"),
    "no exponent": (b"1 0:1e+", "the value '1e+' of feature 0 is not a number"),
    "underscore": (b"1 0:1_000", "the value '1_000' of feature 0 is not a number"),
    "hexadecimal": (b"1 0:0x1", "the value '0x1' of feature 0 is not a number"),
    "NaN": (b"1 0:nan", "the value 'nan' of feature 0 is not finite"),
    "infinity": (b"1 0:-Infinity", "the value '-Infinity' of feature 0 is not finite"),
    "overflow of float32": (b"1 02:3.41e38", "'3.41e38' of feature 2 is too large for float32"),
    "overflow of float64": (b"1 0:-1e400", "the value '-1e400' of feature 0 is too large"),
    "overflow of a sum": (b"1 0:1 2:3e38 2:3e38", "feature 2, which is there more than once"),
    "comment": (b"1 0:1 # text", "a comment, '#'"),
    "comment line": (b"#text", "a comment, '#text'"),
    "glued comment": (b"1 0:1#text", "a comment, '0:1#text'"),
    "query id": (b"1 qid:3 0:1", "a query id, 'qid:3'"),
    "carriage return in a line": (b"1 0:1\r2 0:1", "a carriage return inside the line"),
    "other white space": (b"1 0:1\x0b1:1", r"the value '1\x0b1:1' of feature 0 is not a number"),
    "not ASCII": ("1 0:½".encode(), "the value '½' of feature 0 is not a number"),
    "not UTF-8": (b"\xff 0:1", r"label '\\xff' is not a number"),
    "long token": (b"1 0:" + b"x" * 10**6, "the value '" + "x" * 37 + "...' of feature 0 is not"),
    "NUL": (b"1 0:1\x00", "a NUL byte, so this is not text"),
}  # fmt: skip


@pytest.mark.parametrize(("row", "said"), BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""], ids=["LF", "CRLF", "end"])
def test_bad_rows(read, tmp_path, row, said, end):
    with pytest.raises(DataFormatError) as error:
        read(b"2 3 4\n0 0:1\n" + row + end)
    message = str(error.value)
    assert message.startswith(f"{tmp_path / 'some.txt'}, line 3: ")
    assert said in message
    assert len(message) < 400 + len(str(tmp_path))


BAD_FILES = {
    "empty": (b"", {}, ": the file is empty"),
    "byte order mark only": (b"\xef\xbb\xbf", {}, ": the file is empty"),
    "nothing in gzip": (gzip.compress(b""), {}, ": the file is empty"),
    "gzip cut short": (gzip.compress(SIMPLE)[:-12], {}, ": the gzip data is cut short"),
    "gzip cut in its header": (gzip.compress(SIMPLE)[:5], {}, ": the gzip data is cut short"),
    "gzip with a wrong checksum": (
        gzip.compress(SIMPLE)[:-8] + bytes(8), {}, ": the gzip data is corrupt (CRC check failed"),
    "gzip with wrong data": (
        gzip.compress(SIMPLE)[:10] + b"\xff" * 40, {}, ": the gzip data is corrupt (Error -3"),
    "junk after gzip": (gzip.compress(SIMPLE) + b"1 0:1\n", {}, ": the gzip data is corrupt"),
    "gzip in gzip": (gzip.compress(gzip.compress(SIMPLE, mtime=0)), {}, ", line 1: a NUL byte"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", {}, ", line 3: a NUL byte, so this is not text"),
    "UTF-16": (SIMPLE.decode().encode("utf-16"), {}, ", line 1: a NUL byte"),
    "too few rows": (
        b"5 3 4\n0 0:1\n1 1:1\n", {}, ", line 3: the file ends after 2 rows; expected the 5 that"),
    "header only": (b"5 3 4", {}, ", line 1: the file ends after 0 rows; expected the 5 that"),
    "too many rows": (
        b"1 3 4\n0 0:1\n\n \n1 1:1\n", {}, ", line 5: the header counts 1 rows, but here is one"),
    "rows after none": (b"0 3 4\n\nx", {}, ", line 3: the header counts 0 rows, but here is one"),
    "too many rows claimed": (
        b"2147483648 3 4\n", {}, ", line 1: the header counts 2147483648 rows; expected at most "),
    "too many features": (
        b"1 9999999999 4\n\n", {}, ", line 1: the header counts 9999999999 features; expected at"),
    "too many labels": (
        b"1 3 1000000000000\n\n", {}, ", line 1: the header counts 1000000000000 labels;"),
    "endless header": (b"1 3 " + b"9" * 9999 + b"\n", {}, "counts " + "9" * 37 + "... labels;"),
    "header of two": (b"1 3\n\n", {}, ", line 1: '3' has no colon; expected feature:value."),
    "header of four": (b"1 3 4 5\n\n", {}, "a header is the first line and has three counts"),
    "header of a negative": (b"1 -3 4\n\n", {}, ", line 1: '-3' has no colon"),
    "second header": (SIMPLE[:6] + SIMPLE, {}, ", line 2: '3' has no colon"),
    "svmlight comment": (b"# text\n1 0:1\n", {}, ", line 1: a comment, '#'"),
    "bad row first, after a mark": (b"\xef\xbb\xbfx 0:1\n", {}, ", line 1: label 'x' is not a"),
    "header and n_features": (
        SIMPLE, {"n_features": 4}, ", line 1: the header counts 3 features, but n_features=4 was"),
    "header and n_labels": (
        SIMPLE, {"n_labels": 3}, ", line 1: the header counts 4 labels, but n_labels=3 was passed"),
    "rows and n_features": (
        b"0 0:1\n0 7:1\n", {"n_features": 5}, ", line 2: feature 7 is out of range for 5 features, "
        "whose ids start at 0. Correct the id, or n_features=5."),
    "rows and n_labels": (
        b"5 0:1\n", {"n_labels": 5}, ", line 1: label 5 is out of range for 5 labels, whose ids "
        "start at 0. If yours start at 1, pass first_label=1."),
    "label below the first": (
        b"1 1:1\n0 1:1\n", {"first_label": 1}, ", line 2: label 0 is below first_label=1, the "
        "smallest id expected. If yours start at 0, pass first_label=0."),
    "feature below the first": (
        b"1 0:1\n", {"first_feature": 1}, ", line 1: feature 0 is below first_feature=1"),
    "label above the last": (
        b"1 3 4\n5 1:1\n", {"first_label": 1}, ", line 2: label 5 is out of range for 4 labels, "
        "whose ids start at 1. Correct the id, or the header."),
    "label that int32 lacks": (
        b"2147483647 0:1\n", {}, ", line 1: label 2147483647 is too large; expected ids up to "
        "2147483646; number the labels from 0 without gaps."),
    "feature that int32 lacks": (
        b"0 2147483648:1\n", {"first_feature": 1}, ", line 1: feature 2147483648 is too large; "
        "expected ids up to 2147483647"),
    "sum without header": (
        b"\n0 1:3e38 1:3e38\n", {"first_feature": 1}, ", line 2: the values of feature 1, which"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "options", "said"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(read, tmp_path, content, options, said):
    with pytest.raises(DataFormatError) as error:
        read(content, **options)
    message = str(error.value)
    assert message.startswith(str(tmp_path / "some.txt"))
    assert said in message
    assert message.endswith(".")
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"first_label": 2}, "first_label=2: expected 0 or 1"),
        ({"first_feature": -1}, "first_feature=-1: expected 0 or 1"),
        ({"n_labels": -1}, "n_labels=-1: expected a count from 0 to 2147483647, or None"),
        ({"n_features": 2**31}, "n_features=2147483648: expected a count"),
    ],
)
def test_bad_arguments(read, options, said):
    with pytest.raises(ValueError, match=said):
        read(SIMPLE, **options)
