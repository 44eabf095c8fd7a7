"""Compare a model's predictions with the true labels of a file.

P@k is the share of the k best labels that is right, Pi@k the paper's variant of it, nDCG@k also values
their order, PSP@k counts rare labels more. Rows without labels count as zero. Intervals are 95 %
bootstrap intervals over the rows. Then: the labels done worst and best, rare and frequent ones, how right
predictions are that are at least so probable, and the rows (counted from 1) whose wrong label was thought
most certain. Of texts, labels the model does not know are told, and count as missed.
"""

import json
import time
from dataclasses import dataclass
from typing import Any

from .console import (
    add_columns,
    add_ids,
    add_jobs,
    add_model,
    compile_for_prediction,
    in_blocks,
    model_rows,
    narrator,
    print_table,
    some,
    text_records,
    whole,
)


def add_arguments(parser):
    add_model(parser)
    parser.add_argument("file", metavar="TEST", help="labelled rows, in a format of `mlgt train`")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw how far probabilities can be trusted (PNG, PDF or SVG)"
    )
    parser.add_argument("--html", metavar="FILE", help="write one page with pictures and tables")
    parser.add_argument(
        "--show", type=whole, default=5, metavar="N", help="labels at either end, and errors (default: 5)"
    )
    add_jobs(parser)
    add_ids(parser)
    add_columns(parser)


def run(options):
    from ..model.predictor import Predictor
    from ..report import check_picture

    if options.plot:
        check_picture(options.plot)
    model = Predictor(options.model, n_jobs=options.jobs)
    tell = narrator(options)
    compile_for_prediction(tell, model)
    with tell.stage("reading"):
        rows, names, unknown = read_labelled(options, model)
    with tell.stage("predicting") as progress:
        labels, milliseconds = timed_topk(model, rows.X, progress)
    with tell.stage("evaluating"):
        report = evaluate_ranking(model, rows.Y, labels)
        answer = Answer.of(model, rows.X)
        judge_probabilities(answer, rows.Y, report)
        report["diagnosis"] = _diagnose(model, answer, rows.Y, names, options)
    report |= {"ms_per_instance": milliseconds} | unknown
    if options.plot:
        _plot(options, report)
    if options.html:
        _write_page(options, report)
    if options.json:
        print(json.dumps(report))
    else:
        _print(report, options)


def read_labelled(options, model):
    """(rows, names of the columns of Y or None, report of labels that the model does not know).

    The unknown labels have the last columns of Y.
    """
    if model.features_ is None:
        names = None if model.classes_.dtype.kind == "i" else model.classes_
        return model_rows(options, model, labels=True), names, {}
    from collections import Counter

    from ..data import Dataset
    from ..text import check_label_lists, label_matrix

    records = some(text_records(options, model, labelled=True), options)
    lists = check_label_lists([record.labels for record in records])
    Y, names = label_matrix(lists, model.classes_)
    new = set(names[len(model.classes_) :])
    often = Counter(label for labels in lists for label in labels if label in new)
    unknown = {
        "n_unknown_labels": len(new),
        "n_unknown_occurrences": often.total(),
        "unknown_labels": [name for name, _ in often.most_common(5)],
    }
    return Dataset(model.features_([record.text for record in records]), Y), names, unknown


def timed_topk(model, X, progress=None, k=5):
    """(labels, milliseconds a row) of a batch, compilation not counted."""
    import numpy as np

    k = min(k, len(model.classes_))
    if X.shape[0] == 0:
        return np.empty((0, k), int), 0.0
    model.predict_topk(X[:1], k)  # compile, and map the model's files
    began = time.perf_counter()
    labels = np.concatenate([block[0] for block in in_blocks(model.predict_topk, X, k, progress)])
    return labels, 1e3 * (time.perf_counter() - began) / len(labels)


def evaluate_ranking(model, Y, labels, resamples=1000):
    """All measures of a ranking by this model, with intervals."""
    import numpy as np

    from ..metrics import evaluate

    counts = np.zeros(Y.shape[1], int)  # 0 of labels the model does not know
    counts[: len(model.label_counts_)] = model.label_counts_
    return evaluate(Y, labels, train_counts=counts, n_train=model.n_rows_, resamples=resamples)


@dataclass(frozen=True)
class Answer:
    """What a model says of rows: its candidates, best first, and the part of them it would give out."""

    labels: Any  # (n, K)
    scores: Any
    predicted: Any
    """The set `predict` chooses; -1 beyond it."""
    probability: Any = None
    """(n, K) where scores stand for one."""

    @classmethod
    def of(cls, model, X):
        from ..ranking.sets import best_sets, sigmoid

        if not model.calibrated_ or X.shape[0] == 0:
            labels, scores = model.predict_topk(X)
            return cls(labels, scores, labels)
        labels, scores = model.predict_topk(X, model.n_candidates_)
        return cls(labels, scores, best_sets(labels, scores), sigmoid(scores))


