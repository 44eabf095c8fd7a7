"""Texts and their label names from files: JSON lines, CSV, TSV, Parquet, or one text per line.

    {"text": "...", "labels": ["...", "..."]}          JSON lines: one object per line
    text,labels                                        CSV, TSV: column names in the first line,
    "...",law;history                                  the labels in one column, with a separator

Columns are chosen by name (`Columns`); several columns of text are joined. Files may be packed with gzip;
`-` is standard input. Memory does not grow with the file, and `batches` returns lines of a pipe as soon as
they arrive. Every error is a `DataFormatError` that names the file and the line.
"""

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from .._core.errors import DataFormatError, MLGTError
from .._core.files import (
    CHECK_BYTES,
    STANDARD_INPUT,
    PathLike,
    check_room,
    name_of,
    not_utf8,
    open_bytes,
    read_bytes,
    read_head,
)
from .._core.limits import DEFAULT_LIMITS, Limits
from ._quotes import QuotedLines

FORM_OF_ENDING = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
CHUNK_BYTES = 1 << 18
DEFAULT_SEPARATOR = ";"
"""Separator of labels in a column of a table."""

MAX_SHOWN = 300  # length of a list of columns in a message
TOO_MUCH_JSON = "a number of thousands of digits, or thousands of brackets in each other"
QUOTES_RULE = 'expected a field in quotes if it holds separators or line ends, and a quote inside as "".'
LINE_ENDS_RULE = (
    "a carriage return (CR) stands alone in this row, as in files with old Mac line ends; expected "
    "lines that end in LF or CR LF. Convert the file (tr '\\r' '\\n' < OLD > NEW), or put "
    "the field in quotes."
)


class Record(NamedTuple):
    """A text and its labels, None if they are not read."""

    text: str
    labels: list[str] | None


class FullRecord(Record):
    """A record with all columns of its row, by name, in their order."""

    fields: list[tuple[str, Any]]

    @classmethod
    def make(cls, text: str, labels: list[str] | None, fields: Iterable[tuple[str, Any]]) -> "FullRecord":
        record = cls(text, labels)
        record.fields = list(fields)
        return record


@dataclass(frozen=True)
class Columns:
    """Names of the columns, or keys of JSON objects, that hold texts and labels.

    Several columns of text are joined. A separator of None is `;` in tables and a list in JSON lines.
    """

    text: tuple[str, ...] = ("text",)
    labels: str = "labels"
    separator: str | None = None


def recognise(path: PathLike, columns: Columns | None = None) -> str | None:
    """Recognise the format of a file of texts by the ending of its name, else by its content; None if it is
    another one. A table without an ending is recognised by the names of its columns."""
    name = os.fspath(path).lower().removesuffix(".gz")
    for ending, form in FORM_OF_ENDING.items():
        if name.endswith(ending):
            return form
    head = read_head(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"{"):
        return "jsonl"
    first = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
    wanted = {*(columns or Columns()).text}
    for form, mark in (("tsv", "\t"), ("csv", ",")):
        if wanted <= {field.strip(' "') for field in first.split(mark)}:
            return form
    return None


def looks_like_rows(path: PathLike) -> bool:
    """Return whether a file begins like rows of features: `3 5 4` and `0,2 0:0.5 3:1.25`, or the latter."""
    return re.match(rb"(\d+ \d+ \d+ *\r?\n)?(\d+(,\d+)*)? +\d+:[-\d.]", read_head(path)) is not None


