"""Compare the predictions of a model with the true labels of a file.

Prints these measures, with 95 % bootstrap intervals over the rows (rows
without labels count as zero):

    P@k        share of the k best labels that is right
    Pi@k       min(k, right labels among the best 5) / k, the paper's variant
    nDCG@k     like P@k, but takes the order of the labels into account
    PSP@k      like P@k, but rare labels count more
    recall@k   share of the true labels that is among the k best

A diagnosis follows: rare and frequent labels, the worst and the best labels,
the effect of a threshold of probability, and the rows (counted from 1) with
the most confident errors. Labels of a file of texts that the model does not
know are reported, and count as missed.
"""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._core.terminal import show
from .console import (
    add_columns,
    add_jobs,
    add_model,
    add_reading,
    compile_for_prediction,
    in_blocks,
    make_narrator,
    print_json,
    print_table,
    whole,
)
from .models import read_labelled


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("file", metavar="TEST", help="file of labelled rows, in a format of `mlgt train`")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the calibration of the probabilities to FILE (PNG, PDF or SVG)"
    )
    parser.add_argument("--html", metavar="FILE", help="write the report to FILE as a page with pictures")
    parser.add_argument(
        "--show",
        type=whole,
        default=5,
        metavar="N",
        help="number of worst labels, best labels and errors to show (default: 5)",
    )
    add_jobs(parser)
    add_reading(parser)
    add_columns(parser)


def run(options: Namespace) -> None:
    from ..metrics import diagnose
    from ..model.predictor import Predictor
    from ..report import check_picture

    if options.plot:
        check_picture(options.plot)
    model = Predictor(options.model, n_jobs=options.jobs)
    progress = make_narrator(options)
    compile_for_prediction(progress, model)
    with progress.stage("reading"):
        rows, names, unknown = read_labelled(options, model)
    with progress.stage("predicting") as update:
        labels, milliseconds = timed_topk(model, rows.X, update)
    with progress.stage("evaluating"):
        report = evaluate_ranking(model, rows.Y, labels)
        answer = Answer.from_model(model, rows.X)
        report |= evaluate_sets(answer, rows.Y)
        report["diagnosis"] = diagnose(
            rows.Y, answer.labels, answer.scores, answer.predicted,
            train_counts=model.fitted_model().label_counts, probability=answer.probability, names=names,
            count=options.show, first=options.first_label, known=model.known_labels_,
        )  # fmt: skip
    report |= {"ms_per_instance": milliseconds} | unknown
    if options.plot:
        _plot(options, report)
    if options.html:
        _write_page(options, report)
    if options.json:
        print_json(report)
    else:
        _print(report, options)


def timed_topk(
    model: Any, X: Any, update: Callable[[int, int], object] | None = None, k: int = 5
) -> tuple[Any, float]:
    """Return the labels of all rows, and milliseconds per row without compilation."""
    import numpy as np

    k = min(k, len(model.fitted_model().label_counts))
    if X.shape[0] == 0:
        return np.empty((0, k), int), 0.0
    model.predict_topk(X[:1], k)  # compiles, and maps the model's files
    began = time.perf_counter()
    labels = np.concatenate([block[0] for block in in_blocks(model.predict_topk, X, k, update)])
    return labels, 1e3 * (time.perf_counter() - began) / len(labels)


def evaluate_ranking(model: Any, Y: Any, labels: Any, resamples: int = 1000) -> dict[str, Any]:
    """Return all measures of a ranking by this model, with intervals; Y may have more labels, last."""
    import numpy as np

    from ..metrics import evaluate

    counts, known = model.fitted_model().label_counts, model.known_labels_
    if known is None:
        counts = np.pad(counts, (0, max(0, Y.shape[1] - len(counts))))
    return evaluate(Y, labels, train_counts=counts, n_train=model.n_rows_, known=known, resamples=resamples)


@dataclass(frozen=True)
class Answer:
    """The candidates of a model, best first, and the part of them that it predicts; all are (n, K)."""

    labels: Any
    scores: Any
    predicted: Any  # the labels that `predict` chooses, -1 elsewhere
    probability: Any = None  # None if the model is not calibrated

    @classmethod
    def from_model(cls, model: Any, X: Any) -> "Answer":
        """Predict rows."""
        from .._core.sigmoid import sigmoid
        from ..ranking.sets import best_sets

        if not model.calibrated_ or X.shape[0] == 0:
            labels, scores = model.predict_topk(X)
            return cls(labels, scores, labels)
        labels, scores = model.predict_topk(X, model.n_candidates_)
        return cls(labels, scores, best_sets(labels, scores), sigmoid(scores))


