"""What a long computation says while it runs.

A narrator has `stage(name)`, a context that hands its block a function progress(done, total), or None
where nobody looks, and `say(text)`. This one prints lines to standard error; the command line has one
that draws bars.
"""

import sys
import time
from contextlib import contextmanager


class Narrator:
    """Prints stages and their times when `verbose` > 0, and counts within them when > 1."""

    def __init__(self, verbose=0):
        self.verbose = verbose

    @contextmanager
    def stage(self, name):
        began = time.perf_counter()
        yield self._counter(name) if self.verbose > 1 else None
        self.say(f"{name}: {time.perf_counter() - began:.2f} s")

    def say(self, text):
        if self.verbose > 0:
            print(f"mlgt: {text}", file=sys.stderr, flush=True)

    def _counter(self, name):
        return lambda done, total: self.say(f"{name}: {done} of {total}")


def as_narrator(verbose):
    """A narrator, as it is, or one for a number."""
    return Narrator(verbose) if isinstance(verbose, int) else verbose
