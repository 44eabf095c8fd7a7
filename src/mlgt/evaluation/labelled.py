"""Labelled rows of a data file, in the features and labels of a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import scipy.sparse as sp

from ..data import Record
from ..text import check_label_lists, label_matrix
from ..vocabulary import match_labels


@dataclass(frozen=True)
class Labelled:
    """Rows X (n, p) with labels Y (n, d); labels that the model does not know have the last columns."""

    X: sp.csr_array
    Y: sp.csr_array
    names: Any = None
    """Names of the columns of Y, or None if labels have only ids."""
    unknown: dict[str, Any] = field(default_factory=dict)
    """Report of the labels that the model does not know."""
    records: Sequence[Record] | None = None
    """The texts, for a model of texts."""
    delimiter: str = ","
    """What separates the columns of their table."""

    def text(self, row: int) -> str | None:
        """The text of a row, None for rows of features."""
        return None if self.records is None else self.records[row].text


def label_texts(model: Any, records: Sequence[Record]) -> Labelled:
    """Return the rows of texts with labels, for a model of texts."""
    lists = check_label_lists([record.labels for record in records])
    lists = match_labels(lists, model.fitted_model().vocabulary, keep_retired=True).lists
    Y, names = label_matrix(lists, model.classes_)
    new = set(names[len(model.classes_) :])
    counts = Counter(label for labels in lists for label in labels if label in new)
    unknown = {
        "n_unknown_labels": len(new),
        "n_unknown_occurrences": counts.total(),
        "unknown_labels": [name for name, _ in counts.most_common(5)],
    }
    return Labelled(model.features_([record.text for record in records]), Y, names, unknown, records)
