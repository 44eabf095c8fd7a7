"""The command `mlgt`, also as `python -m mlgt`. It handles signals before it imports anything else."""

import os
import sys

from ._core import signals


def main() -> int:
    """Run the command in a process of its own and return the exit status."""
    signals.install()
    from .cli.main import main as run
    from .cli.main import report_stop

    try:
        status = _run(run)
    except KeyboardInterrupt:  # raised at most once, so never below
        status = report_stop()
    if signals.stopped_by() is not None:
        os._exit(status)  # threads and compilers that were interrupted may crash when Python shuts down
    return status


def _run(run):
    signals.begin()
    try:
        return run()
    except SystemExit as exit:  # from argparse
        return exit.code
    finally:
        signals.finish()


if __name__ == "__main__":
    sys.exit(main())
