"""The work of `mlgt train`: read the file, fit the estimator that the options describe, save the model."""

import argparse
import os
from dataclasses import asdict
from typing import Any

from .._core.aside import work_place
from .._core.errors import DataFormatError
from .._core.files import check_folder
from .._core.memory import available_memory, files_in
from .._core.progress import narrating
from .._core.sparse import count_occurring
from .._core.terminal import tell
from .._core.texts import TextsOnDisk
from ..data import RecordFile
from ..data.records import DEFAULT_SEPARATOR
from ..estimators import TextTagger, make_estimator
from ..groups.files import read_groups
from ..labels.partition import read_places, read_reordering
from ..model.writing import claim
from ..tasks import keep_work, use_scheduler
from ..text import check_label_lists, check_texts, label_matrix, probable_separator, read_names
from ..training import settings
from ..vocabulary import match_labels, read_label_vocabulary
from .console import (
    form_and_columns,
    limits_of,
    make_narrator,
    parts_of,
    read_rows,
    refuse,
)
from .vocabulary import read_given

LARGE_FILE_SHARE = 8
"""The part of the free memory, as 1 / LARGE_FILE_SHARE, above which data are kept in mapped files.
Compressed files grow about fourfold."""
MIN_KEPT_SECONDS = 60.0
"""Estimated time from which on the finished tasks of a training are kept."""
TEXT_OPTIONS = ("words", "characters", "min_df", "hashing", "language", "max_characters")
VOCABULARY_OPTIONS = ("vocabulary", "vocabulary_language", "vocabulary_only")
BLOCK_OPTIONS = ("budget", "partitioner", "route")


def train(options: argparse.Namespace) -> None:
    """Train and save a model."""
    params, narrator = _parameters(options), make_narrator(options)
    with (
        claim(options.model, overwrite=options.force) as target,
        narrating(narrator),
        files_in(target.parent),
    ):
        data = _read(options, narrator, target.parent if _is_large(options) else None)
        with _keeping(options, target), use_scheduler(options.scheduler, target.parent):
            model = data.fit(params, options, narrator)
            model.save(options.model, overwrite=options.force)
    if not options.quiet:
        tell(f"the model is in {options.model}; next: mlgt evaluate {options.model} TEST")


def _read(options, narrator, folder):
    with narrator.stage("reading"):
        form, columns = form_and_columns(options, "xmc")
        data = _Rows(options, folder) if form == "xmc" else _Texts(options, form, columns, folder)
    data.report(narrator)
    return data


def _keeping(options, target):
    """Keep finished tasks where the options say, or beside the model if training is long."""
    report = (lambda text: None) if options.quiet else tell
    if options.keep_work is not None:
        check_folder(options.keep_work)
        return keep_work(options.keep_work, report=report)
    seconds = 0.0 if options.scheduler else MIN_KEPT_SECONDS
    return keep_work(work_place(target), longer_than=seconds, exclusive=True, report=report)


# The training data: rows or texts, each with Y and a way to fit an estimator.


class _Rows:
    """Rows of features."""

    def __init__(self, options, folder):
        refuse("with rows of features", options, *TEXT_OPTIONS)
        refuse("with rows of features, whose labels have --label-names", options, *VOCABULARY_OPTIONS)
        rows = read_rows(options, folder=folder)
        self.X, self.Y = rows.X, rows.Y
        limits = limits_of(options)
        self.vocabulary = read_label_vocabulary(options.label_names, self.Y.shape[1], limits)
        self.feature_names = read_names(options.feature_names, self.X.shape[1], "features", limits)

    def report(self, narrator):
        """Nothing is unusual in rows."""

    def fit(self, params, options, narrator):
        estimator = _estimator(params, options, self.Y, narrator)
        estimator._fit(self.X, self.Y, vocabulary=self.vocabulary, feature_names=self.feature_names)
        return estimator.set_params(n_jobs=None)


