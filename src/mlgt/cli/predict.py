"""Find the best labels of each row of a file.

Prints one line a row: `label:score label:score ...`, best first, ids counted as in the file (see
--first-label). Scores are logarithms: 0 is certain, more negative is less likely. Labels in the file, if
there are any, are not looked at. With --format jsonl each line is a JSON object with ids, names and scores.
"""

import json
import sys

from .console import (
    add_ids,
    add_jobs,
    add_model,
    compile_for_prediction,
    in_blocks,
    model_rows,
    narrator,
    whole,
)


def add_arguments(parser):
    add_model(parser)
    parser.add_argument("file", metavar="FILE", help="the rows, in the format of `mlgt train`")
    parser.add_argument("-k", type=whole, help="labels a row (default: 5, or all where there are fewer)")
    parser.add_argument("-o", "--output", metavar="OUT", help="write there, not to standard output")
    parser.add_argument("--format", choices=("ids", "jsonl"), default="ids", help="default: ids")
    add_jobs(parser)
    add_ids(parser)


def run(options):
    from ..data.files import replacing
    from ..predictor import Predictor

    model = Predictor(options.model, n_jobs=options.jobs)
    tell = narrator(options)
    compile_for_prediction(tell, model)
    with tell.stage("reading"):
        X = model_rows(options, model, labels=False).X
    with tell.stage("predicting") as progress:
        texts = (
            _lines(options.format, model.classes_, options.first_label, *block)
            for block in in_blocks(model, X, options.k, progress)
        )
        if options.output is None:
            for text in texts:
                sys.stdout.write(text)
        else:
            with replacing(options.output) as file:
                file.writelines(text.encode() for text in texts)


def _lines(form, names, first, labels, scores):
    rows = (
        [(label, score) for label, score in zip(ids, values) if label >= 0]
        for ids, values in zip(labels.tolist(), scores.tolist())
    )
    if form == "ids":
        return "".join(" ".join(f"{l + first}:{s:.6g}" for l, s in row) + "\n" for row in rows)
    return "".join(
        json.dumps({"labels": [{"id": l + first, "name": str(names[l]), "score": s} for l, s in row]})
        + "\n"
        for row in rows
    )
