"""Make a trained model smaller: ranker weights below a threshold are dropped.

Training itself drops those below 0.1; 0.2 to 0.5 are worth a try. With --test the loss is measured;
probabilities were calibrated with all weights, so look at the calibration error too. Several thresholds
are compared without --out; with it the model of one threshold is written.
"""

import argparse
import copy
import json

from .console import (
    add_columns,
    add_ids,
    add_jobs,
    add_model,
    compile_for_prediction,
    narrator,
    print_table,
)


def add_arguments(parser):
    add_model(parser)
    parser.add_argument(
        "--threshold", type=_positive, nargs="+", required=True, metavar="T", help="the least weight kept"
    )
    parser.add_argument("--out", metavar="DIR2", help="the folder to write the smaller model to")
    parser.add_argument("--force", action="store_true", help="replace the model in DIR2 if there is one")
    parser.add_argument("--test", dest="file", metavar="TEST", help="labelled rows to measure the loss on")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_jobs(parser)
    add_ids(parser)
    add_columns(parser)


def run(options):
    from ..model.files import check_target, load_model, save_model
    from ..model.predictor import Predictor
    from ..ranking.prune import prune
    from .evaluate import read_labelled

    if options.out is not None:
        check_target(options.out, overwrite=options.force)
        if len(options.threshold) > 1:
            raise ValueError("--out takes the model of one --threshold; compare several without --out.")
    model = load_model(options.model)
    if _ranked(model).ranker_ is None:
        raise ValueError(
            f"{options.model} has no rankers to prune: its method, or so few labels, need none. Expected "
            "a model that `mlgt train` made without --method, of many hundred labels."
        )
    tell = narrator(options)
    rows = None
    if options.file is not None:
        predictor = Predictor(model)
        compile_for_prediction(tell, predictor)
        with tell.stage("reading"):
            rows, *_ = read_labelled(options, predictor)
    versions = [(0.0, model)]
    for threshold in sorted(options.threshold):
        smaller = copy.copy(model)
        if _ranked(model) is not model:
            smaller.classifier_ = copy.copy(model.classifier_)
        _ranked(smaller).ranker_ = prune(_ranked(model).ranker_, threshold)
        versions.append((threshold, smaller))
    with tell.stage("measuring"):
        facts = [_facts(threshold, version, rows, options) for threshold, version in versions]
    if options.out is not None:
        save_model(smaller, options.out, overwrite=options.force)
    if options.json:
        print(json.dumps({"before": facts[0], "after": facts[1:]}))
    else:
        _print(options, facts)


def _ranked(model):
    """The classifier, which a model of texts has inside."""
    return getattr(model, "classifier_", model)


def _facts(threshold, model, rows, options):
    """Weights, bytes, and with rows how good the model is."""
    _, arrays = model._to_state()
    facts = {"threshold": threshold, "ranker_weights": len(_ranked(model).ranker_.values)}
    facts["bytes"] = sum(array.nbytes for array in arrays.values())
    if rows is not None:
        from ..model.predictor import Predictor
        from .evaluate import Answer, evaluate_ranking, judge_probabilities

        predictor = Predictor(model, n_jobs=options.jobs)
        labels, _ = predictor.predict_topk(rows.X)
        report = evaluate_ranking(predictor, rows.Y, labels, resamples=0)
        judge_probabilities(Answer.of(predictor, rows.X), rows.Y, report)
        wanted = ("P@1", "P@3", "P@5", "nDCG@5", "F1", "calibration_error")
        facts |= {name: report[name] for name in wanted if name in report}
    return facts


def _print(options, facts):
    names = [name for name in facts[0] if name not in ("threshold", "ranker_weights", "bytes")]
    rows = [
        (
            "as it is" if i == 0 else f"{one['threshold']:g}",
            one["ranker_weights"],
            f"{one['bytes'] / 1e6:.2f}",
            *(f"{one[name]:.4f}" for name in names),
        )
        for i, one in enumerate(facts)
    ]
    header = (
        "threshold",
        "weights",
        "MB",
        *(name.replace("calibration_error", "calib.") for name in names),
    )
    print_table(str(options.model), header, rows)
    if options.out is not None:
        print(f"The smaller model is in {options.out}.")


def _positive(text):
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number
