"""Look whether all that mlgt needs is there and works.

Versions, threads, memory, where compiled kernels are kept, and parts that are not installed, with the
command that installs them. Exit status 0 unless something is broken (then 1): a missing optional part is
not.
"""

import json
import os
import platform
import re
import sys
from importlib import import_module, metadata
from pathlib import Path

from .._version import __version__
from .console import print_table

KERNELS = "solve retrieve rerank decode factorize partition synth data".split()
"""Stages with compiled kernels that are kept on disk."""
OK, NOTE, BROKEN = "ok", "note", "broken"


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options):
    checks = [*_versions(), _threads(), _memory(), _cache(), _kernel(), *_extras()]
    broken = any(check["status"] == BROKEN for check in checks)
    if options.json:
        print(json.dumps({"mlgt": __version__, "healthy": not broken, "checks": checks}))
    else:
        marks = {OK: "ok", NOTE: "-", BROKEN: "BROKEN"}
        rows = [(c["name"], marks[c["status"]], c["found"]) for c in checks]
        print_table(f"mlgt {__version__}", ("", "", "found"), rows, numbers=False)
        for check in checks:
            if check["fix"]:
                print(f"{check['name']}: {check['fix']}")
        print("Something is broken: see above." if broken else "All that mlgt needs is there and works.")
    return 1 if broken else 0


def _check(name, status, found, fix=""):
    return {"name": name, "status": status, "found": str(found), "fix": fix}


def _versions():
    """Python and every required package, with the least version that will do."""
    yield _check("Python", OK, f"{platform.python_version()}, {platform.platform()}")
    if not any(requirements()):
        yield _check(
            "mlgt", NOTE, "not installed as a package: what it needs is not known", "pip install ."
        )
    for name, least, marker, extra in requirements():
        if extra is not None:
            continue
        found = _installed(name)
        if found is None and marker:  # not needed on every system; pymetis has a substitute
            instead = 'blocks of labels then need partitioner="propagation".'
            yield _check(name, NOTE, "not installed", f"pip install {name}; {instead}")
        elif found is None:
            yield _check(name, BROKEN, "not installed", f"pip install '{name}>={least}'")
        elif numbers(found) < numbers(least):
            yield _check(name, BROKEN, f"{found}; expected {least} or newer", f"pip install -U {name}")
        else:
            yield _check(name, OK, found)


def _extras():
    """Optional parts, by extra: what is missing and how to get it."""
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


def requirements():
    """(name, least version, has a marker, extra or None) of all that mlgt may use."""
    try:
        lines = metadata.requires("mlgt") or []
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        lines = []
    for line in lines:
        needed, _, marker = line.partition(";")
        name = re.match(r"[\w.-]+", needed.strip())
        least = re.search(r">=\s*([\w.]+)", needed)
        extra = re.search(r"extra\s*==\s*['\"](\w+)['\"]", marker)
        if name:
            yield name[0], least[1] if least else "0", bool(marker), extra[1] if extra else None


def numbers(version):
    """A version as something to compare: 1.26.0rc1 -> (1, 26, 0)."""
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", version)[0]))


def _installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _threads():
    try:
        from joblib import effective_n_jobs

        cores = effective_n_jobs(-1)
    except Exception as error:
        return _check("threads", BROKEN, f"{type(error).__name__}: {error}", "pip install -U joblib")
    names = ("LOKY_MAX_CPU_COUNT", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")
    limits = ", ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ)
    return _check("threads", OK, f"{cores} with --jobs -1" + (f" ({limits})" if limits else ""))


def _memory():
    from .._core.memory import available_memory

    free = available_memory()
    if free is None:
        return _check("memory", NOTE, "this system does not say how much is free")
    return _check("memory", OK, f"{free / 1e9:.1f} GB can be had")


def _cache():
    """Where numba keeps what it compiled, and how much of it is there."""
    try:
        from .._core.compile import is_cached

        kernels = [kernel for stage in KERNELS for kernel in _kernels_of(stage)]
        done = sum(map(is_cached, kernels))
        paths = {
            Path(kernel._cache.cache_path) for kernel in kernels if hasattr(kernel._cache, "cache_path")
        }
    except Exception as error:
        return _check(
            "numba cache", BROKEN, f"{type(error).__name__}: {error}", "pip install -U numba numpy"
        )
    if not paths:
        return _check(
            "numba cache", NOTE, "nowhere to keep compiled kernels: each process compiles anew",
            "set NUMBA_CACHE_DIR to a folder that can be written",
        )  # fmt: skip
    common = os.path.commonpath(sorted(map(str, paths)))
    found = f"{done} of {len(kernels)} kernels compiled, in {common}"
    if not all(_writable(path) for path in paths):
        return _check(
            "numba cache", NOTE, f"{found}, which cannot be written",
            "set NUMBA_CACHE_DIR to a folder that can be written",
        )  # fmt: skip
    later = "" if done == len(kernels) else "; others when first used"
    return _check("numba cache", OK, found + later)


def _kernels_of(stage):
    """The kernels of a stage that are kept on disk."""
    for module in ("_kernels", "_parse", "_text"):
        try:
            found = import_module(f"mlgt.{stage}.{module}")
        except ModuleNotFoundError as error:
            if error.name != f"mlgt.{stage}.{module}":
                raise
            continue
        yield from (value for value in vars(found).values() if hasattr(value, "py_func"))


def _writable(path):
    while not path.exists() and path != path.parent:
        path = path.parent
    return os.access(path, os.W_OK)


def _kernel():
    """Does compiled code run, and does it agree with plain NumPy?"""
    try:
        import numpy as np

        from .._core.topk import top_k

        scores = np.random.default_rng(0).random((3, 7)).astype(np.float32)
        labels, best = top_k(scores, 2)
        expected = np.argsort(-scores, axis=1)[:, :2]
        same = (labels == expected).all() and (best == np.take_along_axis(scores, expected, axis=1)).all()
    except Exception as error:
        fix = f"{sys.executable} -m pip install -U numba numpy scipy"
        return _check("compiled code", BROKEN, f"{type(error).__name__}: {error}", fix)
    if not same:
        return _check("compiled code", BROKEN, "another result than plain NumPy", "pip install -U numba")
    return _check("compiled code", OK, "runs, with the results of plain NumPy")
