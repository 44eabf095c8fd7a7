"""Options, progress bars, tables and reading of files that the verbs share."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .._core.progress import QUIET, Narrator, narrating
from .._core.terminal import visible, write_out


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="DIR", help="model folder, as written by `mlgt train`")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs", type=whole, default=-1, metavar="J", help="number of threads (default: one per core)"
    )


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="compute on the workers of a Dask cluster, as tcp://HOST:8786; see docs/cluster.md",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=natural,
        default=0,
        metavar="S",
        help="seed; the same seed gives the same result (default: 0)",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add options for reading files: ids in rows, and limits."""
    for what in ("label", "feature"):
        text = f"smallest {what} id in the file (default: 0)"
        parser.add_argument(f"--first-{what}", type=int, choices=(0, 1), default=0, help=text)
    limits = parser.add_argument_group("limits of the files that are read")
    text = "longest line or text (default: 64)"
    limits.add_argument("--max-line", type=positive, default=64.0, metavar="MB", help=text)
    text = "unpacked bytes per byte of gzip, beyond the first 4 MB (default: 100)"
    limits.add_argument("--max-ratio", type=positive, default=100.0, metavar="R", help=text)


def limits_of(options: argparse.Namespace) -> Any:
    """Return the limits that the options set."""
    from .._core.limits import Limits

    return Limits(options.max_line, options.max_ratio)


def add_columns(parser: argparse.ArgumentParser, *, labels: bool = True) -> None:
    """Add options for reading texts from a file."""
    texts = parser.add_argument_group("texts in JSON lines, CSV, TSV or Parquet")
    texts.add_argument(
        "--text",
        type=_names,
        metavar="COLUMN",
        help="column of the text; several, separated by commas, are joined (default: text)",
    )
    if labels:
        texts.add_argument("--labels", metavar="COLUMN", help="column of the labels (default: labels)")
        texts.add_argument(
            "--label-separator", metavar="SEP", help="separator of labels in one column (default: ;)"
        )
    texts.add_argument(
        "--input",
        choices=("xmc", "jsonl", "csv", "tsv", "parquet", "lines"),
        help="format of the file, if neither its name nor its content shows it",
    )


def add_among(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("--among", metavar="FILE", help=help)


def read_among(options: argparse.Namespace, model: Any) -> list[str] | list[int] | None:
    """Return the labels of --among, or None: names if the model has names, else ids as in its training
    file."""
    if options.among is None:
        return None
    from .._core.errors import DataFormatError
    from .._core.files import read_lines

    lines = [line.strip() for line in read_lines(options.among, limits_of(options))]
    if model.fitted_model().names is not None:
        return [line for line in lines if line]
    for number, line in enumerate(lines, 1):
        if line and not re.fullmatch("[0-9]{1,18}", line):
            raise DataFormatError(
                f"{options.among}, line {number}: {line[:40]!r} is no id; expected one id per line, as the "
                "model has no label names."
            )
    return [int(line) - options.first_label for line in lines if line]


def _names(text):
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of column names separated by commas")
    return names


def whole(text: str, least: int = 1) -> int:
    """Parse a whole number, at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number < 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {2**31 - 1}")
    return number


def number(text: str, fits: Callable[[float], bool], what: str) -> float:
    """Parse a number that `fits`; `what` describes it."""
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if not fits(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return found


def positive(text: str) -> float:
    """Parse a number above 0."""
    return number(text, lambda found: 0 < found < float("inf"), "a number above 0")


def natural(text: str) -> int:
    """Parse a whole number, at least 0."""
    return whole(text, least=0)


_NUMBERS = "first_label first_feature budget route tail n_groups column_weight max_line max_ratio".split()


def in_options(message: str) -> str:
    """Return a message of the library with the names of the command's options instead of parameters."""
    for name in _NUMBERS:
        option = f"--{name.replace('_', '-')}"
        message = re.sub(rf"\b{name}=(\d)", f"{option} \\1", message)
        message = re.sub(rf"\b{name}<=(\d+)", f"{option} \\1 or less", message)
    message = re.sub(r"\bk=(\d+) exceeds", r"-k \1 exceeds", message)
    message = re.sub(r"\bPass k<=(\d+)", r"Pass -k \1 or less", message)
    message = re.sub(r"\bn_blocks=(\d)", r"--blocks \1", message)
    message = message.replace('k="auto"', "-k auto").replace("a label separator", "--label-separator")
    message = re.sub(r"\b(text|labels)=NAME", r"--\1 NAME", message)
    message = message.replace("overwrite=True (--force)", "--force")
    message = re.sub(r"\b(min_df|words|characters|hashing)(=|\b(?= if))", _as_option, message)
    message = re.sub(r"\b(partitioner|language)='(\w+)'", r"--\1 \2", message)
    return re.sub(r"\bn_blocks<=(\d+)", r"--blocks \1 or less", message)


def _as_option(match):
    name, equals = match.groups()
    return f"--{name.replace('_', '-')}" + (" " if equals else "")


def make_narrator(options: argparse.Namespace) -> Narrator:
    """Bars on a terminal; silent elsewhere and with --quiet."""
    if options.quiet or not sys.stderr.isatty():
        return Narrator(0)
    return Bars()


class Bars(Narrator):
    """A bar per stage, on standard error. Standard output stays as it is: it may be a file."""

    def __init__(self) -> None:
        super().__init__(1)

    @contextmanager
    def stage(self, name: str) -> Iterator[Any]:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description:<22}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as bars:
            task = bars.add_task(escape(visible(name)), total=None)
            yield lambda done, total: bars.update(task, completed=done, total=total)
            bars.update(task, completed=1, total=1)