def judge_probabilities(answer, Y, report):
    """Add to the report what a model with probabilities is asked for: F1 of the sets it would predict,
    their size, the calibration error over all candidates."""
    from ..metrics import calibration_error, f1_rows, hits, reliability

    if answer.probability is None:
        return
    found = answer.labels >= 0
    table = reliability(answer.probability[found], hits(Y, answer.labels)[found])
    report["F1"] = float(f1_rows(Y, answer.predicted).mean())
    report["labels_per_row"] = float((answer.predicted >= 0).sum(axis=1).mean())
    report["calibration_error"] = calibration_error(table)


def _diagnose(model, answer, Y, names, options):
    from ..metrics.diagnosis import diagnose

    return diagnose(
        Y, answer.labels, answer.scores, answer.predicted,
        train_counts=model.label_counts_,
        probability=answer.probability,
        names=names,
        count=options.show,
        first=options.first_label,
    )  # fmt: skip


def _plot(options, report):
    from .._core.errors import ModelFileError
    from ..report import draw_reliability

    if "calibration_error" not in report:
        raise ModelFileError(
            f"{options.model} has no calibrated probabilities to draw; train it without --method, on some "
            "hundred rows or more."
        )
    table = [tuple(bin.values()) for bin in report["diagnosis"]["calibration"]]
    error = report["calibration_error"]
    draw_reliability(options.plot, table, f"{options.model}: calibration error {error:.4f}")


def _write_page(options, report):
    from ..data.files import replacing
    from ..report import evaluation_page

    with replacing(options.html) as file:
        file.write(evaluation_page(f"{options.model} on {options.file}", report).encode())


def _print(report, options):
    intervals = report["intervals"]
    rows = []
    for name in ("P", "Pi", "nDCG", "PSP", "recall"):
        cells = [f"{name}@k"]
        for k in (1, 3, 5):
            low, high = intervals[f"{name}@{k}"]
            value = report[f"{name}@{k}"]
            cells.append(f"{value:.4f} -{value - low:.3f} +{high - value:.3f}")
        rows.append(cells)
    print_table(
        f"{options.model} on {options.file}, with 95 % intervals", ("", "k = 1", "k = 3", "k = 5"), rows
    )
    print(
        f"{report['n']} rows, {report['n_unlabelled']} of them without labels; Hamming loss of the "
        f"first 5 {report['hamming']:.6f}; {report['ms_per_instance']:.3f} ms a row."
    )
    if report.get("n_unknown_labels"):
        shown = report["unknown_labels"]
        print(
            f"{report['n_unknown_labels']} labels of the file are unknown to the model and count as "
            f"missed, {report['n_unknown_occurrences']} times: {', '.join(shown)}"
            f"{', ...' if report['n_unknown_labels'] > len(shown) else ''}."
        )
    if "F1" in report:
        print(
            f"Predicted sets have {report['labels_per_row']:.1f} labels a row and an F1 of "
            f"{report['F1']:.4f}; probabilities are off by {report['calibration_error']:.4f} on average."
        )
    _print_diagnosis(report["diagnosis"])


def _print_diagnosis(found):
    from ..report.page import label_name, told_labels, wrong_first
    from ..report.pictures import as_share, band_name

    counts, shares = ("true", "predicted", "right"), ("precision", "recall")
    bands = [
        (band_name(band), band["labels"], *(band[c] for c in counts), *(as_share(band[s]) for s in shares))
        for band in found["by_frequency"]
    ]
    header = ("training rows", "labels", *counts, *shares)
    print_table("Predicted sets, by how many training rows a label had", header, bands)
    for end in ("worst", "best"):
        rows = [
            (clip(label_name(l)), *(l[c] for c in counts), *(as_share(l[s], 2) for s in (*shares, "F1")))
            for l in found[f"{end}_labels"]
        ]
        print_table(f"Labels done {end}", ("label", *counts, *shares, "F1"), rows)
    if "coverage" in found:
        kept = [
            (
                f"{row['threshold']:.2f}",
                *(as_share(row[name]) for name in ("precision", "recall", "rows", "labels_per_row")),
            )
            for row in found["coverage"]
            if row["threshold"] in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
        ]
        columns = ("at least", "precision", "recall", "rows with a label", "labels a row")
        print_table("Only the labels of at least a probability", columns, kept)
    if found["errors"]:
        print("The surest errors (* is wrong, and comes first):")
    for error in found["errors"]:
        predicted = told_labels(wrong_first(error["predicted"]), _marked)
        print(f"  row {error['row']}: {predicted}\n    missed: {told_labels(error['missed'], label_name)}")


def _marked(label):
    from ..report.page import label_name

    return f"{'' if label['right'] else '*'}{label_name(label)} {label['score']:.2f}"


def clip(text, width=32):
    """The text, cut where a table would be too wide."""
    return text if len(text) <= width else text[: width - 3] + "..."
