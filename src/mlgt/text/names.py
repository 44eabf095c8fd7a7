"""Lists of label names to Y (n, d), and checks of texts and lists that users pass."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import DataFormatError, MissingTextWarning
from .._core.files import PathLike, read_lines
from .._core.limits import DEFAULT_LIMITS, Limits
from .._core.texts import TextsOnDisk

SEPARATORS = (";", "|", ",", "\t")
"""Marks that may separate labels in one text, the usual ones first."""
MIN_JOINED_ROWS = 10
"""Rows from which on a separator is suspected."""
MIN_REUSE = 3
"""Names in which the parts between commas occur on average if commas separate labels."""
ONE_LIST_PER_ROW = 'expected a list of names per row, like [["law", "history"], ["law"]]'


def check_texts(texts: Any) -> Sequence[str]:
    """Return a list of texts from any iterable of them; None and NaN become empty texts, with a warning.
    Texts on disk stay there."""
    if isinstance(texts, TextsOnDisk):
        return texts
    _check_one_column("texts", texts)
    if isinstance(texts, (str, bytes)):
        raise ValueError('texts is one text; expected a list of them: pass ["..."].')
    found, missing = [], 0
    for i, text in enumerate(texts):
        if not isinstance(text, str) and not _missing(text):
            raise ValueError(
                f"texts has a {type(text).__name__} at position {i}, {_shortened(text)}; expected each to "
                "be a str."
            )
        missing += not isinstance(text, str)
        found.append(text if isinstance(text, str) else "")
    if missing:
        warnings.warn(
            f"{missing} of {len(found)} texts are missing (None or NaN) and count as empty; drop these "
            'rows or pass "" to silence this.',
            MissingTextWarning,
            stacklevel=3,
        )
    return found


def check_label_lists(lists: Any) -> list[list[str]]:
    """Return the distinct label names of each row, from any iterable of iterables; None and NaN have none.

    Names are stripped, empty ones are dropped, and other types are converted to str.
    """
    _check_one_column("labels", lists)
    if isinstance(lists, str):
        raise ValueError(f"labels is one text, {_shortened(lists)}; {ONE_LIST_PER_ROW}.")
    rows, found = list(lists), []
    for i, labels in enumerate(rows):
        if isinstance(labels, (str, bytes)) or not (isinstance(labels, Iterable) or _missing(labels)):
            raise ValueError(
                f"labels has a {type(labels).__name__} at position {i}, {_shortened(labels)}; "
                f"{ONE_LIST_PER_ROW}. {_advice(rows, series=hasattr(lists, 'str'))}"
            )
        names = () if _missing(labels) else (str(label).strip() for label in labels if not _missing(label))
        found.append([name for name in dict.fromkeys(names) if name])
    return found


def check_pairs(texts: Any, labels: Any) -> tuple[Sequence[str], list[list[str]]]:
    """Return texts and lists of labels, one list per text."""
    texts, lists = check_texts(texts), check_label_lists(labels)
    if len(texts) != len(lists):
        raise ValueError(
            f"There are {len(texts)} texts and {len(lists)} lists of labels; expected as many: each text "
            "needs the list of its labels, which may be empty."
        )
    return texts, lists


def _advice(rows, series):
    """Say how to make lists of rows that are texts or single labels."""
    texts = [row for row in rows if isinstance(row, str)]
    mark = probable_separator(texts) or next(
        (m for m in SEPARATORS if any(m in row for row in texts)), None
    )
    if mark is None or not texts:
        return "With one label per row, pass [[label] for label in labels]."
    split = f"labels.str.split({mark!r})" if series else f"[row.split({mark!r}) for row in labels]"
    return f"Split what is joined: {split}."


def probable_separator(names: Sequence[str]) -> str | None:
    """Return the mark that probably separates labels within these names, each that of one row; or None.

    It is in a quarter of the names or more. A comma may belong to a name: splitting must then make less
    than half as many distinct ones, or parts that occur in MIN_REUSE distinct names on average.
    """
    distinct = set(names)
    for mark in SEPARATORS:
        if len(names) < MIN_JOINED_ROWS or sum(mark in name for name in names) < len(names) / 4:
            continue
        found = [part.strip() for name in distinct for part in name.split(mark)]
        parts = len(set(found))
        if mark != "," or parts < len(distinct) / 2 or len(found) >= MIN_REUSE * parts:
            return mark
    return None


def joining_mark(names: Iterable[str], known: AbstractSet[str]) -> str | None:
    """Return the mark at which half of these new names or more fall into known ones; or None."""
    new = sorted(names)
    for mark in SEPARATORS:
        parts = [{part.strip() for part in name.split(mark)} for name in new if mark in name]
        if new and sum(some <= known for some in parts) >= len(new) / 2:
            return mark
    return None


def label_matrix(
    lists: list[list[str]], names: Iterable[str] | None = None
) -> tuple[sp.csr_array, list[str]]:
    """Return Y (n, d) and the names of its columns: those of `names` first, then the others, sorted."""
    known = {name: column for column, name in enumerate(() if names is None else names)}
    new = sorted({name for labels in lists for name in labels} - known.keys())
    known |= {name: column for column, name in enumerate(new, len(known))}
    indptr = np.cumsum([0, *map(len, lists)])
    indices = np.array([known[name] for labels in lists for name in labels], np.int32)
    ones = np.ones(len(indices), np.float32)
    Y = sp.csr_array((ones, indices, indptr), shape=(len(lists), len(known)))
    Y.sort_indices()
    return Y, list(known)


def read_names(
    path: PathLike | None, count: int, what: str = "labels", limits: Limits = DEFAULT_LIMITS
) -> list[str] | None:
    """Read the names of `count` labels or features, one per line; None without a file."""
    if path is None:
        return None
    names = read_lines(path, limits)
    if len(names) != count:
        raise DataFormatError(
            f"{path} has {len(names)} lines, but there are {count} {what}; expected one name per line, in "
            f"the order of the {what[:-1]} ids."
        )
    return names


def _check_one_column(name, values):
    if isinstance(values, AbstractSet):
        raise ValueError(
            f"{name} is a {type(values).__name__}, which has no order, so its entries belong to no row; "
            "expected a list with one entry per row."
        )
    flat = isinstance(values, Iterable) and not isinstance(values, Mapping)
    if not flat or hasattr(values, "columns") or getattr(values, "ndim", 1) > 1:
        raise ValueError(
            f"{name} is a {type(values).__name__}; expected a list, a Series, an array or an iterator with "
            "one entry per row. From a data frame, pass one column; with a 0/1 matrix of labels, use "
            "MLGTClassifier."
        )


def _missing(value):
    """True for None, NaN and the missing values of pandas."""
    if isinstance(value, Real):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _shortened(value):
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
