"""Requests that arrive together are answered as one batch.

Requests gather while a batch is computed, and those with the same call become the next one. No request
waits for others to come: an idle server answers at once. Long requests are cut into pieces, so that short
ones are answered between them. What takes a few milliseconds is computed at once, all else in a thread, so
that the server can still read and write.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import RequestError

BATCH = 64
"""Most texts in a batch."""
PIECE = 32
"""Texts of one request that are computed at a time."""


class Call(Protocol):
    """Items -> answers, one each. Equal calls may be joined, so a call is hashable."""

    def __call__(self, items: Sequence[Any]) -> Sequence[Any]: ...

    def is_quick(self, items: Sequence[Any]) -> bool:
        """Return whether the answers take a few milliseconds."""


@dataclass(eq=False)
class _Job:
    call: Call
    items: Sequence[Any]
    answered: asyncio.Future


class Batcher:
    """Answers calls in the order they come, equal ones together.

    Parameters
    ----------
    max_waiting : int
        Most items that wait.
    max_seconds : float
        Most seconds until an answer; later, the request is refused.
    on_batch : callable
        Called with the number of items of each batch.
    is_alone : callable
        Returns whether no other request is under way that could join this one.
    """

    def __init__(
        self,
        max_waiting: int,
        max_seconds: float,
        on_batch: Callable[[int], None] = lambda size: None,
        is_alone: Callable[[], bool] = lambda: False,
    ) -> None:
        self._max_waiting, self._max_seconds = max_waiting, max_seconds
        self._on_batch, self._is_alone = on_batch, is_alone
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._working = False
        self._pool = ThreadPoolExecutor(1, "mlgt-batch")

    async def answer(self, call: Call, items: Sequence[Any]) -> Sequence[Any]:
        """Return call(items), computed together with equal calls that wait."""
        if self._waiting + len(items) > self._max_waiting:
            raise RequestError(
                503, "Too many texts wait for an answer; try again soon.", {"Retry-After": "1"}
            )
        if not self._working and self._is_alone() and call.is_quick(items):
            self._on_batch(len(items))
            return call(items)
        loop = asyncio.get_running_loop()
        job = _Job(call, items, loop.create_future())
        self._jobs.append(job)
        self._waiting += len(items)
        if not self._working:
            self._working = True
            loop.call_soon(self._start, loop)  # after all requests that are at hand
        timer = loop.call_later(self._max_seconds, _refuse_late, job.answered, self._max_seconds)
        try:
            return await job.answered
        finally:
            timer.cancel()

    async def answers(self, call: Call, items: Sequence[Any]) -> AsyncIterator[Sequence[Any]]:
        """Yield the answers piece by piece; the next piece is computed while one is taken."""
        pieces = [items[i : i + PIECE] for i in range(0, len(items), PIECE)]
        ahead: asyncio.Task | None = None
        try:
            for piece in pieces:
                task = asyncio.ensure_future(self.answer(call, piece))
                if ahead is not None:
                    before, ahead = ahead, task
                    yield await before
                ahead = task
            if ahead is not None:
                yield await ahead
        finally:
            if ahead is not None:
                ahead.cancel()

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return function(*arguments), computed after what is being computed."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, loop):
        jobs = self._take()
        if not jobs:
            self._working = False
            return
        if jobs[0].call.is_quick([item for job in jobs for item in job.items]):
            self._finish(jobs, _compute(jobs))
            loop.call_soon(self._start, loop)
            return
        done = self._pool.submit(_compute, jobs)

        def finish() -> None:
            self._finish(jobs, done.result())
            self._start(loop)

        done.add_done_callback(lambda _: loop.call_soon_threadsafe(finish))

    def _take(self):
        """The first job and, up to BATCH items, later ones with the same call."""
        taken: list[_Job] = []
        kept: list[_Job] = []
        size = 0
        while self._jobs and size < BATCH:
            job = self._jobs.popleft()
            if job.answered.done():  # its client has gone
                self._waiting -= len(job.items)
            elif not taken or (job.call == taken[0].call and size + len(job.items) <= BATCH):
                taken.append(job)
                size += len(job.items)
            else:
                kept.append(job)
        self._jobs.extendleft(reversed(kept))
        if taken:
            self._on_batch(size)
        return taken

    def _finish(self, jobs, outcomes):
        for job, outcome in zip(jobs, outcomes):
            self._waiting -= len(job.items)
            if job.answered.done():
                continue
            if isinstance(outcome, Exception):
                job.answered.set_exception(outcome)
            else:
                job.answered.set_result(outcome)


def too_late(seconds: float) -> RequestError:
    """Return the error for an answer that took too long."""
    return RequestError(
        503,
        f"The answer took longer than {seconds:g} s. Send fewer texts at once, or take them as they come "
        'with "stream": true.',
        {"Retry-After": "1"},
    )


def _refuse_late(answered, seconds):
    if not answered.done():
        answered.set_exception(too_late(seconds))


def _compute(jobs):
    """The answers of each job, or its exception; what fails together is tried one by one."""
    call = jobs[0].call
    try:
        found = call([item for job in jobs for item in job.items])
    except Exception as error:
        if len(jobs) == 1:
            return [error]
        return [_compute([job])[0] for job in jobs]
    outcomes, first = [], 0
    for job in jobs:
        outcomes.append(found[first : first + len(job.items)])
        first += len(job.items)
    return outcomes
