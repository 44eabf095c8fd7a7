"""`kernel` and `helper`: numba's njit as mlgt uses it everywhere.

Kernels release the interpreter lock, so that plain Python threads run them side by side, and are cached on
disk, so that only the first run on a machine compiles them. Where no folder can be written (a read-only
installation without a home, or a full disk), they are compiled in each process.

What a first run takes is measured by `research/micro/compile_time.py`. It is a few milliseconds per
operation that a kernel writes down, and whole seconds for some functions of NumPy (`np.argsort`,
`np.partition`, `np.concatenate`), which `sorting` and plain loops replace.
"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit
from numba.extending import register_jitable

from . import first_run

_interpreting = False


def kernel(*, light: bool | Callable = False, **options: Any) -> Callable[[Callable], Any]:
    """Decorate a function as a compiled kernel; options are njit's. A `light` kernel takes milliseconds per
    row even if it is interpreted, or if `light`, a function of whole arrays, runs in its place. Both give
    the same bits: see `interpreting`."""
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}  # no kernel is passed to C

    def decorate(function):
        try:
            compiled = njit(cache=True, **options)(function)
        except RuntimeError:  # "no locator available": no folder for the cache
            compiled = njit(**options)(function)
        if hasattr(compiled, "_compile_for_args"):  # not with NUMBA_DISABLE_JIT
            _watch(compiled, light)
        return compiled

    return decorate


def helper(**options: Any) -> Callable[[Callable], Any]:
    """Decorate a function that becomes part of the kernels that call it; for Python, it stays as it is."""
    return register_jitable(no_cfunc_wrapper=True, **options)


@contextmanager
def interpreting(wanted: bool = True) -> Iterator[None]:
    """Interpret `light` kernels that were never compiled on this machine, if `wanted`: for a single row,
    compiling them would take a hundred times as long. This holds for all threads."""
    global _interpreting
    before, _interpreting = _interpreting, wanted
    try:
        yield
    finally:
        _interpreting = before


def _watch(compiled, light):
    """Decide and report when numba has no code of a kernel for some types of arguments: at their first use
    in a process."""
    compile_or_load, save = compiled._compile_for_args, compiled._cache.save_overload

    def prepare(*arguments, **named):
        if not is_cached(compiled):
            if light and _interpreting:
                return _plain(compiled.py_func if light is True else light)
            first_run.compiling(*_cache_folder(compiled))
        with _uncollected():
            return compile_or_load(*arguments, **named)

    def save_if_possible(*arguments):
        try:
            save(*arguments)
        except OSError as error:  # a full disk; the kernel runs all the same
            first_run.not_kept(str(_cache_folder(compiled)[0]), error.strerror or str(error))

    compiled._compile_for_args = prepare
    compiled._cache.save_overload = save_if_possible


@contextmanager
def _uncollected():
    """No garbage collection: numba makes many objects that live on, and looking through them takes a sixth
    of the time of compiling."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _plain(function):
    """The function with integers that wrap around, as compiled ones do."""

    def wrapped(*arguments):
        with np.errstate(over="ignore"):
            return function(*arguments)

    return wrapped


def _cache_folder(compiled):
    """(folder of compiled code or None, whether it is the first one that numba tries)."""
    found = getattr(compiled._cache, "cache_path", None)
    if found is None:
        return None, False
    source = Path(compiled.py_func.__code__.co_filename)
    first = Path(config.CACHE_DIR) if config.CACHE_DIR else source.parent
    return os.path.dirname(found), Path(found).is_relative_to(first)


def is_cached(compiled: Any) -> bool:
    """Return whether a kernel is in numba's cache on this machine; False if numba does not report it."""
    try:
        folder = Path(compiled._cache.cache_path)
        return any(folder.glob(f"*{compiled.py_func.__name__}*.nbi"))
    except (AttributeError, OSError, TypeError):
        return False
