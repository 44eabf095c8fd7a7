"""Learn from a file of labelled texts or rows and write a model folder.

Texts: JSON lines, {"text": "...", "labels": ["...", "..."]} on each; or CSV, TSV or Parquet with a column
of text and one of labels, which --text, --labels and --label-separator name.

Rows of features: a line `rows features labels`, then one line a row: `label,label feature:value
feature:value ...`, ids from 0; or the same without the first line (svmlight).

Which it is the file's name or content tells. It may be packed with gzip; - is standard input. With no
further option mlgt picks the settings itself.
"""

import argparse
import os
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

from ..labels import PARTITIONERS
from .console import (
    add_columns,
    add_ids,
    add_jobs,
    add_seed,
    chosen_columns,
    compile_for_training,
    form_of,
    in_options,
    narrator,
    natural,
    read_lines,
    read_rows,
    refuse,
    some,
    whole,
)

METHODS = {  # name: (construction, decoder, ranker)
    "auto": ("nmf", "soft", "auto"),
    "nmf-gt": ("nmf", "top_k", None),
    "cw-gt": ("constant_weight", "top_k", None),
    "sp-gt": ("sparse_random", "top_k", None),
    "saffron": ("saffron", "saffron", None),
    "he-nmfgt": ("nmf", "top_k", None),
}
LARGE = 8
"""Files above this part of the free memory are kept in mapped files: packed ones grow about fourfold."""
HE_NMFGT = {"n_blocks": 4, "budget": None, "combination": "sum", "negatives": 0.0}
"""Four blocks, strict separators: the paper's; votes summed, foreign rows dropped: its authors' code."""


def add_arguments(parser):
    parser.add_argument(
        "file", metavar="TRAIN", help="the training file, plain or gzip; - for standard input"
    )
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder to write the model to")
    parser.add_argument("--force", action="store_true", help="replace the model in DIR if there is one")
    add_seed(parser)
    add_jobs(parser)
    add_ids(parser)
    parser.add_argument(
        "--label-names", metavar="FILE", help="label names, one a line, in the order of ids"
    )
    add_columns(parser)
    terms = parser.add_argument_group("what counts in a text")
    terms.add_argument("--words", type=natural, metavar="N", help="runs of up to N words (default: 1)")
    terms.add_argument(
        "--characters", type=_span, metavar="A-B", help="runs of A to B characters too, 3-5 say"
    )
    terms.add_argument("--min-df", type=whole, metavar="N", help="leave out what is in fewer than N texts")
    terms.add_argument(
        "--hashing", action="store_true", help="keep no list of words: hash them to 2^18 columns"
    )
    tuning = parser.add_argument_group("settings, chosen by mlgt if not given")
    tuning.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="auto, or one of the paper's own: nmf-gt, cw-gt, sp-gt, he-nmfgt with hard decoding; saffron, "
        "with our decoder for it",
    )
    tuning.add_argument(
        "--n-groups", type=whole, metavar="M", help="how many groups, so how many classifiers"
    )
    tuning.add_argument(
        "--tail", type=float, default=0.0, metavar="T", help="above 0, rare labels rank higher (1: PSP@k)"
    )
    tuning.add_argument(
        "--column-weight", type=whole, metavar="C", help="in how many groups (saffron: bins) a label is"
    )
    tuning.add_argument(
        "--groups", metavar="FILE", help="your own groups: a group a line, the ids of its labels"
    )
    blocks = parser.add_argument_group(
        "labels in blocks, for very many of them; --n-groups is then a block's"
    )
    blocks.add_argument(
        "--blocks", type=whole, metavar="L", help="split the labels into L blocks (he-nmfgt: 4)"
    )
    blocks.add_argument(
        "--budget",
        type=_share,
        metavar="SHARE",
        help="of the labels that separators may hold, 0.05 say; if not given, as many as it takes",
    )
    blocks.add_argument(
        "--partitioner",
        choices=tuple(PARTITIONERS),
        help="how they are split: " + ", ".join(f"{name} ({what})" for name, what in PARTITIONERS.items()),
    )
    blocks.add_argument(
        "--route",
        type=_share,
        metavar="LOSS",
        help="ask only the blocks that look best, at the price of this share of the labels, 0.01 say",
    )
    blocks.add_argument(
        "--reordering",
        nargs=2,
        metavar=("PERM", "BLOCKS"),
        help="take the blocks from two files in the form of the paper's authors",
    )
    blocks.add_argument(
        "--partition",
        metavar="FILE",
        help="your own blocks: a label a line, in the order of ids, with its block, or its place in a "
        "hierarchy, such as law/tax",
    )


