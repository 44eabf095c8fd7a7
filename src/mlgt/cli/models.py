"""Shared by the verbs that work on trained models: their labels, labelled files, and output folders."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import Any

from .console import model_rows, text_records


def add_output(parser: ArgumentParser, *, required: bool = False) -> None:
    """Add the options --out and --force."""
    parser.add_argument(
        "--out", required=required, metavar="DIR2", help="folder to write the new model to; may be DIR"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the model in DIR2 if there is one")


def classifier_of(model: Any) -> Any:
    """Return the classifier of a model of texts, or the model itself."""
    return getattr(model, "classifier_", model)


def label_names(model: Any) -> Any:
    """Return the names of the labels, or None if the model has only ids."""
    return model.fitted_model().names


def labelled_records(options: Namespace, model: Any) -> list:
    """Read the texts and labels of the file, for a model of texts."""
    return text_records(options, model, labelled=True).read()


def read_labelled(options: Namespace, model: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Return rows, names of the columns of Y or None, and a report of labels that the model does not know.

    The unknown labels have the last columns of Y.
    """
    if model.features_ is None:
        return model_rows(options, model, labels=True), label_names(model), {}
    from ..data import Dataset
    from ..text import check_label_lists, label_matrix
    from ..vocabulary import match_labels

    records = labelled_records(options, model)
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
    return Dataset(model.features_([record.text for record in records]), Y), names, unknown