def compile_for_prediction(narrator: Narrator, model: Any) -> None:
    """Compile the kernels of prediction under a progress bar, on the first run on a machine only, before
    a request waits for them. Other verbs compile what their data need."""
    import scipy.sparse as sp

    from ..classifiers.margins import margins_of_bytes, margins_of_floats

    rows = sp.csr_array((16, model.n_features_in_))  # enough rows for both kinds of search
    _compile_once(
        narrator,
        (margins_of_floats, margins_of_bytes),
        lambda: (model.predict_topk(rows), model.predict_topk(rows[:1])),
    )


def compile_for_synthesis(narrator: Narrator) -> None:
    """The same for the kernels that draw and write synthetic rows."""
    from ..data.synth import Collection, _kernels, make_shape, to_text

    tiny = make_shape(rows=4, features=64, labels=16, words_per_row=8, labels_per_row=2)
    _compile_once(narrator, (_kernels.draw_rows,), lambda: to_text(Collection(tiny).draw(0, 4)))


def _compile_once(narrator, kernels, warm_up):
    from ..compile.kernels import is_cached

    if not any(map(is_cached, kernels)):
        with narrator.stage("compiling, only once"), narrating(QUIET):
            warm_up()


def print_table(title: str, header: Iterable[str], rows: Iterable[Any], *, numbers: bool = True) -> None:
    """Print a table to standard output, without colours if it is not a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def cell(value):
        return Text(visible(str(value)))

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for i, name in enumerate(header):
        table.add_column(cell(name), justify="right" if numbers and i else "left")
    for row in rows:
        table.add_row(*map(cell, row))
    console = Console(width=None if sys.stdout.isatty() else 120)
    with console.capture() as printed:
        console.print(cell(title), style="italic", soft_wrap=True)  # a table would wrap it at its own width
        console.print(table)
    write_out(printed.get())


def print_json(facts: Any, *, ascii: bool = True) -> None:
    """Print one JSON object; on a terminal, all but ASCII is escaped."""
    text = json.dumps(facts, ensure_ascii=ascii or sys.stdout.isatty())
    write_out(text.replace("\x7f", "\\u007f") + "\n")


def model_rows(options: argparse.Namespace, model: Any, *, labels: bool) -> Any:
    """Read a data file for a model: its width, and with `labels` its labels, must be the model's."""
    from .._core.errors import DataFormatError, HeaderMismatchError

    check_holds_rows(options)
    d = model.n_labels_ if labels else None
    try:
        return read_rows(options, n_features=model.n_features_in_, n_labels=d)
    except HeaderMismatchError as error:
        raise DataFormatError(
            f"{options.file}, line 1: the header counts {error.counted} {error.what}, but the model in "
            f"{options.model} was trained with {error.expected}. Make both files with the same list of "
            f"{error.what}."
        ) from None


