"""Predict the best labels for each text or row of a file.

By default, one line per row: `label:score label:score ...`, best first. Labels
are names, separated by tabs, if the model has names (`name score` if a name
has a colon); otherwise, or with --format ids, they are ids, counted as in the
file (see --first-label). Labels in the file are ignored. With --show id,name a
label of a vocabulary is `id name`, with --show id its id.

    --format csv     the columns of the file, then `predicted` and
                     `probabilities`, each row's joined by --label-separator
    --format jsonl   the same as one JSON object per line, with ids and names

Scores are probabilities if the model is calibrated, as models of `mlgt train`
without --method on a thousand rows are; otherwise they only order the labels,
and the column is called `scores`. With -k auto, each row gets the set of
labels with the largest expected F1; with --threshold P, labels of probability
P or more.

A model of texts reads JSON lines, CSV, TSV, Parquet, or plain text with one
text per line. Texts from a pipe (-) are answered as soon as they arrive. A
text without any known word gets no label. The last line on standard error
says what was done.
"""

import math
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._core.files import replacing
from .._core.progress import QUIET
from .._core.terminal import tell, visible, write_out
from .console import (
    add_among,
    add_columns,
    add_jobs,
    add_model,
    add_reading,
    add_scheduler,
    make_narrator,
    model_rows,
    number,
    read_among,
    refuse,
    text_records,
    whole,
)
from .models import label_names
from .vocabulary import add_show, label_text

ROWS_AT_A_TIME, CLUSTER_FACTOR = 4096, 64
"""Rows per call of the model, and how many times as many with a cluster."""
FORMATS = ("lines", "csv", "jsonl", "names", "ids")


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "file", metavar="FILE", help="file of rows, in a format of `mlgt train`; - for standard input"
    )
    parser.add_argument(
        "-k",
        type=_count,
        help="number of labels per row, or auto (default: 5, or all if there are fewer; all with "
        "--threshold)",
    )
    parser.add_argument(
        "--threshold", type=_probability, metavar="P", help="only labels with a probability of at least P"
    )
    add_among(parser, "score only the labels in FILE, one name or id per line")
    parser.add_argument("-o", "--output", metavar="OUT", help="write to OUT instead of standard output")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="lines",
        help="output format (default: lines, of names if the model has them; names, ids: lines of those)",
    )
    parser.add_argument(
        "--label-separator",
        metavar="SEP",
        help="separator of the labels in one column of --format csv (default: that of the training file)",
    )
    add_show(parser)
    add_jobs(parser)
    add_scheduler(parser)
    add_reading(parser)
    add_columns(parser, labels=False)


def run(options: Namespace) -> None:
    from ..tasks import use_scheduler

    with use_scheduler(options.scheduler):
        _predict(options)


def _predict(options):
    from ..model.predictor import Predictor

    began = time.perf_counter()
    model = Predictor(options.model, n_jobs=options.jobs)
    if options.threshold is not None and not model.calibrated_:
        raise ValueError(
            f"--threshold needs probabilities, which the model in {options.model} does not have: they need "
            "about a thousand training rows, and training without --method and --tail. Pass -k instead."
        )
    progress = make_narrator(options)
    if model.features_ is None:
        records, found = None, _predict_rows(model, options, progress)
    else:
        keep = options.format in ("csv", "jsonl")
        records = text_records(options, model, labelled=False, keep=keep, otherwise="lines")
        found = _predict_texts(model, options, progress, records)
    output = _Output(model, options, records)
    lines = output.format(found)
    if options.output is None:
        on_terminal = sys.stdout.isatty()
        for text in lines:
            write_out(visible(text, keep="\t\n") if on_terminal else text)
    else:
        with replacing(options.output) as file:
            file.writelines(text.encode() for text in lines)
    if not options.quiet:
        tell(output.summary(time.perf_counter() - began))


def _predict_rows(model, options, progress):
    """Yield (columns, labels, scores) of blocks of rows; the only column is the number of the row."""
    from ..compile.kernels import interpreting
    from ..evaluation import in_blocks

    size = Path(options.file).stat().st_size if Path(options.file).is_file() else math.inf
    with progress.stage("reading"), interpreting(size):
        X = model_rows(options, model, labels=False).X
    done, stage = 0, _unless_printing(options, progress).stage("predicting")
    with stage as update, interpreting(size, X.shape[0]):
        answer = _answering(model, options)
        block = ROWS_AT_A_TIME * (1 if options.scheduler is None else CLUSTER_FACTOR)
        for labels, scores in in_blocks(answer, X, _wanted(model, options), update, block):
            yield [[("row", done + i + 1)] for i in range(len(labels))], labels, scores
            done += len(labels)


