"""Shared by the verbs that work on trained models: their labels, labelled files, and output folders."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
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


def read_labelled(options: Namespace, model: Any, *, keep: bool = False) -> Any:
    """Return the labelled rows of the file, as `evaluation.Labelled`; with `keep`, with all columns."""
    from ..evaluation import Labelled, label_texts

    if model.features_ is not None:
        file = text_records(options, model, labelled=True, keep=keep)
        rows = label_texts(model, file.read())
        return replace(rows, delimiter=file.delimiter if file.form == "csv" else ",")
    rows = model_rows(options, model, labels=True)
    return Labelled(rows.X, rows.Y, label_names(model))
