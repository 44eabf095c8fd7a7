"""The definition of `mlgt.data._parse.parse`: line by line, with regular expressions and `float`."""

import re

import numpy as np

from mlgt.data._parse import (
    BAD_FEATURE,
    BAD_LABEL,
    BAD_VALUE,
    EXTRA_ROW,
    FEATURE_RANGE,
    LABEL_RANGE,
    OK,
    VALUE,
    VALUE_RANGE,
)

TOKEN = re.compile(rb"[^ \t]+")
ID = re.compile(rb"[0-9]+")


def parse_python(text, start, n_rows, features, labels, out):
    lines = text[start:].tobytes().split(b"\n")
    if not lines[-1]:
        lines.pop()  # the last newline ends a row and begins none
    row = n_features = n_labels = 0
    for line in lines:
        line_start, start = start, start + len(line) + 1
        tokens = list(TOKEN.finditer(line.removesuffix(b"\r")))
        if row == n_rows:
            if tokens:
                return EXTRA_ROW, row, line_start + tokens[0].start()
            continue  # blank lines after the last row

        if tokens and tokens[0].start() == 0 and b":" not in tokens[0].group():
            offset = line_start
            for label in tokens.pop(0).group().split(b","):
                if not ID.fullmatch(label):
                    return BAD_LABEL, row, offset
                index = _to_int(label) - labels.first
                if not 0 <= index < labels.total:
                    return LABEL_RANGE, row, offset
                out.labels[n_labels] = index
                n_labels += 1
                offset += len(label) + 1

        for token in tokens:
            offset = line_start + token.start()
            feature, colon, value = token.group().partition(b":")
            if not (colon and ID.fullmatch(feature)):
                return BAD_FEATURE, row, offset
            index = _to_int(feature) - features.first
            if not 0 <= index < features.total:
                return FEATURE_RANGE, row, offset
            if not VALUE.fullmatch(value):
                return BAD_VALUE, row, offset
            with np.errstate(over="ignore", under="ignore"):
                number = np.float32(float(value))
            if np.isinf(number):
                return VALUE_RANGE, row, offset
            out.features[n_features] = index
            out.values[n_features] = number
            n_features += 1

        row += 1
        out.label_ptr[row] = n_labels
        out.feature_ptr[row] = n_features
    return OK, row, start


def _to_int(digits):
    """Convert digits, cut to a number above every id: `int` refuses thousands of digits."""
    return int(digits.lstrip(b"0")[:11] or b"0")