def evaluate_sets(answer: Answer, Y: Any) -> dict[str, float]:
    """Return the F1 and the size of the predicted sets, and the calibration error of all candidates.

    The result is empty for a model without probabilities.
    """
    from ..metrics import calibration_error, f1_rows, hits, reliability

    if answer.probability is None:
        return {}
    found = answer.labels >= 0
    table = reliability(answer.probability[found], hits(Y, answer.labels)[found])
    return {
        "F1": float(f1_rows(Y, answer.predicted).mean()),
        "labels_per_row": float((answer.predicted >= 0).sum(axis=1).mean()),
        "calibration_error": calibration_error(table),
    }


def _plot(options, report):
    from .._core.errors import ModelFileError
    from ..report import draw_reliability
    from ..report.page import calibration_table

    if "calibration_error" not in report:
        raise ModelFileError(
            f"{options.model} has no calibrated probabilities to draw; train it without --method, on about "
            "a thousand rows or more."
        )
    title = f"{options.model}: calibration error {report['calibration_error']:.4f}"
    draw_reliability(options.plot, calibration_table(report["diagnosis"]), title)


def _write_page(options, report):
    from .._core.files import replacing
    from ..report import evaluation_page

    with replacing(options.html) as file:
        file.write(evaluation_page(f"{options.model} on {options.file}", report).encode())


def _print(report, options):
    from ..report.page import measure_rows

    rows = measure_rows(
        report, lambda value, low, high: f"{value:.4f} -{value - low:.3f} +{high - value:.3f}"
    )
    title = f"{options.model} on {options.file}, with 95 % intervals"
    print_table(title, ("", "k = 1", "k = 3", "k = 5"), rows)
    show(
        f"{report['n']} rows, {report['n_unlabelled']} of them without labels; Hamming loss of the "
        f"first 5 {report['hamming']:.6f}; {report['ms_per_instance']:.3f} ms per row."
    )
    if report.get("n_unknown_labels"):
        shown = report["unknown_labels"]
        more = report["n_unknown_labels"] - len(shown)
        show(
            f"{report['n_unknown_labels']} labels of the file are unknown to the model and count as "
            f"missed, {report['n_unknown_occurrences']} times: {', '.join(shown)}"
            f"{f', and {more} more' if more else ''}."
        )
    if "F1" in report:
        show(
            f"Predicted sets have {report['labels_per_row']:.1f} labels per row and an F1 of "
            f"{report['F1']:.4f}; the calibration error of the probabilities is "
            f"{report['calibration_error']:.4f}."
        )
    _print_diagnosis(report["diagnosis"])


def _print_diagnosis(found):
    from ..report.page import join_labels, label_name, wrong_first
    from ..report.pictures import band_name, format_share

    counts, shares = ("true", "predicted", "right"), ("precision", "recall")

    def cells(facts, shares, digits):
        return *(facts[c] for c in counts), *(format_share(facts[s], digits) for s in shares)

    bands = [(band_name(band), band["labels"], *cells(band, shares, 3)) for band in found["by_frequency"]]
    header = ("training rows", "labels", *counts, *shares)
    print_table("Predicted sets, by the number of training rows of a label", header, bands)
    for end in ("worst", "best"):
        labels = found[f"{end}_labels"]
        rows = [(_clip(label_name(label)), *cells(label, (*shares, "F1"), 2)) for label in labels]
        print_table(f"{end.title()} labels", ("label", *counts, *shares, "F1"), rows)
    if "coverage" in found:
        kept = [
            (
                f"{row['threshold']:.2f}",
                *(format_share(row[name]) for name in ("precision", "recall", "rows", "labels_per_row")),
            )
            for row in found["coverage"]
            if row["threshold"] in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
        ]
        columns = ("threshold", "precision", "recall", "rows with a label", "labels per row")
        print_table("Effect of a threshold of probability", columns, kept)
    if found["errors"]:
        show("Most confident errors (* marks wrong labels, which come first):")
    for error in found["errors"]:
        predicted = join_labels(wrong_first(error["predicted"]), _marked)
        missed = join_labels(error["missed"], label_name)
        show(f"  row {error['row']}: {predicted}", f"    missed: {missed}")


def _marked(label):
    from ..report.page import label_name

    return f"{'' if label['right'] else '*'}{label_name(label)} {label['score']:.2f}"


def _clip(text, width=32):
    """Cut a text that would make a table too wide."""
    return text if len(text) <= width else text[: width - 3] + "..."
