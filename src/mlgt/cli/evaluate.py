"""Compare the predictions of a model with the true labels of a file.

Prints the result in sentences, then these measures, with 95 % bootstrap
intervals over the rows (rows without labels count as zero):

    P@k        share of the k best labels that is right
    Pi@k       min(k, right labels among the best 5) / k, the paper's variant
    nDCG@k     like P@k, but takes the order of the labels into account
    PSP@k      like P@k, but rare labels count more
    recall@k   share of the true labels that is among the k best

A diagnosis follows: rare and frequent labels, the worst and the best labels,
the effect of a threshold of probability, labels that are given instead of each
other, and the rows (counted from 1) with the most confident errors and their
text. Labels of a file of texts that the model does not know are reported, and
count as missed.

--errors writes all rows with a wrong or missed label as a table, the most
confident errors first: correct the labels in it and pass it to `mlgt update`.
"""

from argparse import ArgumentParser, Namespace

from .._core.terminal import show, tell
from .console import (
    add_columns,
    add_jobs,
    add_model,
    add_reading,
    form_and_columns,
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
        help="number of worst labels, best labels, pairs and errors to show (default: 5)",
    )
    parser.add_argument(
        "--errors", metavar="FILE", help="write the rows with an error to FILE, a CSV table to correct"
    )
    add_jobs(parser)
    add_reading(parser)
    add_columns(parser)


def run(options: Namespace) -> None:
    from ..evaluation import evaluate_model
    from ..model.predictor import Predictor
    from ..report import check_picture

    if options.plot:
        check_picture(options.plot)
    model = Predictor(options.model, n_jobs=options.jobs)
    if options.errors and model.features_ is None:
        raise ValueError(
            f"--errors writes a table of texts, but the model in {options.model} was trained on rows of "
            "features; leave it out. --json lists the errors with the numbers of their rows."
        )
    progress = make_narrator(options)
    with progress.stage("reading"):
        rows = read_labelled(options, model, keep=options.errors is not None)
    with progress.stage("evaluating") as update:
        report, answer = evaluate_model(
            model, rows, count=options.show, first=options.first_label, progress=update
        )
    if options.plot:
        _plot(options, report)
    if options.html:
        _write_page(options, report)
    next_step = _write_errors(options, model, rows, answer) if options.errors else None
    if options.json:
        print_json(report)
    else:
        _print(report, options)
    if next_step and not options.quiet:
        tell(next_step)


def _write_errors(options, model, rows, answer):
    """Write the rows with an error; returns a sentence that says how to go on."""
    from .._core.files import replacing
    from ..evaluation import error_rows
    from ..report.tables import ErrorRow, Given, errors_table, free_separator

    _, columns = form_and_columns(options, None, model.columns_)
    separator = free_separator(rows.names, columns.separator or ";")
    errors = []
    for i in error_rows(answer, rows.Y):
        pairs = zip(answer.predicted[i].tolist(), answer.values[i].tolist())
        given = [Given(label, str(rows.names[label]), value) for label, value in pairs if label >= 0]
        errors.append(ErrorRow(i + 1, rows.records[i].fields, rows.records[i].labels, given))
    values = "probabilities" if answer.probability is not None else "scores"
    with replacing(options.errors) as file:
        file.write(errors_table(errors, columns.labels, values, separator, rows.delimiter).encode())
    return (
        f"{len(errors)} rows with an error are in {options.errors}; correct its column "
        f"{columns.labels!r}, then: mlgt update {options.model} {options.errors} --out DIR2"
        + _column_options(columns, separator, model.columns_ or {})
    )


def _column_options(columns, separator, stored):
    """Return the options by which `mlgt update` finds the columns, where the model does not name them."""
    options = {
        "--text": (",".join(columns.text), ",".join(stored.get("text", ("text",)))),
        "--labels": (columns.labels, stored.get("labels", "labels")),
        "--label-separator": (separator, stored.get("separator") or ";"),
    }
    return "".join(f" {name} '{own}'" for name, (own, usual) in options.items() if own != usual)


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
    from ..report.words import in_words

    rows = measure_rows(
        report, lambda value, low, high: f"{value:.4f} -{value - low:.3f} +{high - value:.3f}"
    )
    title = f"{options.model} on {options.file}, with 95 % intervals"
    show(*in_words(report), "")
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
    _print_bands(found["by_frequency"])
    for end in ("worst", "best"):
        _print_labels(f"{end.title()} labels", found[f"{end}_labels"])
    if "coverage" in found:
        _print_thresholds(found["coverage"])
    if found["confusions"]:
        _print_confusions(found["confusions"])
    if found["errors"]:
        _print_errors(found["errors"], are_probabilities="coverage" in found)


COUNTS = ("true", "predicted", "right")
SHARES = ("precision", "recall")
SHOWN_THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)


def _cells(facts, shares, digits):
    from ..report.pictures import format_share

    return *(facts[name] for name in COUNTS), *(format_share(facts[name], digits) for name in shares)


def _print_bands(bands):
    from ..report.pictures import band_name

    rows = [(band_name(band), band["labels"], *_cells(band, SHARES, 3)) for band in bands]
    header = ("training rows", "labels", *COUNTS, *SHARES)
    print_table("Predicted sets, by the number of training rows of a label", header, rows)


def _print_labels(title, labels):
    from ..report.page import label_name, one_line

    shares = (*SHARES, "F1")
    rows = [(one_line(label_name(label), 32), *_cells(label, shares, 2)) for label in labels]
    print_table(title, ("label", *COUNTS, *shares), rows)


def _print_thresholds(coverage):
    from ..report.pictures import format_share

    shares = ("precision", "recall", "rows", "labels_per_row")
    rows = [
        (f"{row['threshold']:.2f}", *(format_share(row[name]) for name in shares))
        for row in coverage
        if row["threshold"] in SHOWN_THRESHOLDS
    ]
    header = ("threshold", "precision", "recall", "rows with a label", "labels per row")
    print_table("Effect of a threshold of probability", header, rows)


def _print_confusions(confusions):
    from ..report.page import CONFUSED, confusion_rows, one_line

    pairs = confusion_rows(confusions)
    rows = [(one_line(true, 36), one_line(given, 36), *numbers) for true, given, *numbers in pairs]
    print_table("Labels given instead of each other", CONFUSED, rows)


def _print_errors(errors, are_probabilities):
    from ..report.page import join_labels, label_name, one_line, wrong_first

    kind = "" if are_probabilities else "; numbers are scores, not probabilities"
    show(f"Most confident errors (* marks wrong labels, which come first{kind}):")
    for error in errors:
        predicted = join_labels(wrong_first(error["predicted"]), _marked)
        missed = join_labels(error["missed"], label_name)
        text = [f"    text: {one_line(error['text'], 200)}"] if "text" in error else []
        show(f"  row {error['row']}: {predicted}", f"    missed: {missed}", *text)


def _marked(label):
    from ..report.page import label_name

    return f"{'' if label['right'] else '*'}{label_name(label)} {label['score']:.2f}"
