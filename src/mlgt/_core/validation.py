"""Checks of the users' input. Each message says what was wrong, what was expected and how to fix it."""

import inspect
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .sparse import canonical


def check_choice(name: str, value: Any, choices: Collection) -> Any:
    """Return `value`, which must be one of `choices`."""
    try:
        known = value in choices
    except (TypeError, ValueError):  # a list or an array cannot be compared with names
        known = False
    if not known:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(map(str, choices))}.")
    return value


def check_count(name: str, value: Any, at_most: int | None = None, why: str = "") -> int:
    """Return `value`, which must be a whole number >= 1, and at most `at_most`."""
    if not (type(value) is int or _is_number(value, numbers.Integral)) or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
    if at_most is not None and value > at_most:
        raise ValueError(f"{name}={value} exceeds {at_most}{why}. Pass {name}<={at_most}.")
    return int(value)


def check_number(name: str, value: Any, above: float, below: float = np.inf) -> None:
    """Raise unless `value` is "auto" or a number greater than `above` and smaller than `below`."""
    if value == "auto":
        return
    if not _is_number(value, numbers.Real) or not above < value < below:
        expected = f"a finite number above {above}" if below == np.inf else f"between {above} and {below}"
        raise ValueError(f'{name}={value!r} must be "auto" or {expected}.')


def _is_number(value, kind):
    return isinstance(value, kind) and not isinstance(value, bool)


def check_options(name: str, options: Mapping | None, function: Callable, owner: str) -> dict[str, Any]:
    """Return `options` as a dict; every key must be a keyword of `function`."""
    options = dict(options or {})
    keywords = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name != "progress"
    ]
    for key in options:
        if key not in keywords:
            raise ValueError(
                f"{name} has {key!r}, but {owner} takes {', '.join(keywords) or 'no options'}."
            )
    return options


def fill_options(name: str, given: Any, defaults: Mapping) -> dict[str, Any]:
    """The dict `given` with defaults for missing keys."""
    if given is not None and not isinstance(given, dict):
        raise ValueError(f"{name}={given!r} must be a dict with keys among {', '.join(defaults)}.")
    for key in given or ():
        if key not in defaults:
            raise ValueError(f"{name} has {key!r}, but takes {', '.join(defaults)}.")
    return {**defaults, **(given or {})}


def check_share(name: str, value: Any, of: str, largest: float) -> None:
    """Raise unless `value` is "auto" or a share from 0 to `largest`, 1 or just below."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if value != "auto" and not (number and 0 <= value <= largest):
        upper = "1" if largest == 1 else "below 1"
        raise ValueError(f'{name}={value!r} must be a share, from 0 to {upper}, of {of}; or "auto".')


def check_unused(reason: str, **values: Any) -> None:
    """Raise if a parameter that would be ignored is set."""
    for name, value in values.items():
        if value is not None and value != "auto":
            raise ValueError(f"{name}={value!r} has no effect {reason}; leave it out.")


def check_groups(A: Any, d: int) -> sp.csr_array:
    """Return a user's own group matrix as a (m, d) CSR array of 0/1."""
    if not (sp.issparse(A) or isinstance(A, np.ndarray)) or A.ndim != 2:
        raise ValueError(
            f"construction is a {type(A).__name__}; expected a name, or a 0/1 matrix (groups, labels)."
        )
    A = canonical(A, np.float32)
    if A.shape[1] != d or A.shape[0] == 0:
        raise ValueError(f"construction has shape {A.shape}; expected (groups, {d}) for {d} labels.")
    if not (A.data == 1).all():
        raise ValueError("construction must hold only 0 and 1: does group i contain label j?")
    return A


_MATRIX = (
    "expected a 0/1 matrix with one column per label. Convert lists of labels with "
    "sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True)."
)


