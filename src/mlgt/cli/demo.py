"""Train and evaluate on real data that ships with mlgt, and draw a picture.

The data are the descriptions of about 30,000 Debian packages and their tags.
mlgt is compared with one classifier per tag (one-vs-all, by the same solver)
and with the most frequent tags. With --csv, the data are written as tables of
texts instead, to try the other verbs on.
"""

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from .._core.progress import narrating
from .._core.terminal import show
from .console import add_jobs, add_seed, make_narrator, print_table


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        default="mlgt-demo.png",
        metavar="FILE",
        help="file of the picture: PNG, PDF or SVG (default: %(default)s)",
    )
    parser.add_argument(
        "--csv",
        metavar="DIR",
        help="only write DIR/train.csv and DIR/test.csv, with columns package, words and tags",
    )
    add_seed(parser)
    add_jobs(parser)


def run(options: Namespace) -> None:
    if options.csv is not None:
        _write_tables(Path(options.csv))
    else:
        _compare(options)


def _compare(options):
    from ..data.datasets import load_debtags
    from ..report import check_picture

    check_picture(options.output)
    data = load_debtags()
    X, Y, n_test = data.train.X, data.train.Y, data.test.X.shape[0]
    show(
        f"Debian's debtags: {X.shape[0]} training packages, {n_test} test packages; "
        f"{X.shape[1]} words, {Y.shape[1]} tags, {Y.nnz / Y.shape[0]:.1f} tags per package."
    )
    model, results = _measure(data, options)
    header = ("", "groups", *(f"{m}@{k}" for m in ("P", "Pi") for k in (1, 3, 5)), "train s", "ms/row")
    print_table("Precision of the first k tags", header, [_row(*result) for result in results])
    show(*MEANING.format(Y.shape[1]).splitlines(), "")
    examples = _examples(data.test.Y, options.seed)
    _print_examples(model.name_labels(data.tags), data, examples)
    precisions = {name: {k: report[f"P@{k}"] for k in (1, 3, 5)} for name, _, report, *_ in results}
    precisions["most frequent"] = precisions.pop("frequent")
    richest = max(examples, key=lambda row: data.test.Y[[row]].nnz)
    _draw(options.output, model, data, precisions, richest)
    show("", f"The picture is in {options.output}.", "", *NEXT.splitlines())


def _measure(data, options):
    """(mlgt's model, [(name, groups, measures, seconds of training, milliseconds per row)])."""
    import numpy as np

    from ..estimators import MLGTClassifier
    from ..evaluation import timed_topk
    from ..metrics import evaluate

    progress = make_narrator(options)
    (X, Y), (X_test, Y_test) = (data.train.X, data.train.Y), (data.test.X, data.test.Y)
    settings = {"random_state": options.seed, "n_jobs": options.jobs}
    model = MLGTClassifier(**settings)
    one_vs_all = MLGTClassifier(construction=np.eye(Y.shape[1], dtype=np.float32), **settings)
    # Compiles what the clock should not count. For few rows, mlgt would choose other kernels by itself.
    warm_up = MLGTClassifier(n_groups=64, ranker_params={"centroids": False}, **settings)
    warm_up.fit(X[::10], Y[::10])
    results = []
    for name, estimator in {"mlgt": model, "one-vs-all": one_vs_all}.items():
        progress.say(name)
        began = time.perf_counter()
        with narrating(progress):
            estimator.fit(X, Y)
        seconds = time.perf_counter() - began
        labels, milliseconds = timed_topk(estimator, X_test)
        results.append((name, estimator.n_groups_, evaluate(Y_test, labels), seconds, milliseconds))
    frequent = np.argsort(-model.label_counts_, kind="stable")[:5]
    report = evaluate(Y_test, np.tile(frequent, (X_test.shape[0], 1)))
    return model, [*results, ("frequent", 0, report, 0.0, 0.0)]


def _write_tables(folder):
    """Write the packages as tables, which appear together; descriptions are words without order."""
    from .._core.aside import making_folder
    from .._core.files import replacing
    from ..data.datasets import load_debtags

    data = load_debtags()
    with (
        making_folder(folder),
        replacing(folder / "train.csv") as train,
        replacing(folder / "test.csv") as test,
    ):
        _write_table(train, data, data.train, data.train_packages)
        _write_table(test, data, data.test, data.test_packages)
    train = folder / "train.csv"
    show(f"{train} and test.csv: {len(data.train_packages)} and {len(data.test_packages)} packages.")
    show(f"next: mlgt train {train} --text words --labels tags --model DIR")


def _write_table(file, data, rows, packages):
    import csv
    import io

    def row_names(M, i, names):
        return [names[j] for j in M.indices[M.indptr[i] : M.indptr[i + 1]]]

    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("package", "words", "tags"))
    for i, package in enumerate(packages):
        words, tags = row_names(rows.X, i, data.words), row_names(rows.Y, i, data.tags)
        table.writerow((package, " ".join(words), ";".join(tags)))
    text.detach()


MEANING = """\
P@k is the share of right tags among the first k. one-vs-all is mlgt with one classifier per tag: with as
few as {} tags it is about as good, with many thousands it takes too long. frequent gives every
package the most frequent tags. Differences of less than .004 may be chance. For comparison, LinearSVC of
scikit-learn for every tag, on rows of length 1, was measured at P@1 .782, P@3 .515 and P@5 .383, in about
ten times mlgt's training time."""

NEXT = """What to try next:
  mlgt train TRAIN --model DIR       train on your own file (`mlgt train --help` lists the formats)
  mlgt evaluate DIR TEST             evaluate the model
  mlgt predict DIR FILE              predict labels for new rows
  mlgt inspect DIR                   show the contents of the model"""


def _row(name, groups, report, seconds, milliseconds):
    measures = [f"{report[f'{m}@{k}']:.3f}" for m in ("P", "Pi") for k in (1, 3, 5)]
    times = [f"{seconds:.1f}", f"{milliseconds:.3f}"] if seconds else ["-", "-"]
    return [name, groups or "-", *measures, *times]


def _examples(Y, seed, count=3, min_labels=3):
    """Draw test rows with at least `min_labels` labels at random."""
    import numpy as np

    rich_rows = np.flatnonzero(np.diff(Y.indptr) >= min_labels)
    return np.random.default_rng(seed).choice(rich_rows, count, replace=False)


def _print_examples(model, data, examples):
    labels, _ = model.predict_topk(data.test.X[examples], 5)
    for row, ids in zip(examples, labels):
        truth = set(data.test.Y[[row]].indices.tolist())
        found = [("+ " if label in truth else "  ") + data.tags[label] for label in ids.tolist()]
        missed = sorted(data.tags[label] for label in truth - set(ids.tolist()))
        show(
            str(data.test_packages[row]),
            f"  found:  {', '.join(found)}",
            f"  missed: {', '.join(missed) or '-'}",
        )
    show("(+ marks right tags)")


def _draw(path, model, data, precisions, row):
    from ..report import draw_demo

    truth = set(data.test.Y[[row]].indices.tolist())
    scores = model.decision_function(data.test.X[[row]])[0]
    draw_demo(path, data.train.Y, data.tags, scores, (data.test_packages[row], truth), precisions)
