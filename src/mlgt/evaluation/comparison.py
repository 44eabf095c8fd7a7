"""Two models on the same rows. Labels are matched by name, or by id if the models have no names."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import MLGTError
from ..data import Record
from ..metrics import Ranked, compare_rankings
from ..text import check_label_lists, label_matrix
from ..vocabulary import match_labels
from .answers import Answer, taught_rows
from .reports import MAX_TEXT


def compare_models(
    models: Sequence[Any],
    rows: Any,
    *,
    k: int | None = None,
    count: int = 5,
    first: int = 0,
    resamples: int = 1000,
) -> dict[str, Any]:
    """Compare two `Predictor`s on labelled rows; return the report of `mlgt compare --json`.

    `rows` are two lists of records, one per model (the columns of text may differ), or X and Y. With `k`,
    each model answers with its k best labels instead of the set that it predicts. Rows that one of the
    models was taught are left out, because it remembers them, unless there are no others.
    """
    by_name = models[0].features_ is not None
    if by_name:
        Y, names, columns = _by_name(models, rows[0])
        inputs = [model.features_([record.text for record in own]) for model, own in zip(models, rows)]
    else:
        (X, Y), names, columns = rows, None, [lambda ids: ids] * 2
        inputs = [X, X]
    taught = [taught_rows(model, X) for model, X in zip(models, inputs)]
    n_rows = Y.shape[0]
    kept = _without(n_rows, taught)
    if len(kept) < n_rows:
        Y, inputs = Y[kept], [X[kept] for X in inputs]
    answers = [Answer.from_model(model, X, k).ranked(to) for model, X, to in zip(models, inputs, columns)]
    used, Y, answers = _only_used(Y, answers)
    counts = _counts_at(models[0], used)
    report = compare_rankings(Y, *answers, train_counts=counts, count=count, resamples=resamples)
    report["probabilities"] = [bool(model.calibrated_) for model in models]
    report["n_taught"] = [len(rows) for rows in taught]
    report["n_left_out"] = n_rows - len(kept)
    report["n_labels"] = [len(model.fitted_model().label_counts) for model in models]

    def label(position):
        own = {"id": int(used[position]) + first}
        return own if names is None else own | {"name": str(names[used[position]])}

    _name_labels(report, label, kept)
    if by_name:
        for row in [*report["rows"]["better"], *report["rows"]["worse"]]:
            row["text"] = rows[0][row["row"] - 1].text[:MAX_TEXT]
    return report


def check_comparable(a: Any, b: Any) -> None:
    """Raise unless two `Predictor`s can answer the same file."""
    if (a.features_ is None) != (b.features_ is None):
        kinds = ["rows of features" if model.features_ is None else "texts" for model in (a, b)]
        raise MLGTError(
            f"the first model was trained on {kinds[0]}, the second on {kinds[1]}; expected two models "
            "that read the same file."
        )
    if a.features_ is None and a.n_features_in_ != b.n_features_in_:
        raise MLGTError(
            f"the models have {a.n_features_in_} and {b.n_features_in_} features; expected the same "
            "features in both."
        )


def _without(n_rows, taught):
    """The rows that neither model was taught; all of them if there are no others."""
    kept = np.setdiff1d(np.arange(n_rows), np.concatenate(taught))
    return kept if len(kept) else np.arange(n_rows)


def _by_name(models, records: Sequence[Record]) -> tuple[Any, list[str], list[Callable]]:
    """(Y, the names of its columns, functions from each model's ids to columns).

    Labels of the file, and of a model with an older vocabulary, have their names in the last vocabulary.
    """
    found = [model.fitted_model().vocabulary for model in models]
    last = next((vocabulary for vocabulary in reversed(found) if vocabulary is not None), None)
    lists = check_label_lists([record.labels for record in records])
    lists = match_labels(lists, last, keep_retired=True).lists
    owns = [_names_in(last, model.classes_, vocabulary) for model, vocabulary in zip(models, found)]
    Y, names = label_matrix(lists, list(dict.fromkeys(name for own in owns for name in own)))
    column = {name: i for i, name in enumerate(names)}
    tables = [np.array([*(column[name] for name in own), -1]) for own in owns]
    return Y, names, [table.__getitem__ for table in tables]  # -1 is the last entry


def _names_in(vocabulary, classes, own) -> list[str]:
    """The names of a model's labels in a vocabulary, found by id or name; names that are not in it stay."""
    names = [str(name) for name in classes]
    if vocabulary is None:
        return names
    result: dict[str, None] = {}
    for name in names:
        place = None if own is None else own.find(name)
        known = [*(own.ids[place] if place is not None else ()), name]
        found = next((i for i in map(vocabulary.find, known) if i is not None), None)
        new = name if found is None else vocabulary.names[found]
        result[name if new in result else new] = None
    return list(result) if len(result) == len(names) else names


def _only_used(Y, answers):
    """(labels that are true or in an answer, Y and the answers with only these as columns)."""
    used = np.unique(np.concatenate([Y.indices, *(own.labels.ravel() for own in answers)]))
    used = used[used >= 0]

    def column(labels):
        return np.where(labels < 0, -1, np.searchsorted(used, labels))

    Y = sp.csr_array((Y.data, column(Y.indices), Y.indptr), shape=(Y.shape[0], len(used)))
    return used, Y, [Ranked(column(own.labels), own.values, column(own.predicted)) for own in answers]


def _counts_at(model, ids):
    """Training rows of labels given by column; 0 for labels that the model does not know."""
    counts, known = np.asarray(model.fitted_model().label_counts), model.known_labels_
    places = ids if known is None else known.to_positions(ids)
    inside = (places >= 0) & (places < len(counts))
    return np.where(inside, counts[np.where(inside, places, 0)], 0)


def _name_labels(report, label, rows):
    """Replace positions by ids and names, and rows by their number in the file, counted from 1."""
    report["labels"] = [label(own.pop("label")) | own for own in report["labels"]]
    for row in [*report["rows"]["better"], *report["rows"]["worse"]]:
        row["row"] = int(rows[row["row"]]) + 1
        row["true"] = [label(l) for l in row["true"]]
        for side in "ab":
            row[side] = [label(own.pop("label")) | own for own in row[side]]
