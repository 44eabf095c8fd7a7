"""Explain why a text or a row gets its labels.

Prints for each label the words for and against it, with their shares of the
label's margin, and the parts of its score (log-odds); then the groups that
fired, with their labels. The shares add up to the margin, and the parts to the
score.
"""

import re
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from itertools import islice

from .._core.files import read_text
from .._core.terminal import show
from .console import (
    add_among,
    add_columns,
    add_model,
    add_reading,
    limits_of,
    model_rows,
    print_json,
    print_table,
    read_among,
    text_records,
    whole,
)


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("what", metavar="TEXT", nargs="?", help="the text; - reads it from standard input")
    parser.add_argument(
        "--row", metavar="FILE:N", help="explain row N of a data file, counted from 1, instead of a text"
    )
    parser.add_argument("-k", type=whole, default=3, help="number of labels to explain (default: 3)")
    add_among(parser, "explain the labels in FILE, one name or id per line")
    parser.add_argument(
        "--words", type=whole, default=6, metavar="N", help="number of words to show (default: 6)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object with all words")
    add_reading(parser)
    add_columns(parser, labels=False)


def run(options: Namespace) -> None:
    from ..model.predictor import Predictor

    model = Predictor(options.model)
    if (options.what is None) == (options.row is None):
        raise ValueError("pass the text to explain, or --row FILE:N, and not both.")
    what = _row(options, model) if options.row is not None else _text(options, model)
    found = model.explain(what, options.k, labels=read_among(options, model))
    if options.json:
        print_json(_facts(found, options.first_label), ascii=False)
    elif not found.labels:
        show("The text has no word that the model knows, so there is nothing to explain.")
    else:
        _print(found, options)


def _text(options, model):
    if model.features_ is None:
        raise ValueError(
            f"the model in {options.model} was trained on rows of features, not texts; pass --row FILE:N."
        )
    return read_text("-", limits_of(options)) if options.what == "-" else options.what


def _row(options, model):
    """Return row N of a file: a text, or a row of features."""
    from .._core.errors import DataFormatError

    options.file, _, number = options.row.rpartition(":")
    if not options.file or not re.fullmatch("0*[1-9][0-9]{0,17}", number):
        raise ValueError(
            f"--row {options.row} is not FILE:N, a file and the number of a row in it, from 1."
        )
    place = int(number) - 1
    if model.features_ is None:
        X = model_rows(options, model, labels=False).X
        if place < X.shape[0]:
            return X[place : place + 1]
    else:
        records = iter(text_records(options, model, labelled=False, otherwise="lines"))
        if (record := next(islice(records, place, None), None)) is not None:
            return record.text
    raise DataFormatError(f"{options.file} has no row {number}; expected a number up to the last row.")


def _facts(found, first_label):
    """Return the explanation for JSON, with label ids as in the file and the contributions."""
    facts = asdict(found)
    for label, reasons in zip(facts["labels"], found.labels):
        label["label"] += first_label
        for evidence, own in zip(label["evidence"], reasons.evidence):
            evidence["contribution"] = own.contribution
    return facts


def _print(found, options):
    from ..report.page import join_labels

    calibrated = found.labels[0].probability is not None
    header = ("label", "probability" if calibrated else "score", "words for it", "words against it")
    rows = [
        (
            label.name,
            f"{label.probability if calibrated else label.score:.3f}",
            _words(label, options.words, 1),
            _words(label, options.words, -1),
        )
        for label in found.labels
    ]
    print_table("Words and their shares of the margin", header, rows, numbers=False)
    names = [f"+ {evidence.name}" for evidence in found.labels[0].evidence]
    parts = [
        (
            label.name,
            f"{label.margin:+.2f}",
            f"{label.n_fired} of {label.n_groups}",
            *(f"{evidence.contribution:+.2f}" for evidence in label.evidence),
            f"{label.intercept:+.2f}",
            f"{label.score:+.2f}",
        )
        for label in found.labels
    ]
    title = f"Parts of the score; margins are those of the {_margin_source(found.labels[0])}"
    print_table(title, ("label", "margin", "groups fired", *names, "+ constant", "= score"), parts)
    if found.groups:
        groups = [
            (group.group, f"{group.margin:+.2f}", join_labels(group.labels, limit=6))
            for group in found.groups
        ]
        title = f"Groups with the largest margins, of {found.n_fired} that fired"
        print_table(title, ("group", "margin", "labels in it"), groups, numbers=False)


def _margin_source(label):
    return "label's own classifier" if label.by == "ranker" or label.n_groups == 1 else "label's groups"


def _words(label, count, sign):
    """List the words, and the bias, with the largest shares for (1) or against (-1) a label."""
    shares = [*label.words, ("(bias)", label.bias)]
    chosen = sorted((share for share in shares if share[1] * sign > 0), key=lambda share: -abs(share[1]))
    return ", ".join(f"{name} {share:+.2f}" for name, share in chosen[:count])
