"""Explain why a text or a row gets its labels.

Prints for each label the text with the words for and against it marked: green
and red on a terminal, [+word] and [-word] elsewhere; of a long text, the parts
around the strongest words. --html writes a page with the whole text.

With --verbose, the arithmetic follows: the words with their shares of the
label's margin, and the parts of its score (log-odds); then the groups that
fired, with their labels. The shares add up to the margin, and the parts to the
score.
"""

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from itertools import islice

from .._core.files import read_lines, read_text, replacing
from .._core.markup import excerpt, marked_text
from .._core.terminal import show, write_out
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
    parser.add_argument(
        "--feature-names", metavar="NAMES", help="file of names of the features, one per line, for rows"
    )
    parser.add_argument("--verbose", action="store_true", help="show the arithmetic too")
    parser.add_argument("--html", metavar="PAGE", help="write the explanation to PAGE, with the whole text")
    parser.add_argument("--json", action="store_true", help="print one JSON object with all words")
    add_reading(parser)
    add_columns(parser, labels=False)


def run(options: Namespace) -> None:
    from ..compile.kernels import interpreting
    from ..model.predictor import Predictor

    model = Predictor(options.model)
    if (options.what is None) == (options.row is None):
        raise ValueError("pass the text to explain, or --row FILE:N, and not both.")
    what = _row(options, model) if options.row is not None else _text(options, model)
    among, names = read_among(options, model), _feature_names(options, model)
    with interpreting(len(what) if isinstance(what, str) else 0):
        found = model.explain(what, options.k, labels=among, feature_names=names)
    if options.html:
        from ..report.explanation import explanation_page

        with replacing(options.html) as file:
            title = f"Why {options.model} gives these labels"
            file.write(explanation_page(title, found, options.words).encode())
    if options.json:
        print_json(_facts(found, options.first_label), ascii=False)
    elif not found.labels:
        show("The text has no word that the model knows, so there is nothing to explain.")
    else:
        _print(found, options)


def _feature_names(options, model):
    """Return the names of the features, or None."""
    if options.feature_names is None:
        return None
    if model.features_ is not None:
        raise ValueError(
            "--feature-names has no effect with texts: their features are words. Leave it out."
        )
    return read_lines(options.feature_names, limits_of(options))


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
    """Print the text with the words for and against each label; with --verbose, the arithmetic too."""
    from ..report.explanation import arithmetic, join_words, value_of

    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for label in found.labels:
        show(f"{label.name}: {value_of(label)}")
        if found.text is not None:
            write_out(_indented(marked_text(*excerpt(found.text, label.marks), colours=colours)))
        show(
            f"  for it: {join_words(label, options.words, 1)}",
            f"  against it: {join_words(label, options.words, -1)}",
            *_name_line(found.text, label),
            "",
        )
    if options.verbose:
        for title, header, rows in arithmetic(found, options.words):
            print_table(title, header, rows, numbers="score" in header[-1])


def _name_line(text, label):
    """Return what of the label's name stands in the text, if names are evidence."""
    if text is None or not any(evidence.name == "name" for evidence in label.evidence):
        return []
    words = list(dict.fromkeys(text[start:end] for start, end in label.name_places))
    phrase = any(evidence.name == "phrase" and evidence.value > 0 for evidence in label.evidence)
    shown = ", ".join(words) + (" (the whole name)" if phrase else "") if words else "no word of it"
    return [f"  its name in the text: {shown}"]


def _indented(text):
    return "".join(f"    {line}\n" for line in text.splitlines() if line.strip())
