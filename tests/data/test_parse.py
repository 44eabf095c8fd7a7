"""The compiled parser does what its plain twin does, on good rows and on bad ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlgt.data import _parse
from mlgt.data._parse import OK, Ids, allocate, parse, parse_lines
from references.parse import parse_python

BLANKS = st.sampled_from([b" ", b" ", b"  ", b"\t", b" \t "])
DIGITS = st.text("0123456789", min_size=1, max_size=15)
IDS = st.sampled_from([*(b"%d" % i for i in range(1, 10)), b"007"])
ODD_IDS = st.sampled_from([b"0", b"12", b"2147483647", b"9" * 25])


@st.composite
def ordinary_values(draw):
    """Decimal texts of at most 15 digits whose power of ten is at most 22 in size."""
    digits = draw(DIGITS)
    point = draw(st.integers(0, len(digits)))
    text = digits[:point] + "." + digits[point:] if draw(st.booleans()) else digits
    decimals = len(digits) - point if "." in text else 0
    if draw(st.booleans()):
        exponent = draw(st.integers(decimals - 22, 22))
        text += draw(st.sampled_from(["e{}", "E{}", "e{:+}", "E{:+03}"])).format(exponent)
    return (draw(st.sampled_from(["", "-", "+"])) + text).encode()


@st.composite
def lines(draw):
    labels = b",".join(draw(st.lists(IDS, max_size=4)))
    entries = draw(st.lists(st.tuples(BLANKS, IDS, ordinary_values()), max_size=4))
    row = labels + b"".join(blank + i + b":" + value for blank, i, value in entries)
    if draw(st.booleans()):
        row = row.lstrip()  # svmlight's row without labels
    return row + draw(st.sampled_from([b"\n", b"\n", b"\r\n", b" \n", b"\t\r\n"]))


JUNK = b"019:,. \t\r\n+-eE#q_\x0b\x00\xa0\xff"


@st.composite
def texts(draw):
    """Rows, then a few bytes put in, taken out or changed."""
    text = bytearray(b"".join(draw(st.lists(lines(), max_size=5))))
    if draw(st.booleans()):
        text = text.rstrip(b"\n")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        junk = draw(st.sampled_from([bytes([c]) for c in JUNK]) | ODD_IDS)
        text[at : at + draw(st.integers(0, 2))] = draw(st.sampled_from([b"", junk]))
    return bytes(text)


TEN = Ids(first=0, total=10)


def run(parser, text, n_rows=-1, features=TEN, labels=TEN):
    """What the parser returns, and the arrays it filled, as far as they are filled."""
    out = allocate(text)
    code, row, offset = parser(np.frombuffer(bytearray(text), np.uint8), 0, n_rows, features, labels, out)
    f, y = out.feature_ptr[row], out.label_ptr[row]
    filled = (out.feature_ptr[: row + 1], out.features[:f], out.values[:f].view(np.int32))
    return (code, row, offset), [*filled, out.label_ptr[: row + 1], out.labels[:y]]


def assert_twins_agree(text, *args):
    found, arrays = run(parse, text, *args)
    expected, expected_arrays = run(parse_python, text, *args)
    assert found == expected
    for a, b in zip(arrays, expected_arrays):
        np.testing.assert_array_equal(a, b)
    limits, out = (*args, *(-1, TEN, TEN)[len(args) :]), allocate(text)
    if parse_lines(np.frombuffer(bytearray(text), np.uint8), 0, *limits, out) is not NotImplemented:
        assert found[0] == OK
        for a, b in zip(out, arrays):
            np.testing.assert_array_equal(a.view(b.dtype)[: len(b)], b)
    return found[0]


ID_RANGES = st.builds(Ids, st.integers(0, 1), st.sampled_from([10, 13, 2**31 - 1, 2**31 - 1, 3, 0]))


@settings(deadline=None, max_examples=400)
@given(texts(), st.sampled_from([-1, -1, -1, -1, 5, 2, 0]), ID_RANGES, ID_RANGES)
def test_twins_agree_on_rows_and_on_damaged_rows(text, n_rows, features, labels):
    assert_twins_agree(text, n_rows, features, labels)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=40) | st.text("01:,. \t\r\n+-eE", max_size=40).map(str.encode))
def test_twins_agree_on_garbage(text):
    assert_twins_agree(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"0,1 0:1\n", "OK"),
        (b"-1 0:1\n", "BAD_LABEL"),
        (b"10 0:1\n", "LABEL_RANGE"),
        (b"0 0\n", "BAD_FEATURE"),
        (b"0 10:1\n", "FEATURE_RANGE"),
        (b"0 0:x\n", "BAD_VALUE"),
        (b"0 0:4e38\n", "VALUE_RANGE"),
        (b"\n\n\n0 0:1\n", "EXTRA_ROW"),
    ],
)
def test_twins_agree_on_every_code(text, code):
    assert assert_twins_agree(text, 1 if code == "EXTRA_ROW" else -1) == getattr(_parse, code)


@pytest.mark.parametrize("digits", [5000, 200_000])
def test_twins_agree_on_endless_numbers(digits):
    """Python's int refuses more than 4300 digits; a power of ten has no such limit."""
    zeros, nines = b"0" * digits, b"9" * digits
    for text in (
        nines,
        zeros + b"7",
        b" 0:" + nines,
        b" 0:." + zeros + b"1",
        b" 0:." + zeros + b"1e%d" % digits,
        b" 0:1" + zeros + b"e-%d" % digits,
        b" 0:1e" + nines,
        b" 0:0e" + nines,
        b" 0:1e-" + nines,
    ):
        assert_twins_agree(text)


