"""Reading the command line, running a verb, and saying in one line what went wrong.

Exit status: 0 done; 2 the input or the request cannot be used, nothing was left behind; 130 stopped by
Ctrl-C, 143 by a polite kill; 1 a fault of mlgt itself. A traceback is shown only when MLGT_DEBUG is set.
"""

import argparse
import os
import signal
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import entry_points

from .._version import __version__
from .console import in_options

VERBS = {
    "demo": "train and evaluate on real data that comes with mlgt, and draw a picture (start here)",
    "train": "learn from a file of labelled rows and write a model folder",
    "predict": "find the best labels of each row of a file",
    "evaluate": "compare a model's predictions with the true labels of a file",
    "explain": "tell why a text or row gets its labels: words for and against, groups",
    "inspect": "tell what is in a model folder",
    "update": "teach a trained model new rows and new labels",
    "prune": "make a trained model smaller, and measure what that costs",
    "synth": "write a synthetic data set, as large as you like, to try things on",
    "doctor": "look whether all that mlgt needs is there and works",
    "completion": "print a script that completes mlgt in bash, zsh or fish",
}

RESEARCH = ("reproduce", "bench", "report")
"""Verbs of the package mlgt-research, which announces them in the entry-point group VERB_GROUP."""
VERB_GROUP = "mlgt.verbs"


def main(arguments=None):
    """Run `mlgt`; returns the exit status."""
    for name in ("stdout", "stderr"):  # None when the shell closed it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    with _cleaning_up():
        return _run(arguments)


@contextmanager
def _cleaning_up():
    """A polite kill ends the program as Ctrl-C does: temporary files go."""

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
        _check_research(sys.argv[1:] if arguments is None else arguments)
        parser = make_parser()
        options = parser.parse_args(arguments)
        if options.verb is None:
            parser.print_help()
            return 0
        status = options.run(options)
        sys.stdout.flush()
        return status or 0
    except KeyboardInterrupt:
        return _fail("stopped by Ctrl-C; nothing was left behind.", 130)
    except BrokenPipeError:  # the reader of our output, `head` say, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(_explain(error), 2)
    except MemoryError as error:
        return _fail(f"out of memory ({error}); use a smaller --n-groups, or fewer features or labels.", 2)
    except ValueError as error:
        return _fail(str(error), 2)
    except Exception as error:
        text = f"internal error: {type(error).__name__}: {error}"
        return _fail(f"{text}. Please report it, with what MLGT_DEBUG=1 in the environment shows.", 1)


def make_parser():
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="mlgt",
        description="Find the few right labels of a row among thousands to millions, by group testing.",
        epilog="`mlgt VERB --help` explains a verb.",
    )
    parser.add_argument("--version", action="version", version=f"mlgt {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for verb, summary in VERBS.items():
        _add_verb(verbs, verb, summary, import_module(f".{verb}", __package__))
    for entry in entry_points(group=VERB_GROUP):
        module = entry.load()
        _add_verb(verbs, entry.name, module.SUMMARY, module)
    return parser


def _add_verb(verbs, verb, summary, module):
    sub = verbs.add_parser(verb, help=summary, description=module.__doc__, formatter_class=_Plain)
    module.add_arguments(sub)
    sub.add_argument("--quiet", action="store_true", help="show no progress")
    sub.set_defaults(run=module.run)


def _check_research(arguments):
    """Say where a research verb is, if it is not installed."""
    verb = next((word for word in arguments if not word.startswith("-")), None)
    if verb in RESEARCH and not entry_points(group=VERB_GROUP, name=verb):
        raise ValueError(
            f"`mlgt {verb}` is part of mlgt-research, which is not installed. In a copy of mlgt's source, "
            "run pip install ./research"
        )


class _Plain(argparse.RawDescriptionHelpFormatter):
    """Descriptions as they are written, defaults beside the help."""


def _fail(message, status):
    if os.environ.get("MLGT_DEBUG"):
        import traceback

        traceback.print_exc()
    print(f"mlgt: {in_options(message)}", file=sys.stderr)
    return status


def _explain(error):
    """An OSError in words, with its file; ours have their own."""
    if error.filename is None or error.strerror is None:
        return str(error)
    advice = {
        "ENOSPC": "free some space, or write elsewhere",
        "EACCES": "check the permissions of the file and its folder",
        "EPERM": "check the permissions of the file and its folder",
        "EROFS": "choose a place that can be written",
    }
    import errno

    hint = advice.get(errno.errorcode.get(error.errno or 0, ""), "")
    said = f"{error.filename}: {error.strerror}"
    return f"{said}; {hint}." if hint and "; " not in error.strerror else f"{said}."  # ours have advice
