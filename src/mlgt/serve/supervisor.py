"""The process that forks the workers of `mlgt serve`, restarts those that end, and passes signals on."""

import gc
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from .._core.terminal import tell

MIN_WORKER_SECONDS = 5.0
"""A worker that ends sooner is started again after a pause."""


class Supervisor:
    """Workers, each a process that calls `work(number)`, until a signal stops them all."""

    def __init__(self, workers: int, work: Callable[[int], int]) -> None:
        self._work = work
        self._started = [0.0] * workers
        self._running: dict[int, int] = {}  # process id -> worker
        self._stopping = False

    def run(self) -> int:
        """Return the exit status, when all workers have ended after a signal."""
        gc.collect()
        gc.freeze()  # so that collecting garbage does not copy what the workers share
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._pass_on)
        for worker in range(len(self._started)):
            self._start(worker)
        while self._running:
            pid, status = os.wait()
            worker = self._running.pop(pid)
            if not self._stopping:
                tell(f"worker {worker + 1} ended ({_ending(status)}) and is started again")
                lasted = time.monotonic() - self._started[worker]
                time.sleep(max(0.0, MIN_WORKER_SECONDS - lasted) / 5)
            if not self._stopping:
                self._start(worker)
        return 0

    def _start(self, worker):
        self._started[worker] = time.monotonic()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a worker looks for newer models when it starts
            os._exit(_status_of(self._work, worker))
        self._running[pid] = worker
        if self._stopping:  # the signal came before the worker was known
            os.kill(pid, signal.SIGTERM)

    def _pass_on(self, number, _frame):
        self._stopping = self._stopping or number != signal.SIGHUP
        for pid in self._running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGHUP if number == signal.SIGHUP else signal.SIGTERM)


def _status_of(work, worker):
    """The exit status of a worker; what fails is one line."""
    try:
        return work(worker)
    except BaseException as error:
        tell(f"worker {worker + 1} failed: {type(error).__name__}: {error}")
        return 1


def _ending(status):
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"status {code}"
