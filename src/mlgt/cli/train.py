"""Train a model on a file of labelled texts or rows and write it to a folder.

Texts: JSON lines, {"text": "...", "labels": ["...", "..."]} on each; or CSV, TSV or Parquet with a column
of text and a column of labels, named by --text, --labels and --label-separator.

Rows of features: a first line `rows features labels`, then one line per row: `label,label feature:value
feature:value ...`, ids from 0; or the same without the first line (svmlight).

The name or the content of the file decides which it is. It may be compressed with gzip; - is standard
input. Without further options, mlgt chooses all settings itself.
"""

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .._core.errors import NoSeparatorWarning, OneBlockWarning
from .._core.memory import available_memory
from .._core.progress import narrating
from .._core.sparse import count_occurring
from ..data import RecordFile
from ..estimators import METHODS, TextTagger, make_estimator, settings
from ..groups.files import read_groups
from ..labels.partition import PARTITIONERS, read_places, read_reordering
from ..model.files import check_target
from ..text import check_label_lists, check_texts, label_matrix, read_label_names
from .console import (
    add_columns,
    add_jobs,
    add_reading,
    add_seed,
    compile_for_training,
    form_and_columns,
    in_options,
    limits_of,
    make_narrator,
    natural,
    number,
    read_rows,
    refuse,
    whole,
)

LARGE_FILE_SHARE = 8
"""The part of the free memory, as 1 / LARGE_FILE_SHARE, above which a file is read into mapped files.
Compressed files grow about fourfold."""
TEXT_OPTIONS = ("words", "characters", "min_df", "hashing")
BLOCK_OPTIONS = ("budget", "partitioner", "route")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="TRAIN", help="the training file, plain or gzip; - for standard input"
    )
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder to write the model to")
    parser.add_argument("--force", action="store_true", help="replace the model in DIR if there is one")
    add_seed(parser)
    add_jobs(parser)
    add_reading(parser)
    parser.add_argument(
        "--label-names", metavar="FILE", help="label names, one per line, in the order of ids"
    )
    add_columns(parser)
    _add_text_options(parser.add_argument_group("terms of a text"))
    _add_settings(parser.add_argument_group("settings, chosen by mlgt if not given"))
    _add_block_options(
        parser.add_argument_group("labels in blocks, for very many of them; --n-groups is then per block")
    )


def _add_text_options(group):
    group.add_argument("--words", type=natural, metavar="N", help="runs of up to N words (default: 1)")
    group.add_argument(
        "--characters", type=_span, metavar="A-B", help="also runs of A to B characters, as 3-5"
    )
    group.add_argument("--min-df", type=whole, metavar="N", help="drop terms in fewer than N texts")
    group.add_argument(
        "--hashing", action="store_true", help="keep no list of terms: hash them to 2^18 columns"
    )


def _add_settings(group):
    group.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="auto, or a method of the paper: nmf-gt, cw-gt, sp-gt, he-nmfgt with hard decoding; saffron, "
        "with our decoder for it",
    )
    group.add_argument("--n-groups", type=whole, metavar="M", help="number of groups, so of classifiers")
    group.add_argument(
        "--tail", type=float, default=0.0, metavar="T", help="above 0, rare labels rank higher (1: PSP@k)"
    )
    group.add_argument(
        "--column-weight", type=whole, metavar="C", help="number of groups (saffron: bins) per label"
    )
    group.add_argument(
        "--groups", metavar="FILE", help="your own groups: one per line, the ids of its labels"
    )


def _add_block_options(group):
    group.add_argument(
        "--blocks", type=whole, metavar="L", help="split the labels into L blocks (he-nmfgt: 4)"
    )
    group.add_argument(
        "--budget",
        type=_share,
        metavar="SHARE",
        help="share of the labels that separators may hold, as 0.05; if not given, as many as needed",
    )
    group.add_argument(
        "--partitioner",
        choices=PARTITIONERS,
        help="the algorithm that splits the labels: "
        + ", ".join(f"{name} ({what})" for name, what in PARTITIONERS.items()),
    )
    group.add_argument(
        "--route",
        type=_share,
        metavar="LOSS",
        help="evaluate only the most likely blocks, at the price of this share of the labels, as 0.01",
    )
    group.add_argument(
        "--reordering",
        nargs=2,
        metavar=("PERM", "BLOCKS"),
        help="take the blocks from two files in the format of the paper's authors",
    )
    group.add_argument(
        "--partition",
        metavar="FILE",
        help="your own blocks: one line per label, in the order of ids, with its block, or its place in a "
        "hierarchy, as law/tax",
    )


def run(options: argparse.Namespace) -> None:
    check_target(options.model, overwrite=options.force)
    params, narrator = _parameters(options), make_narrator(options)
    with _large_file_folder(options) as folder, narrating(narrator), _plain_warnings():
        with narrator.stage("reading"):
            form, columns = form_and_columns(options, "xmc")
            data = _Rows(options, folder) if form == "xmc" else _Texts(options, form, columns)
        data.report(narrator)
        compile_for_training(narrator)
        model = data.fit(params, options, narrator)
        del data  # it may lie in files of the folder
    model.save(options.model, overwrite=options.force)
    narrator.say(f"the model is in {options.model}; next: mlgt evaluate {options.model} TEST")


# The training data: rows or texts, each with Y and a way to fit an estimator.


class _Rows:
    """Rows of features."""

    def __init__(self, options, folder):
        refuse("with rows of features", options, *TEXT_OPTIONS)
        rows = read_rows(options, folder=folder)
        self.X, self.Y = rows.X, rows.Y
        self.names = read_label_names(options.label_names, self.Y.shape[1], limits_of(options))

    def report(self, narrator):
        """Nothing is unusual in rows."""

    def fit(self, params, options, narrator):
        estimator = _estimator(params, options, self.Y, narrator).fit(self.X, self.Y)
        if self.names is not None:
            estimator.name_labels(self.names)
        return estimator.set_params(n_jobs=None)