def _predict_texts(model, options, progress, records):
    """Yield (columns, labels, scores) of batches of texts, as they arrive."""
    from ..compile.kernels import interpreting

    k, answer = _wanted(model, options), _answering(model, options)
    size = rows = 0
    with _unless_printing(options, progress).stage("predicting"):
        for batch in records.batches(1024 if options.scheduler is None else 1024 * CLUSTER_FACTOR):
            fields = [getattr(record, "fields", ()) for record in batch]
            size, rows = size + sum(len(record.text or "") for record in batch), rows + len(batch)
            with interpreting(size, rows):
                found = answer(model.features_([record.text for record in batch]), k)
            yield fields, *found


def _wanted(model, options):
    """Return the number of labels per row: a number, "auto", or None for the default."""
    known = len(model.fitted_model().label_counts)
    if options.k is None:
        return min(5, known) if options.threshold is None else model.n_candidates_
    return options.k if options.k == "auto" or model.features_ is None else min(options.k, known)


def _answering(model, options):
    """Return a function of rows and k that returns labels and values, -1 below the threshold."""
    among, best = read_among(options, model), model.fitted_model().best

    def answer(X: Any, k: Any) -> tuple[Any, Any]:
        labels, values = best(X, k, among, options.jobs)
        if options.threshold is not None:
            labels[values < options.threshold] = -1
        return labels, values

    return answer


def _unless_printing(options, progress):
    """Return a narrator without bars if the predictions appear on a terminal."""
    return QUIET if options.output is None and sys.stdout.isatty() else progress


def _count(text):
    return text if text == "auto" else whole(text)


def _probability(text):
    return number(text, lambda found: 0 < found <= 1, "a probability, above 0 and at most 1")


class _Output:
    """Formats the predictions, and counts them."""

    def __init__(self, model, options, records):
        self.model, self.options, self.records, self.names = model, options, records, label_names(model)
        if options.format == "ids":
            refuse("with --format ids", options, "show")
        self.shown = None if self.names is None and not options.show else label_text(options, model)
        self.vocabulary = model.fitted_model().vocabulary
        self.n_rows = self.n_labels = self.n_empty = 0
        self.table = None

    def format(self, predictions) -> Iterator[str]:
        """Yield the text of each block of (columns, labels, values)."""
        form = None
        for fields, labels, values in predictions:
            form = form or self._format()
            rows = [
                [self._given(l, value) for l, value in zip(*row) if l >= 0]
                for row in zip(labels.tolist(), values.tolist())
            ]
            self.n_rows += len(rows)
            self.n_labels += sum(map(len, rows))
            self.n_empty += sum(not row for row in rows)
            yield form(fields, rows)

    def _given(self, label, value):
        from ..report.tables import Given

        number = label + self.options.first_label
        ids = () if self.vocabulary is None else self.vocabulary.ids[label]
        return Given(number, str(number) if self.shown is None else self.shown(label), value, ids)

    def _format(self):
        from ..report import tables

        form, value = self.options.format, "probability" if self.model.calibrated_ else "score"
        if form == "jsonl":
            return tables.json_lines(value)
        if form == "csv":
            wanted = self.options.label_separator or (self.model.columns_ or {}).get("separator") or ";"
            separator = tables.free_separator(() if self.names is None else self.names, wanted)
            if separator != wanted:
                tell(f"names of labels contain {wanted!r}: in the table, labels are separated by "
                     f"{separator!r}.")  # fmt: skip
            from_csv = self.records is not None and self.records.form == "csv"
            delimiter = self.records.delimiter if from_csv else ","
            values = "probabilities" if self.model.calibrated_ else "scores"
            self.table = tables.CsvTable(values, separator, delimiter)
            return self.table
        if form == "names" or (form == "lines" and self.shown is not None):
            shown = str if self.shown is None else self.shown
            known = () if self.names is None else map(shown, range(len(self.names)))
            return tables.lines_of_names(known)
        return tables.format_ids

    def summary(self, seconds):
        """Return what was done, in one line."""
        where = "" if self.options.output is None else f"; they are in {self.options.output}"
        if self.table is not None and self.table.left_out:
            names = ", ".join(sorted(self.table.left_out))
            where += f"; columns that the first row does not have are left out: {names}"
        kind = "" if self.model.calibrated_ else "; the values are scores, not probabilities"
        labels = f"{self.n_labels} label{'s' * (self.n_labels != 1)}"
        rows = f"{self.n_rows} row{'s' * (self.n_rows != 1)}"
        return f"{rows} got {labels} ({self.n_empty} got none) in {seconds:.1f} s{where}{kind}"
