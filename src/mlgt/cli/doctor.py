"""Check that everything mlgt needs is installed and works.

Prints versions, threads, memory, the folder of compiled kernels, and optional
packages that are not installed, with the command that installs them. The exit
status is 1 if something is broken, otherwise 0; a missing optional package is
not an error.
"""

from argparse import ArgumentParser, Namespace

from .._core.health import BROKEN, NOTE, OK, check_health
from .._core.terminal import show
from .._version import __version__
from .console import print_json, print_table


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(options: Namespace) -> int:
    """Run the verb; return 1 if something is broken."""
    checks = check_health()
    broken = any(check["status"] == BROKEN for check in checks)
    if options.json:
        print_json({"mlgt": __version__, "healthy": not broken, "checks": checks})
    else:
        marks = {OK: "ok", NOTE: "-", BROKEN: "BROKEN"}
        rows = [(c["name"], marks[c["status"]], c["found"]) for c in checks]
        print_table(f"mlgt {__version__}", ("", "", "found"), rows, numbers=False)
        for check in checks:
            if check["fix"]:
                show(f"{check['name']}: {check['fix']}")
        works = "Everything that mlgt needs is installed and works."
        show("Something is broken, see above." if broken else works)
    return 1 if broken else 0
