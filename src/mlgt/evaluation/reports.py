"""The figures of `mlgt evaluate`: measures with intervals, predicted sets, a diagnosis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..metrics import (
    calibration_error,
    diagnose,
    evaluate,
    f1_rows,
    highest_precision_at,
    hits,
    reliability,
)
from ..metrics.diagnosis import surest_errors
from .answers import Answer, taught_rows, timed_topk
from .labelled import Labelled

MAX_TEXT = 1000
"""Characters of a text in a report."""


def evaluate_model(
    model: Any,
    rows: Labelled,
    *,
    count: int = 5,
    first: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[dict[str, Any], Answer]:
    """Evaluate a `Predictor`; return the report of `mlgt evaluate --json`, and the model's answer.

    `count` labels, pairs and errors are reported, with ids from `first` on.
    """
    labels, milliseconds = timed_topk(model, rows.X, progress)
    report = evaluate_ranking(model, rows.Y, labels)
    answer = Answer.from_model(model, rows.X)
    report |= evaluate_sets(answer, rows.Y)
    report["n_taught"] = len(taught_rows(model, rows.X))
    report["highest"] = {f"P@{k}": highest_precision_at(rows.Y, k) for k in (1, 3, 5)}
    report["diagnosis"] = diagnose(
        rows.Y, answer.labels, answer.scores, answer.predicted,
        train_counts=model.fitted_model().label_counts, probability=answer.probability, names=rows.names,
        count=count, first=first, known=model.known_labels_,
    )  # fmt: skip
    if rows.records is not None:
        for error in report["diagnosis"]["errors"]:
            error["text"] = (rows.text(error["row"] - 1) or "")[:MAX_TEXT]
    return report | {"ms_per_instance": milliseconds} | rows.unknown, answer


def evaluate_ranking(model: Any, Y: Any, labels: Any, resamples: int = 1000) -> dict[str, Any]:
    """Return all measures of a ranking by this model, with intervals; Y may have more labels, last."""
    counts, known = model.fitted_model().label_counts, model.known_labels_
    if known is None:
        counts = np.pad(counts, (0, max(0, Y.shape[1] - len(counts))))
    return evaluate(Y, labels, train_counts=counts, n_train=model.n_rows_, known=known, resamples=resamples)


def evaluate_sets(answer: Answer, Y: Any) -> dict[str, float]:
    """Return F1, size, precision and recall of the predicted sets, and the calibration error.

    The result is empty for a model without probabilities.
    """
    if answer.probability is None:
        return {}
    found = answer.labels >= 0
    table = reliability(answer.probability[found], hits(Y, answer.labels)[found])
    right, given = int(hits(Y, answer.predicted).sum()), int((answer.predicted >= 0).sum())
    return {
        "F1": float(f1_rows(Y, answer.predicted).mean()),
        "labels_per_row": float((answer.predicted >= 0).sum(axis=1).mean()),
        "calibration_error": calibration_error(table),
        "set_precision": right / max(given, 1),
        "set_recall": right / max(Y.nnz, 1),
    }


def error_rows(answer: Answer, Y: Any) -> list[int]:
    """Return the rows whose predicted set is not that of the true labels: the surest errors first.

    Rows that only miss labels come last.
    """
    wrong = [row for row, _ in surest_errors(Y, answer.predicted, answer.scores, Y.shape[0])]
    complete = hits(Y, answer.predicted).sum(axis=1) == np.diff(Y.indptr)
    missing = np.setdiff1d(np.flatnonzero(~complete), wrong)
    return [*wrong, *missing.tolist()]
