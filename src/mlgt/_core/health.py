"""Checks that everything mlgt needs is installed and works: the work of `mlgt doctor`."""

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

OK, NOTE, BROKEN = "ok", "note", "broken"


def check_health() -> list[dict[str, Any]]:
    """Return the checks, each with a name, a status, what was found, and how to fix it."""
    return [
        *_versions(),
        _guarded("threads", _threads, "pip install -U joblib"),
        _guarded("memory", _memory),
        _guarded("numba cache", _cache, "pip install -U numba numpy"),
        _guarded("compiled code", _kernel, f"{sys.executable} -m pip install -U numba numpy scipy"),
        *_extras(),
    ]


def _check(name, status, found, fix=""):
    return {"name": name, "status": status, "found": str(found), "fix": fix}


def _guarded(name, function, fix=""):
    """Run a check that returns (status, found, fix); report its exceptions as broken."""
    try:
        return _check(name, *function())
    except Exception as error:
        return _check(name, BROKEN, f"{type(error).__name__}: {error}", fix)


def _versions():
    """Check Python and every required package."""
    yield _check("Python", OK, f"{platform.python_version()}, {platform.platform()}")
    if not any(requirements()):
        yield _check(
            "mlgt", NOTE, "not installed as a package: its requirements are unknown", "pip install ."
        )
    for name, oldest, marker, extra in requirements():
        if extra is not None:
            continue
        found = _installed(name)
        if found is None and marker:  # not needed on every system; pymetis has a substitute
            instead = 'without it, blocks of labels need partitioner="propagation".'
            yield _check(name, NOTE, "not installed", f"pip install {name}; {instead}")
        elif found is None:
            yield _check(name, BROKEN, "not installed", f"pip install '{name}>={oldest}'")
        elif version_numbers(found) < version_numbers(oldest):
            yield _check(name, BROKEN, f"{found}; expected {oldest} or newer", f"pip install -U {name}")
        else:
            yield _check(name, OK, found)


def _extras():
    """Check the optional packages of each extra."""
    parts: dict[str, list[str]] = {}
    for name, _, _, extra in requirements():
        if extra is not None and name != "mlgt":
            parts.setdefault(extra, []).append(name)
    for extra, names in parts.items():
        missing = [name for name in names if _installed(name) is None]
        if missing:
            yield _check(
                f"[{extra}]", NOTE, f"without {', '.join(missing)}", f"pip install {' '.join(missing)}"
            )
        else:
            yield _check(f"[{extra}]", OK, ", ".join(names))


def requirements() -> Iterator[tuple[str, str, bool, str | None]]:
    """Yield (name, oldest version, has a marker, extra or None) of all packages that mlgt may use."""
    try:
        lines = metadata.requires("mlgt") or []
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        lines = []
    for line in lines:
        needed, _, marker = line.partition(";")
        name = re.match(r"[\w.-]+", needed.strip())
        oldest = re.search(r">=\s*([\w.]+)", needed)
        extra = re.search(r"extra\s*==\s*['\"](\w+)['\"]", marker)
        if name:
            yield name[0], oldest[1] if oldest else "0", bool(marker), extra[1] if extra else None


def version_numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers to compare: 1.26.0rc1 is (1, 26, 0)."""
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", version)[0]))


def _installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _threads():
    from joblib import effective_n_jobs

    names = ("LOKY_MAX_CPU_COUNT", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")
    limits = ", ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ)
    return OK, f"{effective_n_jobs(-1)} with --jobs -1" + (f" ({limits})" if limits else "")


def _memory():
    from .memory import available_memory

    free = available_memory()
    return (NOTE, "unknown on this system") if free is None else (OK, f"{free / 1e9:.1f} GB available")


def _cache():
    """Check the folder of compiled kernels."""
    from ..compile.kernels import is_cached

    kernels = list(_kernels())
    done = sum(map(is_cached, kernels))
    caches = [kernel.compiled._cache for kernel in kernels]
    paths = {Path(cache.cache_path) for cache in caches if hasattr(cache, "cache_path")}
    fix = "set NUMBA_CACHE_DIR to a writable folder"
    if not paths:
        return NOTE, "no folder for compiled kernels: each process compiles them again", fix
    common = os.path.commonpath(sorted(map(str, paths)))
    found = f"{done} of {len(kernels)} kernels compiled, in {common}"
    if not all(_writable(path) for path in paths):
        return NOTE, f"{found}, which is not writable", fix
    return OK, found + ("" if done == len(kernels) else "; the others when first used")


def _kernels():
    """Yield all compiled kernels of mlgt."""
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        if re.search(r"import .*\bkernel\b", file.read_text("utf-8")):
            name = ".".join(("mlgt", *file.relative_to(package).with_suffix("").parts))
            functions = (value for value in vars(import_module(name)).values() if hasattr(value, "py_func"))
            yield from (function for function in functions if function.py_func.__module__ == name)


def _writable(path):
    while not path.exists() and path != path.parent:
        path = path.parent
    return os.access(path, os.W_OK)


def _kernel():
    """Check that compiled code runs, with the results of plain NumPy."""
    import numpy as np

    from .topk import top_k

    scores = np.random.default_rng(0).random((3, 7)).astype(np.float32)
    expected = np.argsort(-scores, axis=1)[:, :2]
    labels, best = top_k(scores, 2)
    if (labels == expected).all() and (best == np.take_along_axis(scores, expected, axis=1)).all():
        return OK, "runs and agrees with plain NumPy"
    return BROKEN, "differs from plain NumPy", "pip install -U numba"
