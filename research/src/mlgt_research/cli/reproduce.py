"""Run one of the paper's tables or figures again, and show ours beside the printed one.

Writes OUT/NAME/results.json (every trial, seeds, settings, versions, checksums of the data) and figure.png.
The data sets are folders NAME/train.txt.gz and test.txt.gz below --data, or MLGT_DATA. Data sets of the
paper that are not at hand can have stand-ins, which are marked so by their names:
`mlgt synth DATA/RCV1x-synth --preset rcv1x`. `mlgt report OUT` makes a page of all results.
"""

import argparse

from mlgt._core.terminal import show
from mlgt.cli.console import make_narrator, print_table

from ..paper import EXPERIMENTS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    listed = "; ".join(f"{name}: {what}" for name, what in EXPERIMENTS.items())
    parser.add_argument("name", metavar="NAME", choices=[*EXPERIMENTS, "all"], help=f"{listed}; or all")
    parser.add_argument("--data", metavar="DIR", help="the folder of the data sets (default: MLGT_DATA)")
    parser.add_argument(
        "--out", default="results", metavar="DIR", help="where results go (default: the folder %(default)s)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a run of seconds on a sample that comes with mlgt, to see that it works; writes to OUT/quick",
    )
    parser.add_argument(
        "--keep", metavar="DIR",
        help="keep answers of systems there and reuse them: `methods` and `standard` share a run",
    )  # fmt: skip
    for option, what in (("--systems", "systems"), ("--on", "data sets")):
        parser.add_argument(
            option, metavar="A,B,...", type=_listed,
            help=f"of `methods` and `standard`, run only these {what} and keep the other rows of OUT",
        )  # fmt: skip


def _listed(text):
    return [name.strip() for name in text.split(",")]


def run(options: argparse.Namespace) -> None:
    from pathlib import Path

    from mlgt._core.files import check_folder

    from ..evidence.show import plain_table
    from ..paper.run import reproduce

    out = Path(options.out) / "quick" if options.quick else Path(options.out)
    check_folder(out)
    progress = make_narrator(options)
    for name in EXPERIMENTS if options.name == "all" else [options.name]:
        with progress.stage(name):
            result = reproduce(
                name,
                folder=options.data,
                out=out,
                quick=options.quick,
                quiet=options.quiet,
                keep=options.keep,
                systems=options.systems,
                on=options.on,
            )
        for table in result.tables:
            print_table(f"{result.title} ({table.title})", *plain_table(table))
        for note in result.notes:
            show(f"- {note}")
        show(f"All trials: {out / name / 'results.json'}; picture: {out / name / 'figure.png'}")
