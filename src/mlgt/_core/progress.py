"""Messages of a long computation while it runs.

A narrator has `say(text)`, and `stage(name)`, a context that yields progress(done, total), or None if
progress is not shown. This one prints lines to standard error; the command line has one that draws bars.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int, int], object]
"""Called as progress(done, total)."""


class Narrator:
    """Prints stages and their times when `verbose` > 0, and counts within them when > 1."""

    def __init__(self, verbose: int = 0):
        self.verbose = verbose

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress | None]:
        """Time a stage of the computation."""
        began = time.perf_counter()
        yield self._counter(name) if self.verbose > 1 else None
        self.say(f"{name}: {time.perf_counter() - began:.2f} s")

    def say(self, text: str) -> None:
        """Print a line."""
        if self.verbose > 0:
            print(f"mlgt: {text}", file=sys.stderr, flush=True)

    def _counter(self, name):
        return lambda done, total: self.say(f"{name}: {done} of {total}")


def as_narrator(verbose: Any) -> Any:
    """Return `verbose` itself if it is a narrator, or a narrator for a number."""
    return Narrator(verbose) if isinstance(verbose, int) else verbose
