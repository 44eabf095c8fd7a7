"""Vocabularies from files: one name per line, TSV, CSV, or SKOS (`skos`).

    light reading                           a name per line, taken as it stands
    http://example.org/p3<TAB>light reading<TAB>easy books          id, name, further names
    id,name,altLabel                        .csv: the same, with or without column names in the first line
    p3,light reading,easy books|beach books

Column names that a first line may have are in `COLUMNS`, each with a language as in `label_fi` or
`label@fi`. Files may be packed with gzip. Every error names the file and the line.
"""

import csv
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .._core.errors import DataFormatError
from .._core.files import PathLike, name_of, read_head, read_lines
from .._core.limits import DEFAULT_LIMITS, Limits
from ..text import read_names
from .build import Concept, build_vocabulary
from .languages import choose_names, languages_of
from .vocabulary import Finding, Vocabulary, without_brackets

COLUMNS = {
    "id": {"id", "ids", "uri", "iri", "url", "identifier", "concept", "subject"},
    "notation": {"notation", "code"},
    "name": {"name", "label", "preflabel", "preferred", "preferredlabel"},
    "further": {"altlabel", "alt", "alternative", "synonym", "synonyms", "hiddenlabel", "names", "labels"},
}
"""Column names by what they hold, without case, blanks, hyphens and prefixes such as `skos:`."""
SKOS_ENDINGS = {
    ".ttl": "turtle",
    ".n3": "turtle",
    ".nt": "turtle",
    ".rdf": "xml",
    ".xml": "xml",
    ".owl": "xml",
}
SEPARATOR = "|"
"""Separator of further names in one column."""