def run(options):
    from ..model.files import check_target, save_model

    check_target(options.model, overwrite=options.force)
    tell = narrator(options)
    model = _estimator(options, tell)
    form = form_of(options, chosen_columns(options), "xmc")
    learn = _learn_rows if form == "xmc" else _learn_texts
    save_model(learn(model, form, options, tell), options.model, overwrite=options.force)
    tell.say(f"the model is in {options.model}; next: mlgt evaluate {options.model} TEST")


TERMS = ("words", "characters", "min_df", "hashing")


def _learn_rows(model, form, options, tell):
    """The estimator fitted on rows of features."""
    refuse("with rows of features", options, *TERMS)
    with _room_for(options) as folder:
        with tell.stage("reading"):
            rows = read_rows(options, folder=folder)
            names = read_label_names(options.label_names, rows.Y.shape[1])
        _own_structure(options, model, rows.Y.shape[1])
        model = _in_blocks(model, options, rows.Y, tell)
        compile_for_training(tell)
        with _plain_warnings():
            model.fit(rows.X, rows.Y)
        del rows
    if names is not None:
        model.name_labels(names)
    return model.set_params(n_jobs=None, verbose=0)


@contextmanager
def _room_for(options):
    """A folder beside the model for the arrays of a file that would fill much of the memory; else None."""
    from .._core.memory import available_memory

    free = available_memory()
    size = os.path.getsize(options.file) if os.path.isfile(options.file) else 0
    if free is None or size < free / LARGE:
        yield None
        return
    place = next(above for above in Path(options.model).absolute().parents if above.is_dir())
    with tempfile.TemporaryDirectory(prefix=".mlgt-", dir=place) as folder:
        yield folder


def _learn_texts(model, form, options, tell):
    """A `TextTagger` around the estimator, fitted on texts."""
    from ..data import RecordFile
    from ..estimators.tagger import TextTagger

    if form == "lines":
        raise ValueError(
            "lines of text have no labels to learn from; pass JSON lines, CSV, TSV or Parquet."
        )
    refuse("with texts", options, "label_names", "first_label", "first_feature")
    columns = chosen_columns(options)
    with tell.stage("reading"):
        records = some(RecordFile(options.file, form, columns, labelled=True), options)
    _doubt_separator(columns, records)
    blank = sum(not record.text.strip() for record in records), sum(not record.labels for record in records)
    if any(blank):
        tell.say(f"of {len(records)} rows {blank[0]} have no text, {blank[1]} no label")
    compile_for_training(tell)
    asked = {name: getattr(options, name) for name in TERMS}
    tagger = TextTagger(model, **{name: value for name, value in asked.items() if value is not None})
    with _plain_warnings():
        tagger.fit([record.text for record in records], [record.labels for record in records])
    tagger.columns_ = columns.to_facts()
    tagger.classifier_.set_params(n_jobs=None, verbose=0)
    return tagger


def _doubt_separator(columns, records):
    """A word to the user where no row has two labels, but most look like several."""
    if columns.separator is not None or any(len(record.labels) > 1 for record in records):
        return
    for mark in (",", "|"):
        if sum(mark in label for record in records for label in record.labels) > len(records) / 2:
            print(
                f"mlgt: no row has more than one label, but most have a {mark!r} in it; if it is between "
                f"labels, pass --label-separator '{mark}'.",
                file=sys.stderr,
            )
            return


