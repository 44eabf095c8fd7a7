"""Train a model on a file of labelled texts or rows and write it to a folder.

Texts: JSON lines, {"text": "...", "labels": ["...", "..."]} on each; or CSV, TSV or Parquet with a column
of text and a column of labels, named by --text, --labels and --label-separator.

Rows of features: a first line `rows features labels`, then one line per row: `label,label feature:value
feature:value ...`, ids from 0; or the same without the first line (svmlight).

The name or the content of the file decides which it is. It may be compressed with gzip; - is standard
input. Without further options, mlgt chooses all settings itself.
"""

import argparse

from .console import add_columns, add_jobs, add_reading, add_scheduler, add_seed, natural, number, whole
from .vocabulary import add_vocabulary

METHOD_NAMES = ("auto", "nmf-gt", "cw-gt", "sp-gt", "saffron", "he-nmfgt")
"""The keys of `estimators.METHODS`, without its imports: help and completion start at once."""
PARTITIONER_NAMES = {"metis": "by the package pymetis; the default", "propagation": "built in"}
"""The same as `labels.partition.PARTITIONERS`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="TRAIN",
        help="the training file, plain or gzip; - for standard input; or its parts: a folder, or a quoted "
        "pattern as 'rows-*.txt'",
    )
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder to write the model to")
    parser.add_argument("--force", action="store_true", help="replace the model in DIR if there is one")
    parser.add_argument(
        "--keep-work",
        metavar="WORK",
        help="keep finished tasks in this folder, so that the same command goes on after it was killed "
        "(default: beside DIR, if training takes more than a minute)",
    )
    add_scheduler(parser)
    add_seed(parser)
    add_jobs(parser)
    add_reading(parser)
    for what in ("label", "feature"):
        text = f"{what} names, one per line in the order of ids: a name, or an id, a tab and names"
        parser.add_argument(f"--{what}-names", metavar="FILE", help=text)
    add_columns(parser)
    vocabulary = parser.add_argument_group("all labels of texts, also those without a text")
    add_vocabulary(vocabulary, "SKOS (.ttl, .rdf), CSV, lines of id, tab and name, or one name per line")
    vocabulary.add_argument(
        "--vocabulary-only", action="store_true", help="drop labels of the file that FILE does not have"
    )
    _add_text_options(parser.add_argument_group("terms of a text"))
    parser.add_argument(
        "--no-sample",
        action="store_true",
        help="keep no rows in the model; `mlgt update` then cannot check what it does",
    )
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
    group.add_argument(
        "--language",
        type=_languages,
        metavar="CODE",
        help="use stems of words: en, fi, ..., several as fi,sv,en, or auto (default: words as they are)",
    )
    group.add_argument(
        "--max-characters", type=whole, metavar="N", help="use only the first N characters of each text"
    )


def _add_settings(group):
    group.add_argument(
        "--method",
        choices=METHOD_NAMES,
        default="auto",
        help="auto, or a method of the paper: nmf-gt, cw-gt, sp-gt, he-nmfgt with hard decoding; saffron, "
        "with our decoder for it",
    )
    group.add_argument("--n-groups", type=whole, metavar="M", help="number of groups, so of classifiers")
    group.add_argument(
        "--quality",
        choices=("normal", "high"),
        default="normal",
        help="high: a little more accurate, for about half more time and twice the size",
    )
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
        choices=PARTITIONER_NAMES,
        help="the algorithm that splits the labels: "
        + ", ".join(f"{name} ({what})" for name, what in PARTITIONER_NAMES.items()),
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
    from .training import train

    train(options)


def _share(text):
    """A number from 0 to below 1."""
    return number(text, lambda share: 0 <= share < 1, "a share, from 0 to below 1")


def _languages(text):
    """A language, or several separated by commas; the names are checked when texts are read."""
    return text.split(",") if "," in text else text


def _span(text):
    """Two whole numbers, as 3-5."""
    shortest, _, longest = text.partition("-")
    try:
        return whole(shortest), whole(longest)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not two whole numbers as 3-5") from None