def read_values(texts):
    """The values of one row, as the compiled parser reads them."""
    code_row_offset, arrays = run(parse, b"".join(b" 0:" + text for text in texts))
    assert code_row_offset[0] == OK
    return arrays[2].view(np.float32)


def as_python(texts):
    with np.errstate(over="ignore"):
        return np.array([float(text) for text in texts]).astype(np.float32)


@settings(deadline=None)
@given(st.lists(ordinary_values(), min_size=1))
def test_ordinary_values_round_as_in_python(texts):
    expected = as_python(texts)
    found = read_values(texts)
    np.testing.assert_array_equal(found.view(np.int32), expected.view(np.int32))


@settings(deadline=None)
@given(st.from_regex(_parse.VALUE.pattern.decode(), fullmatch=True, alphabet="0123456789+-.eE"))
def test_any_value_is_within_one_float32_of_python(text):
    expected = as_python([text])
    code_row_offset, arrays = run(parse, b" 0:" + text.encode())
    if np.isinf(expected[0]):
        assert code_row_offset[0] == _parse.VALUE_RANGE
    else:
        neighbours = np.nextafter(expected, np.float32([-np.inf, np.inf]))
        assert neighbours[0] <= arrays[2].view(np.float32)[0] <= neighbours[1]


@settings(deadline=None, max_examples=300)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float64_in_full_rounds_as_in_python(x):
    """repr has up to 17 digits, more than are exact, but far from the middle of two float32."""
    expected = as_python([repr(x)])
    if np.isfinite(expected[0]):
        assert read_values([repr(x).encode()])[0] == expected[0]


@pytest.mark.slow
@pytest.mark.parametrize("power", [*range(-52, -22), *range(23, 39)])
def test_six_digits_round_as_in_python_at_every_power(power):
    """The writer relies on it: it takes 6 digits when Python rounds them to the value."""
    texts = [b"%de%d" % (m, power) for m in range(1, 10**6)]
    expected = as_python(texts)
    finite = np.isfinite(expected)
    found = read_values([text for text, keep in zip(texts, finite) if keep])
    np.testing.assert_array_equal(found, expected[finite])
