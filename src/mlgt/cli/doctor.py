"""Check that everything mlgt needs is installed and works.

Prints versions, threads, memory, the folder of compiled kernels, and optional
packages that are not installed, with the command that installs them. The exit
status is 1 if something is broken, otherwise 0; a missing optional package is
not an error.

Also lists the finished tasks that killed trainings left in this folder or in
FOLDER, and in folders below. The command of such a training goes on from them;
--remove-work removes them, and what was written for the workers of a cluster.
"""

from argparse import ArgumentParser, Namespace

from .._core.health import BROKEN, NOTE, OK, check_health
from .._core.terminal import show
from .._version import __version__
from .console import print_json, print_table


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="where to look for kept work"
    )
    parser.add_argument("--remove-work", action="store_true", help="remove the kept work that is listed")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(options: Namespace) -> int:
    """Run the verb; return 1 if something is broken."""
    checks = [*check_health(), *_kept_work(options)]
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


def _kept_work(options):
    try:
        from ..tasks.kept import abandoned_work
    except ImportError:  # a required package is missing, as the checks report
        return
    for folder, found in abandoned_work(options.folder, remove=options.remove_work).items():
        fix = "" if options.remove_work else f"train again, or mlgt doctor {options.folder} --remove-work"
        fix = fix.removeprefix("train again, or " if "of a cluster" in found else "")
        found += ", removed" if options.remove_work else ""
        yield {"name": "kept work", "status": NOTE, "found": f"{folder}: {found}", "fix": fix}