class _Texts:
    """Texts with the names of their labels."""

    def __init__(self, options, form, columns):
        if form == "lines":
            raise ValueError(
                "lines of text have no labels to learn from; pass JSON lines, CSV, TSV or Parquet."
            )
        refuse("with texts", options, "label_names", "first_feature")
        if options.groups is None:
            refuse("with texts", options, "first_label")
        records = RecordFile(options.file, form, columns, labelled=True, limits=limits_of(options)).read()
        self.texts, self.columns = check_texts([record.text for record in records]), columns
        self.lists = check_label_lists([record.labels for record in records])
        self.Y, _ = label_matrix(self.lists)

    def report(self, narrator):
        """Report empty texts and labels; warn if no row has two labels, but most look like several."""
        counts = sum(not text.strip() for text in self.texts), sum(not labels for labels in self.lists)
        if any(counts):
            narrator.say(f"{len(self.texts)} rows: {counts[0]} without text, {counts[1]} without label")
        if self.columns.separator is not None or any(len(labels) > 1 for labels in self.lists):
            return
        for mark in (",", "|"):
            if sum(mark in label for labels in self.lists for label in labels) > len(self.lists) / 2:
                print(
                    f"mlgt: no row has more than one label, but most have a {mark!r} in it; if it "
                    f"separates labels, pass --label-separator '{mark}'.",
                    file=sys.stderr,
                )
                return

    def fit(self, params, options, narrator):
        given = {name: getattr(options, name) for name in TEXT_OPTIONS}
        terms = {name: value for name, value in given.items() if value is not None and value is not False}
        estimator = _estimator(params, options, self.Y, narrator)
        tagger = TextTagger(estimator, **terms).fit(self.texts, self.lists)
        tagger.columns_ = asdict(self.columns)
        tagger.classifier_.set_params(n_jobs=None)
        return tagger


@contextmanager
def _large_file_folder(options) -> Iterator[str | None]:
    """A folder beside the model for the arrays of a file that would fill much of the memory, else None."""
    free = available_memory()
    size = os.path.getsize(options.file) if os.path.isfile(options.file) else 0
    if free is None or size < free / LARGE_FILE_SHARE:
        yield None
        return
    place = next(above for above in Path(options.model).absolute().parents if above.is_dir())
    with tempfile.TemporaryDirectory(prefix=".mlgt-", dir=place) as folder:
        yield folder


# The estimator that the options describe.


def _parameters(options) -> dict[str, Any]:
    """Parameters of the estimator; raises if options contradict each other."""
    params: dict[str, Any] = {"tail": options.tail, "random_state": options.seed, "n_jobs": options.jobs}
    for name, value in (("n_groups", options.n_groups), ("column_weight", options.column_weight)):
        params |= {name: value} if value else {}
    files = [f"--{name}" for name in ("reordering", "partition") if getattr(options, name)]
    in_blocks = options.blocks or files or options.method == "he-nmfgt"
    if options.groups and in_blocks:
        raise ValueError("--groups applies to all labels; leave out blocks, which draw their own groups.")
    if options.groups and options.method not in ("auto", "nmf-gt"):
        raise ValueError(
            f"--groups replaces the groups of --method {options.method}; leave out one of them."
        )
    if options.method == "he-nmfgt" and options.blocks == 1:
        raise ValueError("--method he-nmfgt needs at least two blocks; with one it is --method nmf-gt.")
    given = [name for name in BLOCK_OPTIONS if getattr(options, name) is not None]
    if given and not in_blocks:
        raise ValueError(f"--{given[0]} is about blocks: pass --blocks too.")
    if files and (len(files) > 1 or options.blocks or set(given) - {"route"}):
        raise ValueError(
            f"{files[0]} defines the blocks already: leave out --blocks, --budget and --partitioner."
        )
    params |= {"n_blocks": options.blocks} if options.blocks else {}
    return params | {name: getattr(options, name) for name in given}


def _estimator(params, options, Y, narrator):
    """The unfitted estimator for labels Y, with groups or blocks from files."""
    if options.groups:
        params |= {
            "construction": read_groups(
                options.groups, Y.shape[1], options.first_label, limits=limits_of(options)
            )
        }
    elif options.reordering or options.partition:
        own = (
            read_reordering(*options.reordering, limits=limits_of(options))
            if options.reordering
            else read_places(options.partition, Y.shape[1], limits=limits_of(options))
        )
        params |= {"partitioner": own, "n_blocks": "auto", "budget": "auto"}
    chosen = {"n_blocks", "n_groups", "column_weight", "construction", "partitioner"} & set(params)
    if options.method == "auto" and not chosen and count_occurring(Y) > settings.MAX_FLAT_LABELS:
        narrator.say(f"more than {settings.MAX_FLAT_LABELS} labels occur: they are split into blocks")
        params |= {"n_blocks": "auto"}
    return make_estimator(options.method, **params)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show warnings as one line, without the place in the code."""
    with warnings.catch_warnings():
        for category in (NoSeparatorWarning, OneBlockWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = lambda message, *_, **__: print(
            f"mlgt: {in_options(str(message))}", file=sys.stderr
        )
        yield


def _share(text):
    """A number from 0 to below 1."""
    return number(text, lambda share: 0 <= share < 1, "a share, from 0 to below 1")


def _span(text):
    """Two whole numbers, as 3-5."""
    shortest, _, longest = text.partition("-")
    try:
        return whole(shortest), whole(longest)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not two whole numbers as 3-5") from None
