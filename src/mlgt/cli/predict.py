"""Find the best labels of each row of a file.

Prints one line a row: `label:score label:score ...`, best first, ids counted as in the file (see
--first-label). Scores are probabilities where the model has them, as those of `mlgt train` without --method
do, else logarithms: 0 is certain, more negative is less likely. With -k auto a row gets as many labels as
make the expected F1 largest. Labels in the file, if there are any, are not looked at. With --format jsonl
each line is a JSON object with ids, names and scores.
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
    parser.add_argument(
        "-k", type=_count, help="labels a row, or auto (default: 5, or all where there are fewer)"
    )
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
            _lines(options.format, model.classes_, options.first_label, *_finish(model, options, *block))
            for block in in_blocks(model, X, _asked(model, options), progress)
        )
        if options.output is None:
            for text in texts:
                sys.stdout.write(text)
        else:
            with replacing(options.output) as file:
                file.writelines(text.encode() for text in texts)


def _count(text):
    return text if text == "auto" else whole(text)


def _asked(model, options):
    if options.k != "auto":
        return options.k
    if not model.calibrated_:
        raise ValueError(
            f"-k auto needs probabilities, which the model in {options.model} does not have; pass a number."
        )
    return model.n_candidates_


def _finish(model, options, labels, scores):
    """Scores as probabilities where they are, and the cut of -k auto."""
    from ..rank import best_sets, sigmoid

    if not model.calibrated_:
        return labels, scores
    return best_sets(labels, scores) if options.k == "auto" else labels, sigmoid(scores)


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
