"""One call in a forked process, with a time limit, a memory limit and its peak memory."""

import os
import resource
import select
import signal
import time
from collections.abc import Callable
from typing import NamedTuple

SECONDS = 10
"""Processor time of a child."""
PATIENCE = 60.0
"""Seconds by the clock: a child that sleeps, or a machine that is busy."""
PEAK_BYTES = 1 << 30
ADDRESS_SPACE = 6 << 30
"""Bytes beyond which a child gets a MemoryError, so that a mistake does not harm the machine."""


class Outcome(NamedTuple):
    """What became of a call: a word, and a line about it."""

    kind: str
    text: str = ""


def run(function: Callable[[], Outcome]) -> Outcome:
    """The outcome of `function()` in a child process; "signal", "hang" and "peak" are made here."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _answer(function, write_end)
    os.close(write_end)
    said, late = _read(read_end, time.monotonic() + PATIENCE)
    os.close(read_end)
    if late:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return Outcome("hang", f"no answer in {SECONDS} s of the processor, or {PATIENCE:g} s by the clock")
    if os.WIFSIGNALED(status):
        return Outcome("signal", signal.Signals(os.WTERMSIG(status)).name)
    if usage.ru_maxrss * 1024 > PEAK_BYTES:
        return Outcome("peak", f"{usage.ru_maxrss / 1024:.0f} MB after: {said[:300]}")
    kind, _, text = said.partition("\0")
    return Outcome(kind or "silent", text)


def _answer(function, write_end):
    """Run in the child; never returns."""
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        outcome = function()
        os.write(write_end, f"{outcome.kind}\0{outcome.text[:4000]}".encode("utf-8", "replace"))
        status = 0
    except BaseException as error:
        os.write(write_end, f"exception\0{type(error).__name__}: {error}"[:4000].encode("utf-8", "replace"))
    finally:
        os._exit(status)


def _read(end, deadline):
    """(all that the child wrote, whether it is late)."""
    said = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([end], [], [], left)[0]:
            if not (piece := os.read(end, 1 << 16)):
                return said.decode("utf-8", "replace"), False
            said += piece
    return said.decode("utf-8", "replace"), True
