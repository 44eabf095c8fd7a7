"""What a long computation says while it runs: one line a stage on standard error."""

import sys
import time
from contextlib import contextmanager


class Narrator:
    """Prints stages and their times when `verbose` > 0, and counts within them when > 1."""

    def __init__(self, verbose=0, stream=None):
        self.verbose = verbose
        self.stream = stream

    @contextmanager
    def stage(self, name):
        """Time a stage; the block receives progress(done, total), or None when quiet."""
        began = time.perf_counter()
        yield self._counter(name) if self.verbose > 1 else None
        self.say(f"{name}: {time.perf_counter() - began:.2f} s")

    def say(self, text):
        if self.verbose > 0:
            print(f"mlgt: {text}", file=self.stream or sys.stderr, flush=True)

    def _counter(self, name):
        return lambda done, total: self.say(f"{name}: {done} of {total}")
