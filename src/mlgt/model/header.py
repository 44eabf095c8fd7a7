"""The header of a model folder: one JSON object whose last entry is the digest of the bytes before it."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from .._core.errors import ModelFileError
from .._version import __version__
from .format import CLASSES, FORMAT, READABLE, VERSION

HEADER = "model.json"
ADVICE = "Restore it from a copy, or train again."
_DIGEST = re.compile(r',\n "digest": "([0-9a-f]{64})"\n\}\Z')


def signed(header: str) -> str:
    """The JSON of a header with the digest of its bytes as its last entry."""
    digest = hashlib.sha256(header.encode("utf-8")).hexdigest()
    return f'{header.removesuffix("}").rstrip()},\n "digest": "{digest}"\n}}'


def parse_header(content: bytes, file: Path) -> dict[str, Any]:
    """The header as a dict; raises unless its format is known and its digest is right."""
    try:
        text = content.decode("utf-8")
        header = json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{file} cannot be read as JSON ({error}). {ADVICE}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f'{file} is not an mlgt model: "format" is not "{FORMAT}".')
    version, written = header.get("format_version"), header.get("mlgt_version")
    if type(version) is not int or version not in READABLE:
        raise ModelFileError(
            f"{file.parent} has format version {version}, written by mlgt {written}; mlgt {__version__} "
            f"reads up to version {VERSION}. Install mlgt {written} to read it."
        )
    if (version >= 3 or "digest" in header) and not _is_signed(text):
        raise ModelFileError(f"{file} was altered: its digest is not the saved one. {ADVICE}")
    if header.get("class") not in CLASSES:
        raise ModelFileError(
            f"{file}: class {header.get('class')!r} is unknown to mlgt {__version__}; expected one of "
            f"{', '.join(CLASSES)}. A newer release may read it."
        )
    return header


def _is_signed(text):
    """True if the digest at the end of a header is that of the bytes before it."""
    found = _DIGEST.search(text)
    return found is not None and signed(text[: found.start()] + "\n}") == text


def _distinct(pairs):
    """An object of JSON; raises if two entries have the same name."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in entries if names.count(name) > 1)
        raise ValueError(f"{twice!r} stands there twice")
    return entries