def _estimator(options, tell):
    """The estimator that the options describe, not yet fitted."""
    from ..estimators import HierarchicalMLGTClassifier, MLGTClassifier
    from ..labels.partition import read_places, read_reordering

    construction, decoder, ranker = METHODS[options.method]
    settings = {
        "decoder": decoder,
        "ranker": ranker,
        "n_groups": options.n_groups or "auto",
        "column_weight": options.column_weight or "auto",
        "tail": options.tail,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": tell,
    }
    given = options.reordering or options.partition
    asked = options.blocks or given or options.method == "he-nmfgt"
    if options.groups and asked:
        raise ValueError("--groups are of all labels; leave out blocks, which draw their own.")
    for name in ("budget", "partitioner", "route"):
        if not asked and getattr(options, name) is not None:
            raise ValueError(f"--{name} is about blocks: pass --blocks too.")
    if not asked:
        return MLGTClassifier(construction, **settings)
    named = options.blocks or options.partitioner or options.budget is not None
    if given and (named or (options.reordering and options.partition)):
        name = "--reordering" if options.reordering else "--partition"
        raise ValueError(
            f"{name} names the blocks already: leave out --blocks, --budget, --partitioner and the like."
        )
    settings |= HE_NMFGT if options.method == "he-nmfgt" else {}
    settings |= {"n_blocks": options.blocks} if options.blocks else {}
    for name in ("budget", "partitioner", "route"):
        settings |= {name: getattr(options, name)} if getattr(options, name) is not None else {}
    if given:
        own = read_reordering(*options.reordering) if options.reordering else read_places(options.partition)
        settings |= {"partitioner": own, "n_blocks": "auto", "budget": "auto"}
    return HierarchicalMLGTClassifier(construction, **settings)


def _in_blocks(model, options, Y, tell):
    """The same estimator in blocks where nothing is asked and one set of groups would be too large."""
    from ..estimators import HierarchicalMLGTClassifier, MLGTClassifier
    from ..estimators.split import FLAT_LABELS
    from ..labels.graph import count_occurring

    asked = options.method != "auto" or options.n_groups or options.column_weight or options.groups
    many = not asked and type(model) is MLGTClassifier and count_occurring(Y) > FLAT_LABELS
    if not many:
        return model
    tell.say(f"more than {FLAT_LABELS} labels occur: they are split into blocks")
    return HierarchicalMLGTClassifier(**model.get_params(deep=False))


def _own_structure(options, model, d):
    """Groups and blocks from files: do they have the labels of the data?"""
    from .._core.errors import DataFormatError
    from ..groups.files import read_groups

    if options.groups:
        model.construction = read_groups(options.groups, d, options.first_label)
    if options.partition and model.partitioner.n_labels != d:
        raise DataFormatError(
            f"{options.partition} has {model.partitioner.n_labels} lines, but there are {d} labels; "
            "expected a line for each, in the order of ids."
        )


@contextmanager
def _plain_warnings():
    """Warnings as a line without the place in the code."""
    from .._core.errors import NoSeparatorWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", NoSeparatorWarning)
        warnings.showwarning = lambda message, *_, **__: print(
            f"mlgt: {in_options(str(message))}", file=sys.stderr
        )
        yield


def _share(text):
    """A number from 0 to below 1."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share, from 0 to below 1")
    return share


def _span(text):
    """Two whole numbers, like 3-5."""
    shortest, _, longest = text.partition("-")
    try:
        return whole(shortest), whole(longest)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not two whole numbers like 3-5") from None


def read_label_names(path, d):
    """The names of d labels, one a line; None without a file."""
    if path is None:
        return None
    from .._core.errors import DataFormatError

    names = read_lines(path)
    if len(names) != d:
        raise DataFormatError(
            f"{path} has {len(names)} lines, but there are {d} labels; expected one name a line, in the "
            "order of the label ids."
        )
    return names
