"""Checks of what users pass in: each message says what was wrong, what was expected, how to fix it."""

import numbers

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import type_of_target


def check_choice(name, value, choices):
    """`value` must be one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(choices)}.")
    return value


def check_count(name, value, at_most=None, why=""):
    """`value` must be a whole number >= 1, and at most `at_most`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
    if at_most is not None and value > at_most:
        raise ValueError(f"{name}={value} exceeds {at_most}{why}. Pass {name}<={at_most}.")
    return int(value)


def check_labels(Y, n_rows):
    """Return (Y as a (n, d) CSR array of 0/1 float32, label names or None).

    Accepts a sparse matrix, a dense array or a data frame of 0/1, one row per row of X.
    """
    names = None
    if hasattr(Y, "columns") and hasattr(Y, "to_numpy"):
        names = [str(name) for name in Y.columns]
        Y = Y.to_numpy()
    if Y is None:
        raise ValueError(
            "training requires y to be passed, but the target y is None; expected a 0/1 matrix of labels."
        )
    if not sp.issparse(Y):
        values = np.asarray(Y)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("Input y contains infinity or NaN; expected only 0 and 1.")
        kind, Y = type_of_target(Y), values
        if Y.dtype.kind in "OUS":
            raise ValueError(
                f"Unknown label type: {kind} (text or lists); expected a 0/1 matrix with one column per "
                "label. Convert lists of labels with "
                "sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True)."
            )
        if Y.ndim != 2:
            raise ValueError(
                f"Unknown label type: {kind} ({Y.ndim} dimension(s)); expected a 0/1 matrix (rows, "
                "labels). For one class per row, binarise it with "
                "sklearn.preprocessing.LabelBinarizer(sparse_output=True)."
            )
    if Y.shape[0] != n_rows:
        raise ValueError(
            f"Y has {Y.shape[0]} rows but X has {n_rows}: Found input variables with inconsistent "
            "numbers of samples. Each row of X needs its row of labels."
        )
    if Y.shape[1] == 0:
        raise ValueError("Y has no columns: expected one column per label.")
    Y = sp.csr_array(Y, dtype=np.float32, copy=True)
    Y.sum_duplicates()
    Y.eliminate_zeros()
    if Y.nnz and not (Y.data == 1).all():
        wrong = Y.data[Y.data != 1][0]
        raise ValueError(f"Y has the value {wrong:g}; expected only 0 and 1.")
    if Y.nnz == 0:
        raise ValueError(
            "Y has no positive label in any row: there is nothing to learn. Was it read with the "
            "right label ids?"
        )
    return Y, names
