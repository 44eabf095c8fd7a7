"""Make a trained model smaller by dropping small weights.

Weights of the rankers below the threshold T are dropped, and all weights of a
word in the group classifiers if the largest is below T times the largest of
all words (the highest one in a hundred left aside), for at most the share T of
the words. Training itself drops weights of rankers below 0.1; thresholds from
0.2 to 0.5 are worth a try.

With --test, the smaller models are evaluated; look at the calibration error
too, since probabilities were calibrated with all weights. Without --out,
several thresholds are compared; with it, the model of one threshold is
written.
"""

import argparse
from dataclasses import replace
from typing import Any

from .._core.terminal import show
from .console import (
    add_columns,
    add_jobs,
    add_model,
    add_reading,
    make_narrator,
    positive,
    print_json,
    print_table,
)
from .models import add_output, read_labelled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "--threshold",
        type=positive,
        nargs="+",
        required=True,
        metavar="T",
        help="smallest absolute weight to keep; several are compared",
    )
    add_output(parser)
    parser.add_argument(
        "--test", dest="file", metavar="TEST", help="file of labelled rows to evaluate the models on"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    add_jobs(parser)
    add_reading(parser)
    add_columns(parser)


def run(options: argparse.Namespace) -> None:
    if options.out is None:
        _prune(options)
        return
    from ..model.writing import claim

    if len(options.threshold) > 1:
        raise ValueError("--out takes the model of one --threshold; compare several without --out.")
    with claim(options.out, overwrite=options.force):
        _prune(options)


def _prune(options):
    from ..model.predictor import Predictor
    from ..model.reading import read_model
    from ..model.writing import save_model

    header, model = read_model(options.model)
    if model.ranker is None:
        raise ValueError(
            f"{options.model} has no rankers to prune: its method, or its small number of labels, needs "
            "none. Expected a model that `mlgt train` made without --method, of many hundred labels."
        )
    progress = make_narrator(options)
    rows = None
    if options.file is not None:
        predictor = Predictor(model)
        with progress.stage("reading"):
            rows = read_labelled(options, predictor)
    versions = [(0.0, model)]
    versions += [(t, _pruned(model, t)) for t in sorted(options.threshold)]
    with progress.stage("measuring"):
        facts = [_facts(threshold, version, rows, options) for threshold, version in versions]
    if options.out is not None:
        save_model(versions[-1][1], header, options.out, overwrite=options.force)
    if options.json:
        print_json({"before": facts[0], "after": facts[1:]})
    else:
        _print(options, facts)


def _pruned(model, threshold):
    """Return the model without small weights; the group classifiers of blocks stay as they are."""
    smaller = replace(model, ranker=model.ranker.pruned(threshold))
    if not hasattr(model.classifiers, "pruned"):
        return smaller
    return replace(smaller, classifiers=model.classifiers.pruned(threshold))


def _facts(threshold, model, rows, options) -> dict[str, Any]:
    """Return the size of a model and, with rows, its measures."""
    from ..model.format import to_arrays
    from ..model.packing import packed

    facts = {"threshold": threshold, "ranker_weights": len(model.ranker.values)}
    if hasattr(model.classifiers, "pruned"):
        facts["group_weights"] = model.classifiers.weights.size
    facts["bytes"] = sum(array.nbytes for array in packed(to_arrays(model)).values())
    if rows is not None:
        from ..evaluation import Answer, evaluate_ranking, evaluate_sets
        from ..model.predictor import Predictor

        predictor = Predictor(model, n_jobs=options.jobs)
        labels, _ = predictor.predict_topk(rows.X)
        report = evaluate_ranking(predictor, rows.Y, labels, resamples=0)
        report |= evaluate_sets(Answer.from_model(predictor, rows.X), rows.Y)
        wanted = ("P@1", "P@3", "P@5", "nDCG@5", "F1", "calibration_error")
        facts |= {name: report[name] for name in wanted if name in report}
    return facts


def _print(options, facts):
    sizes = [name for name in ("ranker_weights", "group_weights") if name in facts[0]]
    names = [name for name in facts[0] if name not in ("threshold", *sizes, "bytes")]
    rows = [
        (
            "unchanged" if i == 0 else f"{one['threshold']:g}",
            *(one[name] for name in sizes),
            f"{one['bytes'] / 1e6:.2f}",
            *(f"{one[name]:.4f}" for name in names),
        )
        for i, one in enumerate(facts)
    ]
    measures = (name.replace("calibration_error", "calib.") for name in names)
    weights = (name.replace("_weights", " weights") for name in sizes)
    print_table(str(options.model), ("threshold", *weights, "MB", *measures), rows)
    if options.out is not None:
        show(f"The smaller model is in {options.out}.")
