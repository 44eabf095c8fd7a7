"""Labels of a model as callers give them: names, ids of a vocabulary, or columns of Y."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..vocabulary.returned import return_labels

MAX_RETIRED = 200
"""Labels beyond k that are looked up where some were merged or withdrawn."""


def find_labels(model: Any, among: Iterable[str | int], argument: str) -> np.ndarray:
    """Return the distinct positions, ascending, of labels of a `FittedModel`; ids left out have none."""
    if not model.decoder.scores_given:
        raise ValueError(
            "This model cannot score given labels: its decoder or combination only finds the best ones."
        )
    if isinstance(among, str):
        raise ValueError(f"{argument}={among!r} is one label; expected a list of labels.")
    find, ids = _finder(model), set()
    for label in among:
        column = find(label) if isinstance(label, str) else label
        if not isinstance(column, (int, np.integer)) or not 0 <= column < model.n_labels:
            raise ValueError(
                f"{label!r} is no label of this model; expected names it was trained with, or ids from "
                f"0 to {model.n_labels - 1}."
            )
        ids.add(int(column))
    if model.returned_as is not None:
        ids |= {l for l, after in enumerate(model.returned_as.tolist()) if after in ids and after >= 0}
    if not ids:
        raise ValueError(f"{argument} is empty; expected at least one label.")
    found = np.array(sorted(ids), np.int64)
    if model.known_labels is not None:
        found = np.sort(model.known_labels.to_positions(found))
        found = found[found >= 0]
    if not len(found):
        raise ValueError(f"no label of {argument} occurred in training; expected one that did.")
    return found


def _finder(model):
    """A function from a text to the column of a label, or None."""
    if model.vocabulary is not None:
        return model.vocabulary.find
    if model.names is not None:
        return {str(name): l for l, name in enumerate(model.names)}.get
    return lambda label: int(label) if re.fullmatch("0|[1-9][0-9]{,18}", label) else None


def named_rows(model: Any, labels: np.ndarray, values: np.ndarray, with_ids: bool) -> list[list[Any]]:
    """Rows of ids and values as lists of (name, value), or (name, value, id), without padding."""
    vocabulary, name_of = model.vocabulary, model.name_of
    rows = zip(labels.tolist(), values.tolist())
    if not with_ids:
        return [[(name_of(label), value) for label, value in zip(*row) if label >= 0] for row in rows]

    def id_of(label):
        return None if vocabulary is None else vocabulary.id_of(label)

    return [
        [(name_of(label), value, id_of(label)) for label, value in zip(*row) if label >= 0] for row in rows
    ]


# Labels that were merged into others or withdrawn, as `Vocabulary.returned_as` has them.


def returned_top_k(
    model: Any, X: Any, k: int, among: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """`FittedModel.top_k` without labels that were withdrawn, and with merged ones as one."""
    if (returned := model.returned_as) is None:
        return model.top_k(X, k, among)
    others = int((returned != np.arange(len(returned))).sum())
    most = len(returned) if among is None else len(among)
    labels, scores = model.top_k(X, min(most, k + min(others, MAX_RETIRED)), among)
    return return_labels(labels, scores, returned, k)