def check_holds_rows(options: argparse.Namespace) -> None:
    """Raise if the file holds texts, but the model was trained on rows of features."""
    from .._core.errors import DataFormatError

    form, _ = form_and_columns(options, "xmc")
    if form != "xmc":
        raise DataFormatError(
            f"{options.file} holds texts ({form}), but the model in {options.model} was trained on rows of "
            "features; expected a file in the same format. If it is one, pass --input xmc."
        )


def form_and_columns(
    options: argparse.Namespace, otherwise: str | None, stored: dict[str, Any] | None = None
) -> tuple[str | None, Any]:
    """The form of the data file, as given, as recognised, or `otherwise`; and the columns of its texts and
    labels, as given, as `stored` in the model, or by default."""
    from ..data import Columns, recognise

    given = {"text": options.text, "labels": getattr(options, "labels", None)}
    given["separator"] = getattr(options, "label_separator", None)
    columns = Columns() if stored is None else Columns(**stored | {"text": tuple(stored["text"])})
    columns = replace(columns, **{name: value for name, value in given.items() if value is not None})
    found = options.input or recognise(parts_of(options)[0], columns)
    if found is None and options.text is not None:
        return "csv", columns
    return found or otherwise, columns


def parts_of(options: argparse.Namespace) -> list[str]:
    """The files of the data: `mlgt train` also takes a folder or a pattern."""
    from ..data import part_files

    return part_files(options.file) if getattr(options, "verb", None) == "train" else [options.file]


def refuse(reason: str, options: argparse.Namespace, *names: str) -> None:
    """Raise if an option is given that would have no effect."""
    for name in names:
        if getattr(options, name, None) not in (None, False, 0):
            raise ValueError(f"--{name.replace('_', '-')} has no effect {reason}; leave it out.")


def read_rows(options: argparse.Namespace, **known: Any) -> Any:
    """Read the rows of the data file; raise if there are none."""
    from .._core.errors import DataFormatError
    from ..data import read_xmc

    refuse("with rows of features", options, "text", "labels", "label_separator")
    known |= {"first_label": options.first_label, "first_feature": options.first_feature}
    rows = read_xmc(parts_of(options), limits=limits_of(options), **known)
    for what, count in (("rows", rows.X.shape[0]), ("features", rows.X.shape[1])):
        if count == 0:
            raise DataFormatError(f"{options.file}: the file has no {what}; expected at least one.")
    return rows


def text_records(
    options: argparse.Namespace,
    model: Any,
    *,
    labelled: bool,
    keep: bool = False,
    otherwise: str | None = None,
) -> Any:
    """Return the records of a file of texts, for a model of texts; with `keep`, with all columns."""
    refuse("with texts", options, "first_label", "first_feature")
    form, columns = form_and_columns(options, otherwise, model.columns_)
    from .._core.errors import DataFormatError
    from ..data import RecordFile, looks_like_rows

    if form in (None, "xmc") or (form == "lines" and labelled):
        raise DataFormatError(
            f"{options.file} is not recognised as texts with labels, as the model in {options.model} needs "
            "them; expected JSON lines, CSV, TSV or Parquet: pass --input."
        )
    if form == "lines" and options.input is None and looks_like_rows(options.file):
        raise DataFormatError(
            f"{options.file} holds rows of features, but the model in {options.model} was trained on "
            "texts; expected lines of text, JSON lines, CSV, TSV or Parquet. If it is that, pass --input."
        )
    return RecordFile(options.file, form, columns, labelled=labelled, keep=keep, limits=limits_of(options))
