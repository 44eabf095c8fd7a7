"""Text for people. Names and texts come from files: what would steer a terminal is shown as an escape."""

import io
import os
import re
import sys
from contextlib import suppress
from typing import Any

from .files import naming

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line separators, marks and overrides of the writing direction, and lone surrogates,
which stand for bytes of file names that are not UTF-8."""


def visible(text: str, keep: str = "") -> str:
    r"""Return the text with control characters as escapes such as \x1b, except those in `keep`."""
    return _CONTROL.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def show(*lines: str) -> None:
    """Print lines for people to standard output."""
    write_out("".join(f"{visible(line)}\n" for line in lines))


def write_out(text: str) -> None:
    """Write to standard output as it is, and flush."""
    try:
        with naming("standard output"):
            _write_all(text)
            sys.stdout.flush()
    except OSError:
        discard(sys.stdout)
        raise


def _write_all(text):
    raw = getattr(sys.stdout, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        sys.stdout.write(text)
        return
    encoding, errors = sys.stdout.encoding or "utf-8", sys.stdout.errors or "strict"
    data = text.replace("\n", os.linesep).encode(encoding, errors)
    while data:  # with `python -u`, Python would ignore that only a part was written
        data = data[raw.write(data) or 0 :]


def tell(text: str) -> None:
    """Print one line to standard error, where it is lost if nothing can be written there."""
    with suppress(OSError):
        sys.stderr.write(f"mlgt: {visible(text)}\n")  # in one piece: Ctrl-C may come at any time
        sys.stderr.flush()


def discard(stream: Any) -> None:
    """Send what a stream still holds nowhere, so that Python does not try again when it exits."""
    with suppress(OSError, ValueError):  # a stream without a file
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def flush_streams() -> None:
    """Flush what others wrote to standard output and standard error; only the former may fail."""
    try:
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)
    write_out("")
