"""Parse the command line, run a verb, and report errors in one line.

Exit status: 0 success; 2 invalid input or request, or output that cannot be written; 130 stopped by Ctrl-C,
143 by SIGTERM, 129 by SIGHUP; 1 an error of mlgt itself. A traceback is printed only if MLGT_DEBUG is set.
"""

import argparse
import errno
import os
import signal
import sys
import warnings
from contextlib import contextmanager
from importlib import import_module

from .._core import signals
from .._core.errors import NoSeparatorWarning, OneBlockWarning, VocabularyWarning
from .._core.terminal import discard, flush_streams, tell, visible, write_out
from .._version import __version__
from ..compile import first_run
from . import completion
from .console import in_options

VERBS = {
    "demo": "train and evaluate on real data that ships with mlgt (start here)",
    "train": "train a model on labelled texts or rows and write it to a folder",
    "predict": "predict the best labels for each text or row of a file",
    "evaluate": "compare the predictions of a model with the true labels of a file",
    "compare": "compare two models on the same labelled file",
    "explain": "explain why a text or row gets its labels",
    "serve": "serve models over HTTP, with a page to tag texts by hand",
    "inspect": "show the contents of a model folder",
    "update": "add new rows and new labels to a trained model",
    "prune": "make a trained model smaller, and measure the loss of accuracy",
    "synth": "write a synthetic data set of any size",
    "doctor": "check that everything mlgt needs is installed and works",
    "completion": "print a completion script for bash, zsh or fish",
}

RESEARCH = {
    "reproduce": "run a table or figure of the paper again, ours beside the printed one",
    "bench": "measure mlgt beside its peers on your files",
    "report": "make one page of all results of reproduce and bench",
}
"""Verbs of the package mlgt-research, which registers them in the entry-point group VERB_GROUP."""
VERB_GROUP = "mlgt.verbs"
ADVICE = {
    errno.ENOSPC: "free some space, or write elsewhere",
    errno.EDQUOT: "free some space of your quota, or write elsewhere",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), or write elsewhere",
    errno.EMFILE: "raise the limit on the number of open files (ulimit -n)",
    errno.EACCES: "check the permissions of the file and its folder",
    errno.EPERM: "check the permissions of the file and its folder",
    errno.EROFS: "choose a writable place",
}


def main(arguments: list[str] | None = None) -> int:
    """Run `mlgt` and return the exit status; argparse raises SystemExit for --help and wrong options."""
    for name in ("stdout", "stderr"):  # None if the shell closed it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        status = _run(arguments)
        flush_streams()
        return status if signals.stopped_by() is None else report_stop()
    except Exception as error:
        return report_stop() if signals.stopped_by() is not None else _report(error)
    except KeyboardInterrupt:
        return report_stop()


def _run(arguments):
    arguments = sys.argv[1:] if arguments is None else list(map(str, arguments))
    completing = completion.requested_words()
    verb = next((word for word in completing or arguments if not word.startswith("-")), "")
    _check_research(verb)
    parser = make_parser(verb)
    if completing is not None:
        completion.complete(parser)
    try:
        options = parser.parse_args(arguments)
        if options.verb is None:
            parser.print_help()
            return 0
    except SystemExit:
        flush_streams()
        raise
    first_run.report_to(None if options.quiet else tell, sys.stderr.isatty())
    try:
        with _plain_warnings():
            return options.run(options) or 0
    finally:
        first_run.report_to(None)


def report_stop() -> int:
    """Report that a signal, or KeyboardInterrupt, stopped the command; return the exit status."""
    number = signals.stopped_by() or signal.SIGINT
    return _fail(signals.describe(number), signals.status_of(number))


def _report(error):
    """Report an error in one line and return the exit status."""
    if isinstance(error, BrokenPipeError):  # the reader of the output, such as `head`, has ended
        discard(sys.stdout)
        return 0
    if isinstance(error, OSError):
        return _fail(_format_os_error(error), 2)
    if isinstance(error, MemoryError):
        return _fail(f"out of memory ({error}); use a smaller --n-groups, or fewer features or labels.", 2)
    if isinstance(error, ValueError):
        return _fail(str(error), 2)
    text = f"internal error: {type(error).__name__}: {error}"
    return _fail(f"{text}. Please report it, with what MLGT_DEBUG=1 in the environment shows.", 1)


@contextmanager
def _plain_warnings():
    """Show warnings as one line, without the place in the code."""
    with warnings.catch_warnings():
        for category in (NoSeparatorWarning, OneBlockWarning, VocabularyWarning):
            warnings.simplefilter("always", category)
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # those of a file
        warnings.showwarning = lambda message, *_, **__: tell(in_options(str(message)))
        yield


class _Parser(argparse.ArgumentParser):
    """A parser that shows control characters in wrong options as escapes, and reports a full disk."""

    intermixed = False
    """True for a verb whose last file may be left out, and may stand after options."""

    def parse_known_args(self, args=None, namespace=None):
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False  # argparse calls this method again, twice
        return self.parse_known_intermixed_args(args, namespace)

    def error(self, message):
        super().error(visible(message))

    def _print_message(self, message, file=None):
        if file is sys.stdout:
            write_out(message)
        else:
            super()._print_message(message, file)


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; with `only`, other verbs have no options and are not imported."""
    parser = _Parser(
        prog="mlgt",
        description="Multilabel classification with thousands to millions of labels, by group testing.",
        epilog="Run `mlgt VERB --help` for the options of a verb.",
    )
    parser.add_argument("--version", action="version", version=f"mlgt {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for verb, summary in VERBS.items():
        _add_verb(verbs, verb, summary, only, lambda verb=verb: import_module(f".{verb}", __package__))
    for entry in () if only in VERBS else _research_verbs():
        _add_verb(verbs, entry.name, RESEARCH.get(entry.name, "by mlgt-research"), only, entry.load)
    return parser


def _add_verb(verbs, verb, summary, only, load):
    if only not in (None, verb):
        verbs.add_parser(verb, help=summary)
        return
    module, formatter = load(), argparse.RawDescriptionHelpFormatter
    sub = verbs.add_parser(verb, help=summary, description=module.__doc__, formatter_class=formatter)
    module.add_arguments(sub)
    sub.intermixed = getattr(module, "INTERMIXED", False)
    sub.add_argument("--quiet", action="store_true", help="do not show progress")
    sub.set_defaults(run=module.run)


def _research_verbs():
    """The verbs of installed packages; reading the metadata of all packages takes a while."""
    from importlib.metadata import entry_points

    return entry_points(group=VERB_GROUP)


def _check_research(verb):
    """Raise if a verb of mlgt-research is requested but not installed."""
    if verb in RESEARCH and not any(entry.name == verb for entry in _research_verbs()):
        raise ValueError(
            f"`mlgt {verb}` is part of mlgt-research, which is not installed. In a copy of mlgt's source, "
            "run: pip install ./research"
        )


def _fail(message, status):
    if os.environ.get("MLGT_DEBUG"):
        import traceback

        sys.stderr.write(visible(traceback.format_exc(), keep="\n"))
    tell(in_options(message))
    return status


def _format_os_error(error):
    """Format an OSError with its file, and with advice unless the message has some already."""
    if error.strerror is None:
        return str(error)
    file = "" if error.filename is None else f"{error.filename}: "
    advice = f"; {ADVICE[error.errno]}" if error.errno in ADVICE and "; " not in error.strerror else ""
    return f"{file}{error.strerror}{advice}."