class _Texts:
    """Texts with the names of their labels."""

    def __init__(self, options, form, columns, folder):
        if form == "lines":
            raise ValueError(
                "lines of text have no labels to learn from; pass JSON lines, CSV, TSV or Parquet."
            )
        refuse("with texts", options, "label_names", "feature_names", "first_feature")
        if options.groups is None:
            refuse("with texts", options, "first_label")
        files = [
            RecordFile(part, form, columns, labelled=True, limits=limits_of(options))
            for part in parts_of(options)
        ]
        labels: list[list[str]] = []
        texts = _noted(files, labels, on_disk=folder is not None)
        self.texts, self.columns = check_texts(texts if folder is None else TextsOnDisk(texts)), columns
        self.lists = check_label_lists(labels)
        if form != "jsonl" and columns.separator is None:
            _check_separator(options.file, columns.labels, self.lists)
        self.vocabulary = read_given(options)
        lists = match_labels(self.lists, self.vocabulary, only=options.vocabulary_only).lists
        self.Y, _ = label_matrix(lists, self.vocabulary and self.vocabulary.names)

    def report(self, narrator):
        """Report empty texts and labels; warn if no row has two labels, but most look like several."""
        counts = sum(not text.strip() for text in self.texts), sum(not labels for labels in self.lists)
        if any(counts):
            narrator.say(f"{len(self.texts)} rows: {counts[0]} without text, {counts[1]} without label")
        if self.columns.separator is not None or any(len(labels) > 1 for labels in self.lists):
            return
        if sum("," in label for labels in self.lists for label in labels) > len(self.lists) / 2:
            tell(
                "no row has more than one label, but most have a ',' in it; if it separates labels, pass "
                "--label-separator ','."
            )

    def fit(self, params, options, narrator):
        given = {name: getattr(options, name) for name in TEXT_OPTIONS}
        terms = {name: value for name, value in given.items() if value is not None and value is not False}
        estimator = _estimator(params, options, self.Y, narrator)
        tagger = TextTagger(
            estimator, vocabulary=self.vocabulary, vocabulary_only=options.vocabulary_only, **terms
        ).fit(self.texts, self.lists)
        tagger.columns_ = asdict(self.columns)
        tagger.classifier_.set_params(n_jobs=None)
        return tagger


def _check_separator(file, column, lists):
    """Raise if hardly any row has two labels, but most labels look like several joined by another mark."""
    alone = [labels[0] for labels in lists if len(labels) == 1]
    if len(alone) < 0.98 * sum(map(bool, lists)):
        return
    if (mark := probable_separator(alone)) is not None:
        example = next(name for name in alone if mark in name)
        parts = {part.strip() for name in alone for part in name.split(mark)}
        raise DataFormatError(
            f"{file}: the column {column!r} seems to hold labels joined by {mark!r}, like "
            f"{example[:60]!r}: {len(set(alone))} different ones, {len(parts)} if they are split. Pass "
            f"--label-separator '{mark}' to split them, or --label-separator '{DEFAULT_SEPARATOR}' if they "
            "are meant as they are."
        )


def _noted(files, labels, on_disk):
    """Yield the texts of files; `labels` gets their lists of labels, equal ones as one object."""
    known: dict[str, str] = {}
    for file in files:
        for record in file.checked(on_disk):
            labels.append([known.setdefault(label, label) for label in record.labels])
            yield record.text


def _is_large(options):
    """True if the data would fill much of the memory: they are then kept in files beside the model."""
    free = available_memory()
    size = sum(os.path.getsize(part) for part in parts_of(options) if os.path.isfile(part))
    return free is not None and size >= free / LARGE_FILE_SHARE


# The estimator that the options describe.


def _parameters(options) -> dict[str, Any]:
    """Parameters of the estimator; raises if options contradict each other."""
    params: dict[str, Any] = {name: getattr(options, name) for name in ("tail", "quality")}
    params |= {"random_state": options.seed, "n_jobs": options.jobs}
    if options.no_sample:
        params["keep_rows"] = 0
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