class RecordFile:
    """The records of a file, to iterate over; form "lines" is one text per line.

    With `keep`, they are `FullRecord`s. `delimiter` is that of the table, once it is read.
    """

    def __init__(
        self,
        path: PathLike,
        form: str,
        columns: Columns | None = None,
        *,
        labelled: bool = False,
        keep: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ):
        self.path, self.form, self.labelled, self.limits = path, form, labelled, limits
        self.keep = keep
        self.delimiter = ","
        self.columns = columns or Columns()
        self.name = name_of(path)
        self._wanted = [*self.columns.text, *([self.columns.labels] if labelled else [])]
        self._more_is_there = False

    def __iter__(self) -> Iterator[Record]:
        readers = {"jsonl": self._read_json, "lines": self._read_lines, "parquet": self._read_parquet}
        return readers.get(self.form, self._read_table)()

    def read(self) -> list[Record]:
        """Return all records."""
        return list(self.checked())

    def checked(self, on_disk: bool = False) -> Iterator[Record]:
        """Iterate over the records; raise if there is none, or if they would fill the memory, unless they
        go to disk."""
        record, size, checked = None, 0, 0
        for record in self:
            size += len(record.text)
            if size - checked > CHECK_BYTES and not on_disk:
                checked = size
                check_room(self.path, size)
            yield record
        if record is None:
            raise DataFormatError(f"{self.name}: the file has no texts; expected at least one.")

    def batches(self, size: int = 1024) -> Iterator[list[Record]]:
        """Iterate over lists of records, without waiting for more than have arrived in a pipe."""
        batch = []
        for record in self:
            batch.append(record)
            if len(batch) == size or not self._more_is_there:
                yield batch
                batch = []
        if batch:
            yield batch

    # One reader per format.

    def _read_lines(self):
        for _, line in self._lines():
            text = line.removesuffix("\n").removesuffix("\r")
            yield FullRecord.make(text, None, [("text", text)]) if self.keep else Record(text, None)

    def _read_json(self):
        for number, line in self._lines():
            if not line.strip():
                continue
            where = f"line {number}"
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as error:
                problem = str(error) if isinstance(error, json.JSONDecodeError) else TOO_MUCH_JSON
                if number == 1 and line.lstrip().startswith("["):
                    problem = "a list over many lines; `jq -c '.[]'` makes it one line each"
                raise self._error(
                    where, f"this is not JSON ({problem}); expected {self._example()} on each line."
                ) from None
            if not isinstance(found, dict):
                message = f"this is {_describe(found)}; expected {self._example()} on each line."
                raise self._error(where, message)
            if "\\ud" in line or "\\uD" in line:
                self._check_surrogates(where, found)
            yield self._record(where, found, found.items())

    def _read_table(self):
        csv.field_size_limit(2**31 - 1)  # `QuotedLines` has the limit
        numbered = self._lines()
        top = next(numbered, (1, ""))
        lines = QuotedLines(chain([top], numbered), self.limits.line_bytes)
        self.delimiter = self._delimiter(top[1])
        rows = csv.reader(lines, delimiter=self.delimiter, strict=True)
        header = None
        while True:
            first = lines.begin_row()
            try:
                row = next(rows, None)
            except csv.Error as error:
                raise self._bad_row(first, lines, error) from None
            if row is None:
                break
            if not row:  # an empty line
                continue
            where = f"line {first}"
            if header is None:
                header = [name.strip() for name in row]
                self._check_columns(header)
            else:
                if len(row) != len(header):
                    raise self._error(
                        where, f"{len(row)} fields; expected {len(header)}, as in the first line. A field "
                        "that holds a separator or a line end must be in quotes.",
                    )  # fmt: skip
                yield self._record(where, dict(zip(header, row)), zip(header, row))
        if header is None:
            raise DataFormatError(f"{self.name} is empty; expected a line of column names, then rows.")

    def _read_parquet(self):
        try:
            from pyarrow import ArrowException, parquet
        except ImportError:
            raise MLGTError(
                f"Reading {self.name} needs pyarrow, which is not installed: pip install pyarrow. Or write "
                "the table as CSV or JSON lines."
            ) from None
        unreadable = (ArrowException, OSError, ValueError, OverflowError)  # what Arrow raises
        whole = self.path == STANDARD_INPUT  # Parquet begins at the end of the file
        opened = open_bytes(self.path, self.limits) if not whole else nullcontext(self._in_memory())
        with opened as source:
            try:
                table = parquet.ParquetFile(source)
                self._check_columns(table.schema_arrow.names)
                batches, number = table.iter_batches(1024, columns=None if self.keep else self._wanted), 0
                while (batch := next(batches, None)) is not None:
                    for i, found in enumerate(self._python_rows(batch, number, unreadable)):
                        number, self._more_is_there = number + 1, i < batch.num_rows - 1
                        yield self._record(f"row {number}", found, found.items())
            except DataFormatError:
                raise
            except unreadable as error:
                raise DataFormatError(
                    f"{self.name} is not a complete Parquet file ({_first_line(error)}); write it again."
                ) from None

    def _in_memory(self):
        return io.BytesIO(read_bytes(self.path, self.limits))

    def _python_rows(self, batch, before, unreadable):
        """The rows of a Parquet batch; raises with the first that has no form in Python."""
        try:
            return batch.to_pylist()
        except unreadable:
            for i in range(batch.num_rows):
                for name in batch.schema.names:
                    try:
                        batch.column(name)[i].as_py()
                    except unreadable as error:
                        where, kind = f"row {before + i + 1}", batch.schema.field(name).type
                        raise self._error(
                            where, f"{name!r} has a value of type {kind} that cannot be read "
                            f"({_first_line(error)}); expected text in UTF-8, or lists of it.",
                        ) from None  # fmt: skip
            raise

    def _delimiter(self, header):
        """Return a tab, a comma, or a semicolon if that separates the names, as in many spreadsheets."""
        if self.form == "tsv":
            return "\t"
        names = {name.strip(' "\r\n') for name in header.split(";")}
        return ";" if len(names) > 1 and {*self.columns.text} <= names and "," not in header else ","

    # Shared by the readers.

    def _lines(self):
        """Yield (number, decoded line with its end); `_more_is_there` is True if another has arrived."""
        number, parts, size = 0, [], 0
        with open_bytes(self.path, self.limits) as source:
            while chunk := source.read1(CHUNK_BYTES):
                lines = chunk.split(b"\n")
                parts.append(lines[0])
                size += len(lines[0])
                if size > self.limits.line_bytes:
                    raise self._error(f"line {number + 1}", self.limits.long_line("this line"))
                if len(lines) == 1:
                    continue
                lines[0], parts = b"".join(parts), [lines.pop()]
                size = len(parts[0])
                for i, line in enumerate(lines):
                    number, self._more_is_there = number + 1, i < len(lines) - 1
                    yield number, self._decode(number, line + b"\n") if line else "\n"
            self._more_is_there = False
            if last := b"".join(parts):
                yield number + 1, self._decode(number + 1, last)

    def _decode(self, number, line):
        try:
            return line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            if number == 1 and line.startswith(b"PK\3\4"):
                raise DataFormatError(
                    f"{self.name} is a spreadsheet or an archive (zip); expected text. Save the table as "
                    "CSV in UTF-8, or unpack it."
                ) from None
            raise self._error(f"line {number}", not_utf8(error)) from None

    def _bad_row(self, first, lines, error):
        """The error about a row of a table, from line `first` on, whose quotes or line ends are wrong."""
        if "new-line character" in str(error):
            return self._error(f"line {first}", LINE_ENDS_RULE)
        at_end = lines.too_long or "end of data" in str(error)
        opened, rule = lines.opened if at_end else lines.opened_before, QUOTES_RULE
        if lines.too_long:
            rule = self.limits.long_line("this row") + f" {QUOTES_RULE.capitalize()}"
        if opened is not None:
            message = f"the quote that opens here is not closed ({error}); {rule}"
            return self._error(f"line {opened}", message)
        return self._error(f"line {first}", f"the quotes of this row do not match ({error}); {rule}")

    def _check_surrogates(self, where, found):
        """Raise if a JSON text has half of a surrogate pair, which no UTF-8 file can hold."""
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):x}"
            message = f"{half} is half of a surrogate pair, no character; expected both halves, or neither."
            raise self._error(where, message) from None

    def _record(self, where, found, fields):
        text = [self._text(where, found, name) for name in self.columns.text]
        if not any(name in found for name in self.columns.text):
            raise self._error(where, self._no_column(self.columns.text[0], found))
        labels = self._labels(where, found) if self.labelled else None
        joined = "\n".join(part for part in text if part)
        return FullRecord.make(joined, labels, fields) if self.keep else Record(joined, labels)

    def _text(self, where, found, name):
        value = found.get(name)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        raise self._error(where, f"{name!r} is {_describe(value)}; expected a text.")

    def _labels(self, where, found):
        name = self.columns.labels
        if name not in found:
            raise self._error(where, self._no_column(name, found))
        value, separator = found[name], self.columns.separator
        if isinstance(value, str) and (separator or self.form != "jsonl"):
            value = value.split(separator or DEFAULT_SEPARATOR)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(v, (str, int, float)) for v in value):
            hint = "; or pass a label separator" if isinstance(value, str) else ""
            raise self._error(
                where,
                f'{name!r} is {_describe(value)}; expected a list of names, like ["law", "history"]{hint}.',
            )
        return [label for label in (str(v).strip() for v in value) if label]

    def _check_columns(self, header):
        for name in self._wanted:
            if name not in header:
                raise self._error("line 1", self._no_column(name, header))

    def _no_column(self, name, columns):
        what = "labels" if name == self.columns.labels and name not in self.columns.text else "text"
        names = ", ".join(" ".join(str(column).split()) for column in columns) or "nothing"
        names = names if len(names) <= MAX_SHOWN else names[:MAX_SHOWN] + " ..."
        near = {str(known).casefold(): known for known in columns}.get(name.casefold())
        choose = f"Choose by name where the {what} {'are' if what == 'labels' else 'is'}: {what}=NAME."
        return f"there is no {name!r} here, only {names}. " + (f"Is it {near!r}? " if near else "") + choose

    def _example(self):
        labels = f', "{self.columns.labels}": ["...", "..."]' if self.labelled else ""
        texts = ", ".join(f'"{name}": "..."' for name in self.columns.text)
        return f"an object like {{{texts}{labels}}}"

    def _error(self, where, what):
        return DataFormatError(f"{self.name}, {where}: {what}")


def _first_line(error):
    return str(error).strip().partition("\n")[0][:200]


def _describe(value: Any) -> str:
    kinds = {"str": "a text", "dict": "an object", "bool": "true or false", "NoneType": "nothing"}
    name = type(value).__name__
    return kinds.get(name, f"a {name}")
