"""Signals that stop the command: Ctrl-C (SIGINT), SIGTERM and SIGHUP.

    loading    a signal prints one line and ends the process: there is nothing to clean up
    working    the first signal raises `Stopped`, so that unfinished files are removed; the second is
               ignored; the third ends the process at once, in case nothing came of the first
    finished   signals are ignored: the outcome is decided

Only `mlgt.__main__` calls these functions: a program that imports mlgt keeps its own handlers. The module
imports next to nothing, so that the handlers are there before anything else is imported.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without its enums, which take longer to import
import os
import sys

NAMES = {
    getattr(_signal, signal): name
    for signal, name in {"SIGINT": "Ctrl-C", "SIGTERM": "SIGTERM", "SIGHUP": "SIGHUP"}.items()
    if hasattr(_signal, signal)
}
HANDLED = (*NAMES, *([_signal.SIGALRM] if hasattr(_signal, "setitimer") else ()))
"""With the timer that calls the handler again."""
FRAGILE_FUNCTIONS = {"__enter__", "__exit__", "_write_atomic"}
FRAGILE_MODULES = {"tempfile", "shutil", "numba.core.caching"}
"""Code in which an exception would leave files behind: contexts that open or close, and others' files."""
RETRY_SECONDS, MAX_RETRIES = 0.01, 300

_phase = "finished"
_caught: int | None = None
_count = 0
_raised = False
_retries = 0


class Stopped(KeyboardInterrupt):
    """A signal stopped the command. Libraries treat it as Ctrl-C."""


def install() -> None:
    """Handle the signals, except those that are ignored, as by `nohup`."""
    global _phase
    _phase = "loading"
    for number in HANDLED:
        if _signal.getsignal(number) != _signal.SIG_IGN or number not in NAMES:
            _signal.signal(number, _handle)
    sys.unraisablehook = _report_unraisable


def begin() -> None:
    """From now on, raise `Stopped`."""
    global _phase
    _phase = "working"


def finish() -> None:
    """From now on, ignore signals."""
    global _phase
    _phase = "finished"
    for number in HANDLED:
        if _signal.getsignal(number) == _handle:
            _signal.signal(number, _signal.SIG_IGN)


def stopped_by() -> int | None:
    """Return the signal for which `Stopped` was raised, whatever became of the exception; or None."""
    return _caught if _raised else None


def status_of(number: int) -> int:
    """Return the exit status of a command that a signal stopped, as shells count it."""
    return 128 + number


def describe(number: int) -> str:
    """Return the line that reports a stop."""
    return f"stopped by {NAMES[number]}; no unfinished file was left behind."


def _describe_at_once(number):
    return f"stopped at once by {NAMES[number]}, the third signal; unfinished files may be left behind."


def _handle(number, frame):
    global _caught, _count, _raised, _retries
    if _phase == "finished":
        return
    if number in NAMES:
        _count += 1
        if _count > 2:
            _exit(number, _describe_at_once(number))
        if _caught is not None:
            return
        _caught = number
    if _caught is None:
        return
    if _retries < MAX_RETRIES and _is_fragile(frame) and _retry_soon():
        _retries += 1
    elif _phase == "loading":
        _exit(_caught, describe(_caught))
    else:
        _raised = True
        raise Stopped


def _is_fragile(frame):
    while frame is not None:
        if frame.f_code.co_name in FRAGILE_FUNCTIONS or frame.f_globals.get("__name__") in FRAGILE_MODULES:
            return True
        frame = frame.f_back
    return False


def _retry_soon():
    """Call the handler again in a moment, if the system can."""
    if not hasattr(_signal, "setitimer"):
        return False
    _signal.setitimer(_signal.ITIMER_REAL, RETRY_SECONDS)
    return True


def _exit(number, line):
    try:
        os.write(2, f"mlgt: {line}\n".encode())
    finally:
        os._exit(status_of(number))


def _report_unraisable(unraisable):
    """Raise `Stopped` again if it was raised where Python ignores exceptions, as in a destructor."""
    if isinstance(unraisable.exc_value, Stopped):
        _retry_soon()
    else:
        sys.__unraisablehook__(unraisable)
