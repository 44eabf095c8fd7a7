"""Compare two models on the same labelled file, row by row.

Prints P@1, P@3, P@5, nDCG@5, recall@5 and F1 of both, with 95 % bootstrap
intervals of their differences: a difference whose interval holds zero is
marked (?). Then the same for rare and frequent labels and for the labels
that changed most, and the rows that changed most, with their text and both
answers. Each model gives the labels that it would predict: the set with the
largest expected F1, or five if it has no probabilities; with -k K, both give
their K best.

Labels are matched by name, or by id for models of rows: the models may know
different labels, such as before and after `mlgt update`.
"""

from argparse import ArgumentParser, Namespace

from .._core.terminal import show
from .console import (
    add_columns,
    add_jobs,
    add_reading,
    make_narrator,
    model_rows,
    print_json,
    print_table,
    whole,
)
from .models import labelled_records


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="model folder")
    parser.add_argument("b", metavar="B", help="model folder to compare with A")
    parser.add_argument("file", metavar="TEST", help="file of labelled rows, in a format of `mlgt train`")
    parser.add_argument(
        "-k", type=whole, help="number of labels that both give (default: what they predict)"
    )
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument("--html", metavar="FILE", help="write the report to FILE as a page with a picture")
    parser.add_argument("--plot", metavar="FILE", help="draw the differences to FILE (PNG, PDF or SVG)")
    parser.add_argument(
        "--show",
        type=whole,
        default=5,
        metavar="N",
        help="number of better and of worse labels and rows to show (default: 5)",
    )
    add_jobs(parser)
    add_reading(parser)
    add_columns(parser)


def run(options: Namespace) -> None:
    from ..evaluation.comparison import check_comparable, compare_models
    from ..model.predictor import Predictor
    from ..report import check_picture, draw_comparison

    if options.plot:
        check_picture(options.plot)
    models = [Predictor(path, n_jobs=options.jobs) for path in (options.a, options.b)]
    check_comparable(*models)
    progress = make_narrator(options)
    with progress.stage("reading"):
        rows = _read(options, models)
    with progress.stage("comparing"):
        report = compare_models(models, rows, k=options.k, count=options.show, first=options.first_label)
    report = {"a_model": options.a, "b_model": options.b} | report
    title = f"{options.b} compared with {options.a} on {options.file}"
    if options.plot:
        draw_comparison(options.plot, report, title)
    if options.html:
        _write_page(options, title, report)
    if options.json:
        print_json(report)
    else:
        _print(title, report)


def _read(options, models):
    """Return the records for each model, whose columns of text may differ, or X and Y."""
    own = [Namespace(**vars(options) | {"model": path}) for path in (options.a, options.b)]
    if models[0].features_ is None:
        return _read_rows(own[0], models)
    if models[0].columns_ == models[1].columns_:
        return [labelled_records(own[0], models[0])] * 2
    return [labelled_records(part, model) for part, model in zip(own, models)]


def _read_rows(options, models):
    """Return X and Y with as many labels as the larger model has."""
    import scipy.sparse as sp

    rows = model_rows(options, models[0], labels=False)
    Y = rows.Y
    d = max(Y.shape[1], *(model.n_labels_ for model in models))
    return rows.X, sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], d))


def _write_page(options, title, report):
    from .._core.files import replacing
    from ..report import comparison_page

    with replacing(options.html) as file:
        file.write(comparison_page(title, (options.a, options.b), report).encode())


def _print(title, report):
    from ..report import comparison as parts
    from ..report.page import join_labels, label_name, one_line
    from ..report.words import comparison_in_words

    show(*comparison_in_words(report), *parts.notes(report), "")
    print_table(f"{title} (?: no sure difference)", parts.MEASURED, parts.measure_cells(report))
    header = ("training rows", "labels", *parts.MEASURED[1:])
    print_table("F1 by the number of training rows of a label in A", header, parts.band_cells(report))
    if report["labels"]:
        print_table("Labels that changed most", parts.LABEL_HEADER, parts.label_cells(report))
    for end in ("better", "worse"):
        if report["rows"][end]:
            show(f"Rows that became {end} with B (* marks wrong labels):")
        for row in report["rows"][end]:
            text = f" {one_line(row['text'], 160)}" if "text" in row else ""
            answers = [f"    {name.upper()}: {parts.answer_text(row[name])}" for name in "ab"]
            show(
                f"  row {row['row']}:{text}", f"    true: {join_labels(row['true'], label_name)}", *answers
            )
