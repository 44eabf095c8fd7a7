"""One row, of a caller of `Predictor` or of a text, for the kernels: checked, sorted and scaled."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.rows import empty_rows, scale_row
from .._core.sigmoid import MAX_SIZE, sigmoid
from .._core.sparse import canonical
from .fitted import FittedModel
from .labels import returned_top_k


def best_of_text(model: FittedModel, row: Any, k: int | None) -> tuple[np.ndarray, np.ndarray]:
    """`FittedModel.best` of one row, as `TextFeatures.one` returns it."""
    labels, scores = returned_top_k(model, model.scaled_rows(row), model.check_k(k))
    if not row.nnz and empty_rows(row)[0]:
        labels[:], scores[:] = -1, -np.inf
    return model.to_ids(labels), _probabilities(scores) if model.calibrated else scores


def _probabilities(scores):
    """`sigmoid` of scores in falling order; a change of the error state would take longer than the rest."""
    return 1 / (np.exp(-scores) + 1) if scores[0, -1] > -MAX_SIZE else sigmoid(scores)


def scaled_row(model: FittedModel, indices: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns, int32 and ascending, and their scaled values, float32.

    One compiled call checks and scales a row of the usual types; any other row is made one first, or
    raises.
    """
    limits = model.n_features, np.float32(model.power), model.normalize
    usual = getattr(indices, "dtype", None) == np.int32 and getattr(values, "dtype", None) == np.float32
    if usual and indices.ndim == 1 and indices.shape == values.shape:
        indices, values = np.ascontiguousarray(indices), np.ascontiguousarray(values)
        scaled = np.empty_like(values)
        if scale_row(indices, values, *limits, scaled):
            return indices, scaled
    indices, values = _check_row(indices, values, model.n_features)
    scaled = np.empty_like(values)
    scale_row(indices, values, *limits, scaled)
    return indices, scaled


def _check_row(indices, values, n_features):
    """The row as int32 and float32, sorted, each column once."""
    indices, values = np.asarray(indices), np.asarray(values, dtype=np.float32)
    if indices.shape != values.shape or indices.ndim != 1:
        raise ValueError(
            f"indices has shape {indices.shape} and values {values.shape}; expected two vectors of the "
            "same length: the columns of one row and their values."
        )
    if len(indices) and indices.dtype.kind not in "iu":
        raise ValueError(f"indices has the type {indices.dtype}; expected whole numbers.")
    check_finite(values)
    lowest, highest = (indices.min(), indices.max()) if len(indices) else (0, -1)
    if not (0 <= lowest and highest < n_features):
        raise ValueError(
            f"indices has ids from {lowest} to {highest}; expected 0 to {n_features - 1}, the "
            "features of the model."
        )
    indices = np.ascontiguousarray(indices, np.int32)
    if (indices[1:] > indices[:-1]).all():
        return indices, np.ascontiguousarray(values)
    row = canonical(sp.coo_array((values, (np.zeros_like(indices), indices))), np.float32)
    return row.indices, row.data


def check_finite(values: np.ndarray) -> None:
    """Raise if a value is NaN or infinite."""
    if not np.isfinite(values).all():
        raise ValueError("The row values have NaN or infinity; expected finite numbers.")
