"""Messages about compilation, which takes seconds on the first run on a machine.

This module imports nothing, so that the command can enable messages before it imports numba. Only the
command does; the library is silent.
"""

from collections.abc import Callable

_tell: Callable[[str], object] | None = None
_on_terminal = False


def report_to(tell: Callable[[str], object] | None, on_terminal: bool = False) -> None:
    """Pass the first message to `tell`; one that only explains a delay if someone waits `on_terminal`."""
    global _tell, _on_terminal
    _tell, _on_terminal = tell, on_terminal


def compiling(folder: str | None, usual: bool) -> None:
    """Report that something is compiled and kept in `folder`, None if nowhere; `usual` if numba chose its
    first choice."""
    if folder is None:
        _once(
            "compiling, which takes some seconds in every run: no folder for compiled code can be written. "
            "Set NUMBA_CACHE_DIR to a folder that can."
        )
    elif not usual or _on_terminal:
        elsewhere = "" if usual else ", because the usual folder cannot be written"
        _once(f"compiling, only on the first run: compiled code is kept in {folder}{elsewhere}")


def not_kept(folder: str, reason: str) -> None:
    """Report that compiled code could not be written to the folder."""
    _once(
        f"compiled code could not be written to {folder} ({reason}), and the next run compiles it again. "
        "Free some space there, or set NUMBA_CACHE_DIR to another folder."
    )


def _once(text):
    global _tell
    if _tell is not None:
        tell, _tell = _tell, None
        tell(text)
