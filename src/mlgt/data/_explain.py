"""Messages for rows that cannot be parsed: what was wrong, what was expected, how to fix it.

The parser in `mlgt.data._parse` only returns a code and a place; `explain` looks at the token there.
"""

import re
from typing import NamedTuple

from . import _parse

MAX_SHOWN = 40  # length of a token in a message
_RENUMBER = "number them with whole numbers."


class Axis(NamedTuple):
    """The labels or the features of a file: their ids, and where their number comes from."""

    name: str  # "label" or "feature"
    ids: _parse.Ids
    source: str | None  # "the header", "n_labels=3", or None: the largest id in the file


def quote(token: bytes) -> str:
    """Put the token in quotes, cut to MAX_SHOWN characters."""
    text = token.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "...")


def explain(code: int, line: bytes, column: int, n_rows: int, features: Axis, labels: Axis) -> str:
    """Return the message for `code`; the offending token begins at byte `column` of `line`."""
    if code == _parse.EXTRA_ROW:
        return (
            f"the header counts {n_rows} rows, but here is one more; expected the end of the "
            "file; correct the header, or remove what follows its last row."
        )
    line = line.removesuffix(b"\r")
    token = _first_token(line[column:])
    if b"\r" in token:
        return (
            f"a carriage return inside the line, in {quote(token)}; expected lines that end in LF "
            "or CRLF; convert the line ends."
        )
    if b"#" in token:
        return f"a comment, {quote(token)}; expected labels and features only; remove it."
    if code == _parse.BAD_LABEL:
        return _bad_label(token.partition(b",")[0], _first_token(line))
    if code == _parse.LABEL_RANGE:
        return _out_of_range(token.partition(b",")[0], labels)
    feature, _, value = token.partition(b":")
    if code == _parse.BAD_FEATURE:
        return _bad_feature(feature, token)
    if code == _parse.FEATURE_RANGE:
        return _out_of_range(feature, features)
    return _bad_value(code, value, feature, token)


def _first_token(line):
    return re.split(rb"[ \t]", line, maxsplit=1)[0]


def format_id(digits: bytes) -> str:
    """Return an id without quotes and leading zeros."""
    return quote(digits.lstrip(b"0") or b"0")[1:-1]


def _bad_label(label, field):
    if not label:
        return (
            f"an empty label in {quote(field)}; expected ids with one comma between two of them "
            "and no blank; remove the extra comma or blank."
        )
    return f"label {quote(label)} {_not_an_id(label)}; expected 0, 1, 2, ...; {_RENUMBER}"


def _bad_feature(feature, token):
    if b":" not in token:
        return (
            f"{quote(token)} has no colon; expected feature:value. Labels come first in the line, "
            "with commas and no blanks between them; a header is the first line and has three "
            "counts, `n p d`."
        )
    if feature == b"qid":
        return f"a query id, {quote(token)}; expected feature:value; remove the query ids."
    if not feature:
        return f"{quote(token)} has no feature id; expected feature:value; add the id."
    return (
        f"feature {quote(feature)} {_not_an_id(feature)}; expected feature:value with ids 0, 1, "
        f"2, ...; {_RENUMBER}"
    )


def _not_an_id(token):
    if re.fullmatch(rb"-[0-9]+", token):
        return "is negative"
    if _parse.VALUE.fullmatch(token):
        return "is not written as a whole number without sign"
    return "is not a number"


def _out_of_range(digits, axis):
    name, (first, total), source = axis
    shown = format_id(digits)
    number = int(shown) if len(shown) < 20 else None
    if number is not None and number < first:
        return (
            f"{name} {shown} is below first_{name}={first}, the smallest id expected. If yours "
            f"start at 0, pass first_{name}=0."
        )
    if source is None:
        return (
            f"{name} {shown} is too large; expected ids up to {first + total - 1}; number the "
            f"{name}s from {first} without gaps."
        )
    if number == total and first == 0:
        fix = f"If yours start at 1, pass first_{name}=1."
    else:
        fix = f"Correct the id, or {source}."
    return f"{name} {shown} is out of range for {total} {name}s, whose ids start at {first}. {fix}"


def _bad_value(code, value, feature, token):
    if not value:
        return (
            f"{quote(token)} has no value; expected feature:value without a blank; add the value "
            "or leave out the feature."
        )
    if code == _parse.VALUE_RANGE:
        problem, fix = "is too large for float32", "scale the feature down"
    elif value.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
        problem, fix = "is not finite", "replace it, or leave out the feature"
    else:
        problem, fix = "is not a number", "correct it"
    return (
        f"the value {quote(value)} of feature {format_id(feature)} {problem}; expected a number like "
        f"1, -0.5 or 2e-3, up to 3.4e38; {fix}."
    )
