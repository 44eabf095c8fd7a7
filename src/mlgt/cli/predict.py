"""Find the best labels of each text or row of a file.

Prints one line a row: `label:score label:score ...`, best first. Labels are names, with tabs between them,
where the model has names; else, or with --format ids, ids counted as in the file (see --first-label).
Scores are probabilities where the model has them, as those of `mlgt train` without --method on some hundred
rows do; else they only say which is likelier. With -k auto a row gets as many labels as make the expected
F1 largest. Labels in the file, if there are any, are not looked at. With --format jsonl each line
is a JSON object with ids, names and scores.

A model of texts reads JSON lines, CSV, TSV, Parquet, or lines of plain text, one text each. They may come
from a pipe (-): each is answered as soon as it is there. A text without any known word gets an empty line.
"""

import json
import sys
from functools import partial

from .console import (
    add_among,
    add_columns,
    add_ids,
    add_jobs,
    add_model,
    compile_for_prediction,
    in_blocks,
    model_rows,
    narrator,
    read_among,
    text_records,
    whole,
)


def add_arguments(parser):
    add_model(parser)
    parser.add_argument(
        "file", metavar="FILE", help="the rows, in a format of `mlgt train`; - for standard input"
    )
    parser.add_argument(
        "-k", type=_count, help="labels a row, or auto (default: 5, or all where there are fewer)"
    )
    add_among(parser, "score only the labels in FILE, a name (or id) a line")
    parser.add_argument("-o", "--output", metavar="OUT", help="write there, not to standard output")
    parser.add_argument(
        "--format",
        choices=("names", "ids", "jsonl"),
        help="of the output (default: names, or ids where the model has none)",
    )
    add_jobs(parser)
    add_ids(parser)
    add_columns(parser, labels=False)


def run(options):
    from ..data.files import replacing
    from ..model.predictor import Predictor

    model = Predictor(options.model, n_jobs=options.jobs)
    tell = narrator(options)
    compile_for_prediction(tell, model)
    answers = _answer_rows if model.features_ is None else _answer_texts
    lines = _lines(model, options, answers(model, options, tell))
    if options.output is None:
        for text in lines:
            sys.stdout.write(text)
            sys.stdout.flush()
    else:
        with replacing(options.output) as file:
            file.writelines(text.encode() for text in lines)


def _answer_rows(model, options, tell):
    """(labels, scores) of blocks of the rows of a file."""
    with tell.stage("reading"):
        X = model_rows(options, model, labels=False).X
    with tell.stage("predicting") as progress:
        among = read_among(options, model)
        yield from in_blocks(partial(model.best, among=among), X, options.k, progress)


def _answer_texts(model, options, tell):
    """(labels, scores) of the texts of a file or pipe, as they come."""
    records = text_records(options, model, labelled=False, otherwise="lines")
    k = options.k if options.k == "auto" else min(options.k or 5, len(model.classes_))
    among = read_among(options, model)
    with tell.stage("predicting"):
        for batch in records.batches():
            yield model.best(model.features_([record.text for record in batch]), k, among=among)


def _count(text):
    return text if text == "auto" else whole(text)


def _lines(model, options, answers):
    names, first = model.classes_, options.first_label
    form = options.format or ("ids" if names.dtype.kind == "i" else "names")
    shown = [" ".join(str(name).split()) for name in names] if form == "names" else ()
    for labels, scores in answers:
        rows = [
            [(label, score) for label, score in zip(*row) if label >= 0]
            for row in zip(labels.tolist(), scores.tolist())
        ]
        if form == "ids":
            yield "".join(" ".join(f"{l + first}:{s:.6g}" for l, s in row) + "\n" for row in rows)
        elif form == "names":
            yield "".join("\t".join(f"{shown[l]}:{s:.6g}" for l, s in row) + "\n" for row in rows)
        else:
            found = ([{"id": l + first, "name": str(names[l]), "score": s} for l, s in row] for row in rows)
            yield "".join(json.dumps({"labels": row}, ensure_ascii=False) + "\n" for row in found)
