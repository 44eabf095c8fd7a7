"""Progress of long computations.

A narrator has `stage(name)`, a context that passes its block a function progress(done, total), or None if
nothing is shown, and `say(text)`. The one here prints lines to standard error. `narrating` sets another
one for all training inside it: the command line draws bars, a benchmark reads the clock.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .terminal import tell

Progress = Callable[[int, int], object]
"""Called as progress(done, total)."""


class Narrator:
    """Prints stages and their times if `verbose` > 0, and counts within them if > 1."""

    def __init__(self, verbose: int = 0) -> None:
        self.verbose = verbose

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress | None]:
        """Time a stage; yields progress(done, total), or None."""
        began = time.perf_counter()
        yield self._counter(name) if self.verbose > 1 else None
        self.say(f"{name}: {time.perf_counter() - began:.2f} s")

    def say(self, text: str) -> None:
        """Print a line."""
        if self.verbose > 0:
            tell(text)

    def _counter(self, name):
        return lambda done, total: self.say(f"{name}: {done} of {total}")


QUIET = Narrator(0)
_current: ContextVar[Narrator | None] = ContextVar("narrator", default=None)


@contextmanager
def narrating(narrator: Narrator) -> Iterator[None]:
    """Report all training inside this context to `narrator`, whatever its `verbose`."""
    token = _current.set(narrator)
    try:
        yield
    finally:
        _current.reset(token)


def current_narrator(verbose: int = 0) -> Narrator:
    """The narrator of `narrating`, or one that prints by `verbose`."""
    return _current.get() or Narrator(verbose)