def check_labels(Y: Any, n_rows: int) -> tuple[sp.csr_array, list[str] | None]:
    """Return (Y as a (n, d) CSR array of 0/1 float32, label names or None).

    Accepts a sparse matrix, a dense array or a data frame of 0/1, one row per row of X.
    """
    names = None
    if hasattr(Y, "columns") and hasattr(Y, "to_numpy"):
        names = [str(name) for name in Y.columns]
        try:
            Y = Y.to_numpy(dtype=np.float32)
        except (TypeError, ValueError):  # text, or missing values
            Y = Y.to_numpy(dtype=object)
    if Y is None:
        raise ValueError(
            "training requires y to be passed, but the target y is None; expected a 0/1 matrix of labels."
        )
    if not sp.issparse(Y):
        from sklearn.utils.multiclass import type_of_target  # prediction does without scikit-learn

        try:
            values = np.asarray(Y)
        except ValueError:  # rows of different lengths
            raise ValueError(f"y has rows of different lengths; {_MATRIX}") from None
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("Input y contains infinity or NaN; expected only 0 and 1.")
        Y = values
        if Y.dtype.kind in "OUS":
            raise ValueError(
                f"Unknown label type: {type_of_target(Y)} (text, lists or missing values); {_MATRIX}"
            )
        if Y.ndim != 2:
            raise ValueError(
                f"Unknown label type: {type_of_target(Y)} ({Y.ndim} dimension(s)); expected a 0/1 matrix "
                "(rows, labels). For one class per row, binarise it with "
                "sklearn.preprocessing.LabelBinarizer(sparse_output=True)."
            )
    if Y.shape[0] != n_rows:
        raise ValueError(
            f"Y has {Y.shape[0]} rows but X has {n_rows}: Found input variables with inconsistent "
            "numbers of samples. Each row of X needs its row of labels."
        )
    if Y.shape[1] == 0:
        raise ValueError("Y has no columns: expected one column per label.")
    Y = canonical(Y, np.float32)
    if Y.nnz and not (Y.data == 1).all():
        wrong = Y.data[Y.data != 1][0]
        raise ValueError(f"Y has the value {wrong:g}; expected only 0 and 1.")
    if Y.nnz == 0:
        raise ValueError(
            "Y has no positive label in any row: there is nothing to learn. Was it read with the "
            "right label ids?"
        )
    return Y, names


def check_more_labels(
    Y: sp.csr_array,
    columns: list[str] | None,
    classes: np.ndarray,
    names: Sequence | None = None,
    n_labels: int | None = None,
) -> tuple[sp.csr_array, np.ndarray | None]:
    """Return (Y, names or None) for a model of `n_labels` labels: these in their order, then new ones.

    `columns` are the names of the columns of Y (n, d), or None; `names` are those of the new labels;
    `classes` the names of the model's labels, or ids.
    """
    named, d = classes.dtype.kind == "O", len(classes) if n_labels is None else n_labels
    if columns is not None and named:
        if names is not None:
            raise ValueError("names= is not needed: y is a data frame, which names its columns.")
        known = {name: l for l, name in enumerate(classes)}
        new = [name for name in columns if name not in known]
        place = known | {name: d + i for i, name in enumerate(new)}
        entries = sp.coo_array(Y)
        at = np.array([place[name] for name in columns])[entries.col]
        Y = canonical(sp.csr_array((entries.data, (entries.row, at)), shape=(Y.shape[0], d + len(new))))
        return Y, np.concatenate([classes, np.array(new, object)])
    more = Y.shape[1] - d
    if more < 0:
        raise ValueError(
            f"y has {Y.shape[1]} columns, but the model knows {d} labels; expected these in their order, "
            "then columns of new labels, if there are any."
        )
    if names is not None and len(names) != more:
        raise ValueError(f"{len(names)} names for {more} new labels; expected one each.")
    if not named:
        if names is not None:
            raise ValueError(
                "The model's labels have no names, so new ones can have none; see name_labels."
            )
        return Y, None
    if names is None and more:
        raise ValueError(f"The model's labels have names; pass names=[...] for the {more} new ones.")
    twice = sorted(set(map(str, classes)) & set(map(str, names or [])))
    if twice:
        raise ValueError(
            f"the name {twice[0]!r} is one of the model's labels already; new labels need new names."
        )
    return Y, np.concatenate([classes, np.array([str(name) for name in names or []], object)])


def check_row_weight(
    sample_weight: object, X: sp.csr_array, Y: sp.csr_array
) -> tuple[np.ndarray | None, np.ndarray]:
    """(weights (n,) or None, the rows of X with a weight above 0)."""
    if sample_weight is None:
        return None, np.arange(X.shape[0])
    from sklearn.utils.validation import _check_sample_weight

    weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    seen = np.flatnonzero(weight > 0)
    if not np.diff(Y.indptr)[seen].any():
        raise ValueError(
            "no row with a sample_weight above 0 has a label: there is nothing to learn. Give rows with "
            "labels a weight."
        )
    return weight, seen


def generator(random_state: object) -> np.random.Generator:
    """A numpy generator from what scikit-learn accepts as random_state."""
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def names_of_features(given: Any, n_features: int) -> list[str]:
    """Return the names of the features: a sequence, or a transformer or Pipeline of scikit-learn.

    The last step of a Pipeline may be the classifier itself.
    """
    if hasattr(given, "steps") and not hasattr(given.steps[-1][1], "get_feature_names_out"):
        given = given[:-1]
    if hasattr(given, "get_feature_names_out"):
        given = given.get_feature_names_out()
    if isinstance(given, str) or len(given) != n_features:
        raise ValueError(
            f"feature_names has {len(given)} names, but the model has {n_features} features; expected one "
            "name per feature, in their order, or the transformer or Pipeline that makes the rows."
        )
    return [str(name) for name in given]
