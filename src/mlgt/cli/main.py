"""Parse the command line, run a verb, and report errors in one line.

Exit status: 0 success; 2 invalid input or request, nothing was written; 130 stopped by Ctrl-C, 143 by
SIGTERM; 1 an error of mlgt itself. A traceback is printed only if MLGT_DEBUG is set.
"""

import argparse
import errno
import os
import signal
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import entry_points

from .._version import __version__
from .console import in_options

VERBS = {
    "demo": "train and evaluate on real data that ships with mlgt (start here)",
    "train": "train a model on labelled texts or rows and write it to a folder",
    "predict": "predict the best labels for each text or row of a file",
    "evaluate": "compare the predictions of a model with the true labels of a file",
    "explain": "explain why a text or row gets its labels",
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
    errno.EACCES: "check the permissions of the file and its folder",
    errno.EPERM: "check the permissions of the file and its folder",
    errno.EROFS: "choose a writable place",
}


def main(arguments: list[str] | None = None) -> int:
    """Run `mlgt` and return the exit status."""
    for name in ("stdout", "stderr"):  # None if the shell closed it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    with _exit_on_sigterm():
        return _run(arguments)


@contextmanager
def _exit_on_sigterm():
    """Exit on SIGTERM as on Ctrl-C, so that temporary files are removed."""

    def stop(*_):
        raise SystemExit(143)

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(arguments):
    try:
        arguments = sys.argv[1:] if arguments is None else list(map(str, arguments))
        verb = next((word for word in arguments if not word.startswith("-")), "")
        _check_research(verb)
        parser = make_parser(verb)
        options = parser.parse_args(arguments)
        if options.verb is None:
            parser.print_help()
            return 0
        status = options.run(options)
        sys.stdout.flush()
        return status or 0
    except KeyboardInterrupt:
        return _fail("stopped by Ctrl-C; nothing was left behind.", 130)
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(_format_os_error(error), 2)
    except MemoryError as error:
        return _fail(f"out of memory ({error}); use a smaller --n-groups, or fewer features or labels.", 2)
    except ValueError as error:
        return _fail(str(error), 2)
    except Exception as error:
        text = f"internal error: {type(error).__name__}: {error}"
        return _fail(f"{text}. Please report it, with what MLGT_DEBUG=1 in the environment shows.", 1)


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; with `only`, other verbs have no options and are not imported."""
    parser = argparse.ArgumentParser(
        prog="mlgt",
        description="Multilabel classification with thousands to millions of labels, by group testing.",
        epilog="Run `mlgt VERB --help` for the options of a verb.",
    )
    parser.add_argument("--version", action="version", version=f"mlgt {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for verb, summary in VERBS.items():
        _add_verb(verbs, verb, summary, only, lambda verb=verb: import_module(f".{verb}", __package__))
    for entry in entry_points(group=VERB_GROUP):
        _add_verb(verbs, entry.name, RESEARCH.get(entry.name, "by mlgt-research"), only, entry.load)
    return parser


def _add_verb(verbs, verb, summary, only, load):
    if only not in (None, verb):
        verbs.add_parser(verb, help=summary)
        return
    module, formatter = load(), argparse.RawDescriptionHelpFormatter
    sub = verbs.add_parser(verb, help=summary, description=module.__doc__, formatter_class=formatter)
    module.add_arguments(sub)
    sub.add_argument("--quiet", action="store_true", help="do not show progress")
    sub.set_defaults(run=module.run)


def _check_research(verb):
    """Raise if a verb of mlgt-research is requested but not installed."""
    if verb in RESEARCH and not entry_points(group=VERB_GROUP, name=verb):
        raise ValueError(
            f"`mlgt {verb}` is part of mlgt-research, which is not installed. In a copy of mlgt's source, "
            "run: pip install ./research"
        )


def _fail(message, status):
    if os.environ.get("MLGT_DEBUG"):
        import traceback

        traceback.print_exc()
    print(f"mlgt: {in_options(message)}", file=sys.stderr)
    return status


def _format_os_error(error):
    """Format an OSError with its file, and with advice unless the message has some already."""
    if error.filename is None or error.strerror is None:
        return str(error)
    advice = f"; {ADVICE[error.errno]}" if error.errno in ADVICE and "; " not in error.strerror else ""
    return f"{error.filename}: {error.strerror}{advice}."