def read_vocabulary(
    path: PathLike, language: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Vocabulary:
    """Read a vocabulary.

    Parameters
    ----------
    path : str or path
        The file, plain or gzip: SKOS by its ending (.ttl, .nt, .rdf, .xml) or its first bytes; .csv is CSV;
        lines with a tab are TSV; all others have one name per line.
    language : str, default=None
        The language of preferred names, such as "fi"; where a concept has none, those without language,
        then English, then the first are taken. Further languages after a comma ("fi,sv") are tried next,
        and all their names are further names.
    limits : Limits, default=Limits()
        The longest line and the largest ratio of gzip that are read.

    Returns
    -------
    Vocabulary
        The labels. Its `findings` list what was unusual: names that several ids share, ids that occur
        twice, concepts without name.
    """
    languages = languages_of(language)
    form = skos_form(path)
    if form is not None:
        from .skos import read_skos

        concepts, findings = read_skos(path, form, languages, limits), ()
    else:
        concepts, findings = _read_table(path, languages, limits)
    vocabulary = build_vocabulary(concepts, ",".join(languages) or None, findings)
    if not len(vocabulary):
        raise DataFormatError(f"{name_of(path)}: the vocabulary has no name; expected at least one.")
    return vocabulary


def as_vocabulary(
    given: Any, language: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Vocabulary | None:
    """Return a vocabulary from a path, a `Vocabulary`, a list of names, a dict of names by id, or None.

    A value of the dict is a name, or a list of names, the preferred one first.
    """
    if isinstance(given, (str, os.PathLike)):
        return read_vocabulary(given, language, limits)
    if language is not None:
        raise ValueError(
            f"language={language!r} applies to a vocabulary in a file; leave it out, or pass a path."
        )
    if given is None:
        return None
    if isinstance(given, Vocabulary):
        if len(set(given.names)) != len(given):
            raise ValueError("the vocabulary has a name twice; expected the labels' names to be distinct.")
        return given
    if isinstance(given, Mapping):
        entries = [(str(id), value) for id, value in given.items()]
    elif isinstance(given, Iterable) and not isinstance(given, bytes):
        entries = [("", value) for value in given]
    else:
        raise ValueError(
            f"vocabulary is a {type(given).__name__}; expected a path, a Vocabulary, a list of names, or a "
            "dict of names by id."
        )
    return build_vocabulary(_given_concept(id, value) for id, value in entries)


def _given_concept(id, value):
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"vocabulary has a {type(value).__name__}, {str(value)[:40]!r}, where a name is expected: pass "
            "a list of names, or a dict of id -> name."
        )
    names = [name.strip() for name in names] or [""]
    return Concept((without_brackets(id),) if id.strip() else (), names[0], tuple(names[1:]))


def read_label_vocabulary(
    path: PathLike | None, d: int, limits: Limits = DEFAULT_LIMITS
) -> Vocabulary | None:
    """Read one label per line, in the order of d label ids: a name, or an id, a tab and names.

    Each line is a label of its own, also where names are the same. None without a file.
    """
    lines = read_names(path, d, "labels", limits)
    if lines is None:
        return None
    concepts = [_plain_concept([cell.strip() for cell in line.split("\t")]) for line in lines]
    return Vocabulary(
        tuple(concept.name for concept in concepts),
        tuple(concept.ids for concept in concepts),
        tuple(concept.further_names for concept in concepts),
    )


def skos_form(path: PathLike) -> str | None:
    """Return rdflib's name of the format, by the ending of the file's name or its first bytes, or None."""
    name = os.fspath(path).lower().removesuffix(".gz")
    for ending, form in SKOS_ENDINGS.items():
        if name.endswith(ending):
            return form
    head = read_head(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith((b"<?xml", b"<rdf:RDF")):
        return "xml"
    return "turtle" if re.match(rb"@prefix\s|@base\s|PREFIX\s+\w*:\s*<", head) else None


# Lines, TSV and CSV: rows of cells, then concepts.


def _read_table(path, languages, limits):
    """(concepts, findings) of a file without SKOS."""
    lines = read_lines(path, limits)
    for number, line in enumerate(lines, 1):
        if len(line) > limits.line_bytes:
            raise DataFormatError(f"{name_of(path)}, line {number}: {limits.long_line('this line')}")
    if os.fspath(path).lower().removesuffix(".gz").endswith(".csv"):
        rows = _csv_rows(path, lines)
    else:
        rows = [line.split("\t") for line in lines if line.strip()]
    rows = [[cell.strip() for cell in row] for row in rows]
    header = _header(rows[0]) if rows and len(rows[0]) > 1 else None
    if header is None:
        return [_plain_concept(row) for row in rows], ()
    unused = [cell for cell, kind in zip(rows[0], header) if kind is None and cell]
    found = Finding.of("columns of the vocabulary that are not used", unused)
    concepts = [_headed_concept(row, header, languages) for row in rows[1:]]
    return concepts, (found,) if unused else ()


def _csv_rows(path, lines):
    """The rows of a CSV file, separated by commas or, if its first line has no comma, semicolons."""
    csv.field_size_limit(2**31 - 1)  # lines are bounded already
    first = lines[0] if lines else ""
    mark = ";" if ";" in first and "," not in first else ","
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=mark, strict=True)
    rows, began = [], 1
    try:
        for row in reader:
            rows.append(row)
            began = reader.line_num + 1
    except csv.Error as error:
        raise DataFormatError(
            f"{name_of(path)}, line {began}: the quotes of this row do not match ({error}); expected a "
            'field in quotes if it holds commas or line ends, and a quote inside as "".'
        ) from None
    return [row for row in rows if any(cell.strip() for cell in row)]


def _header(cells):
    """[(kind, language) or None per column] if the cells are column names, else None."""
    kinds = [_column(cell) for cell in cells]
    found = {kind[0] for kind in kinds if kind is not None}
    if "name" in found and (found & {"id", "notation"} or None not in kinds):
        return kinds
    return None


def _column(cell):
    """(kind, language or "") of a column name, or None."""
    name, _, language = re.sub(r"^\w+:(?=\w)", "", cell.strip().casefold()).partition("@")
    if not language and (match := re.fullmatch(r"(\w+?)_([a-z]{2,3}(-[a-z0-9]+)*)", name)):
        name, language = match[1], match[2]
    for kind, names in COLUMNS.items():
        if re.sub(r"[\s_-]", "", name) in names:
            return kind, language
    return None


def _plain_concept(row):
    """Columns: id, name, further names; or the name alone."""
    if len(row) == 1:
        return Concept((), row[0])
    further = [name.strip() for cell in row[2:] for name in cell.split(SEPARATOR)]
    return Concept((without_brackets(row[0]),) if row[0] else (), row[1], tuple(filter(None, further)))


def _headed_concept(row, header, languages):
    cells: dict[str, list[tuple[str, str]]] = {kind: [] for kind in COLUMNS}
    for cell, column in zip(row, header):
        if column is not None and cell:
            kind, language = column
            parts = cell.split(SEPARATOR) if kind == "further" else [cell]
            cells[kind] += [(part.strip(), language) for part in parts if part.strip()]
    ids = [without_brackets(cell) for kind in ("id", "notation") for cell, _ in cells[kind]]
    return Concept(tuple(ids), *choose_names(cells["name"], cells["further"], languages))
