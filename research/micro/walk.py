"""How often does one run of a command return to a unit of the package that it had left?

    python research/micro/walk.py SRC -- MLGT-ARGUMENTS

SRC is the folder that holds the package `mlgt`, so the source of any version can be measured. Functions are
listed in the order of their first call, each by its unit: the package or module directly below `mlgt`,
without the helpers that all units share (COMMON). A return is a step from one unit into another that the
run has been in before. Kernels compiled by numba and other threads are not seen. Run the command once
before, so that nothing is compiled.
"""

import argparse
import sys
from pathlib import Path

COMMON = set(
    "_core _version __init__ __main__ errors sparse rows compile threads memory validation progress".split()
)


def watch(package, main, arguments):
    """([(file, function)] in the order of their first call, the exit status) of one run of the command."""
    calls, root = {}, f"{package}/"

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and not code.co_name.startswith("<"):
            name = getattr(code, "co_qualname", code.co_name)  # co_qualname: from Python 3.11 on
            calls[code.co_filename.removeprefix(root), name] = None

    sys.setprofile(note)
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    finally:
        sys.setprofile(None)
    return list(calls), status


def units_of(calls):
    """The unit that each call belongs to, without COMMON."""
    units = (file.split("/")[0].removesuffix(".py") for file, _ in calls)
    return [unit for unit in units if unit not in COMMON]


def count_returns(units):
    """Steps into a unit that was left before."""
    visited, returns, here = set(), 0, None
    for unit in units:
        if unit != here:
            returns += unit in visited
            visited.add(unit)
            here = unit
    return returns


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, metavar="SRC")
    parser.add_argument("arguments", nargs="+", metavar="MLGT-ARGUMENTS")
    options = parser.parse_args()
    source = options.source.resolve()
    sys.path.insert(0, str(source))
    from mlgt.cli import main

    calls, status = watch(source / "mlgt", main, options.arguments)
    units = units_of(calls)
    print(
        f"functions {len(calls)}, files {len({file for file, _ in calls})}, units {len(set(units))}, "
        f"returns {count_returns(units)}, exit {status}",
        file=sys.stderr,
    )
