"""Lists of label names to Y (n, d), and checks of texts and lists that users pass."""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import DataFormatError
from .._core.files import PathLike, read_lines
from .._core.limits import DEFAULT_LIMITS, Limits


def check_texts(texts: Any) -> list[str]:
    """Return a list of texts from any iterable of them; None and NaN become empty texts."""
    _check_one_column("texts", texts)
    if isinstance(texts, (str, bytes)):
        raise ValueError('texts is one text; expected a list of them: pass ["..."].')
    found = []
    for i, text in enumerate(texts):
        if not isinstance(text, str) and not _missing(text):
            raise ValueError(
                f"texts has a {type(text).__name__} at position {i}, {_shortened(text)}; expected each to "
                "be a str."
            )
        found.append("" if _missing(text) else text)
    return found


def check_label_lists(lists: Any) -> list[list[str]]:
    """Return the distinct label names of each row, from any iterable of iterables; None and NaN have none.

    Names are stripped, empty ones are dropped, and other types are converted to str.
    """
    _check_one_column("labels", lists)
    found = []
    for i, labels in enumerate(lists):
        if isinstance(labels, (str, bytes)) or not (isinstance(labels, Iterable) or _missing(labels)):
            raise ValueError(
                f"labels has a {type(labels).__name__} at position {i}, {_shortened(labels)}; expected a "
                'list of names each, like ["law", "history"]. Split what is joined: labels.str.split(";").'
            )
        names = () if _missing(labels) else (str(label).strip() for label in labels if not _missing(label))
        found.append([name for name in dict.fromkeys(names) if name])
    return found


def check_pairs(texts: Any, labels: Any) -> tuple[list[str], list[list[str]]]:
    """Return texts and lists of labels, one list per text."""
    texts, lists = check_texts(texts), check_label_lists(labels)
    if len(texts) != len(lists):
        raise ValueError(
            f"There are {len(texts)} texts and {len(lists)} lists of labels; expected as many: each text "
            "needs the list of its labels, which may be empty."
        )
    return texts, lists


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
