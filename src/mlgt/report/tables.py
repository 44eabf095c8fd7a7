"""Predictions as text: lines, CSV or JSON lines. The latter two keep the columns of the input.

lines    cats:0.93	dogs:0.21                     names with a colon: devel::lang 0.93
csv      id,text,predicted,probabilities           one row per row of the input
jsonl    {"id": 7, "text": "...", "predicted": [{"id": 0, "name": "cats", "probability": 0.93}]}
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

Fields = Sequence[tuple[str, Any]]
"""The columns of a row of the input, by name."""
SEPARATORS = (";", "|", "¦", "\t", "\n")
"""Separators of labels in one cell, in the order of preference; a name that has all of them has no form."""
PREDICTED = "predicted"


class Given(NamedTuple):
    """A label that a row gets."""

    id: int
    name: str
    value: float
    ids: Sequence[str] = ()
    """Its ids in the vocabulary."""


Format = Callable[[Sequence[Fields], Sequence[Sequence[Given]]], str]
"""Rows of the input and their labels -> text."""


def format_ids(fields: Sequence[Fields], rows: Sequence[Sequence[Given]]) -> str:
    """Return a line `id:score id:score ...` per row."""
    return "".join(" ".join(f"{label.id}:{label.value:.6g}" for label in row) + "\n" for row in rows)


def lines_of_names(names: Iterable[Any]) -> Format:
    """Return the format of lines `name:score`, separated by tabs; `name score` if a name has a colon."""
    mark = " " if any(":" in str(name) for name in names) else ":"

    def format_names(fields: Sequence[Fields], rows: Sequence[Sequence[Given]]) -> str:
        shown = ([f"{_on_one_line(label.name)}{mark}{label.value:.6g}" for label in row] for row in rows)
        return "".join("\t".join(row) + "\n" for row in shown)

    return format_names


def json_lines(value: str) -> Format:
    """Return the format of JSON lines; `value` is the key of a label's probability or score."""

    def format_json(fields: Sequence[Fields], rows: Sequence[Sequence[Given]]) -> str:
        return "".join(json_line(own, row) for own, row in zip(fields, rows))

    def json_line(own, row):
        labels = [
            {"id": label.id, "name": label.name, value: label.value}
            | ({"ids": list(label.ids)} if label.ids else {})
            for label in row
        ]
        facts = {**dict(own), free_name(PREDICTED, [name for name, _ in own]): labels}
        return json.dumps(facts, ensure_ascii=False, default=str) + "\n"

    return format_json


class CsvTable:
    """The format of CSV, with the columns of the first row; `left_out` names columns of others."""

    def __init__(self, values: str, separator: str, delimiter: str = ","):
        self.values, self.separator, self.delimiter = values, separator, delimiter
        self.left_out: set[str] = set()
        self._header: list[str] | None = None

    def __call__(self, fields: Sequence[Fields], rows: Sequence[Sequence[Given]]) -> str:
        out = io.StringIO()
        table = csv.writer(out, delimiter=self.delimiter, lineterminator="\n")
        for own, row in zip(fields, rows):
            if self._header is None:
                self._header = [name for name, _ in own]
                table.writerow(
                    [*self._header, *(free_name(name, self._header) for name in (PREDICTED, self.values))]
                )
            names = self.separator.join(label.name for label in row)
            values = self.separator.join(format_value(label.value) for label in row)
            table.writerow([*self._cells(own), names, values])
        return out.getvalue()

    def _cells(self, own):
        if [name for name, _ in own] == self._header:
            return [to_cell(value, self.separator) for _, value in own]
        found, header = dict(own), self._header or []
        self.left_out |= found.keys() - set(header)
        return [to_cell(found.get(name), self.separator) for name in header]


class ErrorRow(NamedTuple):
    """A row of the input whose labels are not those that it gets."""

    row: int
    fields: Fields
    true: Sequence[str]
    given: Sequence[Given]

    @property
    def wrong(self) -> list[str]:
        """The given labels that are not true."""
        return [label.name for label in self.given if label.name not in self.true]

    @property
    def missed(self) -> list[str]:
        """The true labels that are not given."""
        given = {label.name for label in self.given}
        return [name for name in self.true if name not in given]


def errors_table(
    errors: Sequence[ErrorRow], labels: str, values: str, separator: str, delimiter: str = ","
) -> str:
    """Return CSV to correct by hand: the columns of the file, then what the model says.

    `labels` is the column of the true labels, `values` names that of the probabilities.
    """
    out = io.StringIO()
    table = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    header = list(dict.fromkeys(name for error in errors for name, _ in error.fields))
    more = [free_name(name, header) for name in (PREDICTED, values, "wrong", "missed", "row")]
    table.writerow([*header, *more])
    for error in errors:
        own = dict(error.fields) | {labels: list(error.true)}
        given = separator.join(label.name for label in error.given)
        numbers = separator.join(format_value(label.value) for label in error.given)
        found = [given, numbers, separator.join(error.wrong), separator.join(error.missed), error.row]
        table.writerow([*(to_cell(own.get(name), separator) for name in header), *found])
    return out.getvalue()


def to_cell(value: Any, separator: str) -> str:
    """Return a value as the text of a cell: lists of texts joined, other structures as JSON."""
    if value is None:
        return ""
    if isinstance(value, list) and all(
        isinstance(entry, str) and separator not in entry for entry in value
    ):
        return separator.join(value)
    if isinstance(value, (list, dict, bool)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a column name that is not taken: `name`, or `name_2`, `name_3`, ..."""
    taken, number, found = set(taken), 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def free_separator(names: Iterable[Any], wanted: str) -> str:
    """Return a separator of labels that is in no name: `wanted` if possible."""
    joined = "\0".join(str(name) for name in names)
    for mark in (wanted, *SEPARATORS):
        if mark not in joined:
            return mark
    raise ValueError(
        f"the names of labels contain each of {' '.join(map(repr, SEPARATORS))}, so no separator is left "
        "for a table; pass --format jsonl."
    )


def format_value(value: float) -> str:
    """Format a probability or score for a table."""
    return f"{value:.4f}"


def _on_one_line(name):
    return " ".join(name.split())
