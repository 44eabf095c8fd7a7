"""Answers of systems kept in files, so that a run continues after a stop and two tables share one run.

A file is named by the digest of its request: system, options, seed, threads, the version of the system and
the contents of both files. The version of mlgt's own methods includes its code, so that they are measured
again when it changed. A failure at a limit is kept with the limit.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import mlgt
from mlgt._core.files import replacing

from ..evidence.record import installed, sha256
from . import System, find_system

LIMITS = ("timeout", "cpu_limit")


class TookTooLong(RuntimeError):
    """A system was stopped at a limit."""


def kept_answer(
    folder: str | Path | None, request: dict[str, Any], ask: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """The answer to a request: the kept one, or that of `ask()`, which is kept if there is a folder.

    A kept one has the day of its run as "kept". Raises as `ask` did, and TookTooLong for a failure that was
    kept under the same limits.
    """
    if folder is None:
        return ask()
    path = answer_path(folder, request)
    limits = {name: request.get(name) for name in LIMITS}
    if path.exists():
        kept = json.loads(path.read_text("utf-8"))
        if "failure" not in kept:
            return kept["answer"] | {"kept": date.fromtimestamp(path.stat().st_mtime).isoformat()}
        if kept["limits"] == limits:
            raise TookTooLong(kept["failure"])
    try:
        answer = ask()
    except TookTooLong as error:
        _write(path, request, {"failure": str(error), "limits": limits})
        raise
    _write(path, request, {"answer": answer})
    return answer


def answer_path(folder: str | Path, request: dict[str, Any]) -> Path:
    """Where the answer to a request is kept."""
    return Path(folder) / f"{digest(request)}.json"


def _write(path, request, stored):
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(json.dumps({"request": _named(request), **stored}).encode())


def digest(request: dict[str, Any]) -> str:
    """A name for the request that changes with the data and the system's version."""
    wanted = {key: value for key, value in request.items() if key not in (*LIMITS, "train", "test")}
    system = find_system(request["system"])
    files = [_sha256(request[part]) for part in ("train", "test")]
    wanted["options"] = {**system.options, **request["options"]}
    text = json.dumps([wanted, system.package, _version(system), files], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _version(system: System) -> str | None:
    """The version of the package, for mlgt's own methods followed by a digest of its code."""
    version = installed(system.package)
    return f"{version} {_code()}" if system.module == "ours" else version


@cache
def _code():
    found = hashlib.sha256()
    for path in sorted(Path(mlgt.__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


@cache
def _sha256(path):
    return sha256(path)


def _named(request):
    """The request with names of files instead of paths."""
    return request | {part: Path(request[part]).name for part in ("train", "test")}
