"""What a long computation says while it runs.

A narrator has `stage(name)`, a context that hands its block a function progress(done, total), or None
where nobody looks, and `say(text)`. This one prints lines to standard error; the command line has one
that draws bars. `narrating` makes a narrator that of all estimators fitted within it.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


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


_current: ContextVar[Narrator | None] = ContextVar("narrator", default=None)


@contextmanager
def narrating(narrator: Narrator) -> Iterator[None]:
    """Let `narrator` report what is fitted in the block, whatever `verbose` is."""
    token = _current.set(narrator)
    try:
        yield
    finally:
        _current.reset(token)


def as_narrator(verbose):
    """The narrator of `narrating`, or one for `verbose`: itself, or a number."""
    return _current.get() or (Narrator(verbose) if isinstance(verbose, int) else verbose)
