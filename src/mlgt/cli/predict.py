"""Predict the best labels for each text or row of a file.

Prints one line per row: `label:score label:score ...`, best first. Labels are
names, separated by tabs, if the model has names; otherwise, or with --format
ids, they are ids, counted as in the file (see --first-label). With --format
jsonl each line is a JSON object with ids, names and scores. Labels in the file
are ignored. The score follows the last colon; names and URIs may have others.

With --show id,name a label of a vocabulary is `id name:score`, with --show id
`id:score`; --format jsonl has all its ids as `ids`.

Scores are probabilities if the model is calibrated, as models of `mlgt train`
without --method on a thousand rows are; otherwise they only order the
labels. With -k auto, each row gets the set of labels with the largest expected
F1.

A model of texts reads JSON lines, CSV, TSV, Parquet, or plain text with one
text per line. Texts from a pipe (-) are answered as soon as they arrive. A
text without any known word gets an empty line.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from functools import partial

from .._core.files import replacing
from .._core.progress import QUIET
from .._core.terminal import visible, write_out
from .console import (
    add_among,
    add_columns,
    add_jobs,
    add_model,
    add_reading,
    compile_for_prediction,
    in_blocks,
    make_narrator,
    model_rows,
    read_among,
    refuse,
    text_records,
    whole,
)
from .models import label_names
from .vocabulary import add_show, label_text


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "file", metavar="FILE", help="file of rows, in a format of `mlgt train`; - for standard input"
    )
    parser.add_argument(
        "-k", type=_count, help="number of labels per row, or auto (default: 5, or all if there are fewer)"
    )
    add_among(parser, "score only the labels in FILE, one name or id per line")
    parser.add_argument("-o", "--output", metavar="OUT", help="write to OUT instead of standard output")
    parser.add_argument(
        "--format",
        choices=("names", "ids", "jsonl"),
        help="output format (default: names, or ids if the model has no names)",
    )
    add_show(parser)
    add_jobs(parser)
    add_reading(parser)
    add_columns(parser, labels=False)


def run(options: Namespace) -> None:
    from ..model.predictor import Predictor

    model = Predictor(options.model, n_jobs=options.jobs)
    progress = make_narrator(options)
    compile_for_prediction(progress, model)
    predict = _predict_rows if model.features_ is None else _predict_texts
    lines = _lines(model, options, predict(model, options, progress))
    if options.output is None:
        on_terminal = sys.stdout.isatty()
        for text in lines:
            write_out(visible(text, keep="\t\n") if on_terminal else text)
    else:
        with replacing(options.output) as file:
            file.writelines(text.encode() for text in lines)


def _predict_rows(model, options, progress):
    """Yield (labels, scores) of blocks of rows."""
    with progress.stage("reading"):
        X = model_rows(options, model, labels=False).X
    with _unless_printing(options, progress).stage("predicting") as update:
        among = read_among(options, model)
        yield from in_blocks(partial(model.best, among=among), X, options.k, update)


def _predict_texts(model, options, progress):
    """Yield (labels, scores) of batches of texts, as they arrive."""
    k = options.k if options.k == "auto" else min(options.k or 5, len(model.fitted_model().label_counts))
    among = read_among(options, model)
    records = text_records(options, model, labelled=False, otherwise="lines")
    with _unless_printing(options, progress).stage("predicting"):
        for batch in records.batches():
            yield model.best(model.features_([record.text for record in batch]), k, among=among)


def _unless_printing(options, progress):
    """Return a narrator without bars if the predictions appear on a terminal."""
    return QUIET if options.output is None and sys.stdout.isatty() else progress


def _count(text):
    return text if text == "auto" else whole(text)


def _lines(model, options, predictions):
    """Yield the lines of the output."""
    names, first = label_names(model), options.first_label
    form = options.format or ("ids" if names is None and options.show is None else "names")
    if form != "names":
        refuse(f"with --format {form}", options, "show")
    text, vocabulary = label_text(options, model), model.fitted_model().vocabulary
    ids = (lambda l: {}) if vocabulary is None else (lambda l: {"ids": list(vocabulary.ids[l])})

    def name(label):
        return str(label if names is None else names[label])

    for labels, scores in predictions:
        rows = [
            [(label, score) for label, score in zip(*row) if label >= 0]
            for row in zip(labels.tolist(), scores.tolist())
        ]
        if form == "ids":
            yield "".join(" ".join(f"{l + first}:{s:.6g}" for l, s in row) + "\n" for row in rows)
        elif form == "names":
            shown = ([f"{text(l)}:{s:.6g}" for l, s in row] for row in rows)
            yield "".join("\t".join(row) + "\n" for row in shown)
        else:
            found = (
                [{"id": l + first, "name": name(l), "score": s} | ids(l) for l, s in row] for row in rows
            )
            yield "".join(json.dumps({"labels": row}, ensure_ascii=False) + "\n" for row in found)
