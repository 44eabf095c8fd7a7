"""`kernel` and `helper`: numba's njit as mlgt uses it everywhere.

Kernels release the interpreter lock, so that plain Python threads run them side by side, and are cached on
disk, so that only the first run on a machine compiles them. Where no folder can be written (a read-only
installation without a home, or a full disk), they are compiled in each process.

What a first run takes is measured by `research/micro/compile_time.py`. It is a few milliseconds per
operation that a kernel writes down, and whole seconds for some functions of NumPy (`np.argsort`,
`np.partition`, `np.concatenate`), which `sorting` and plain loops replace.
"""

import gc
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit
from numba.extending import register_jitable

from . import first_run

ONE, FEW, MANY, ANY, MAX_SECONDS = 1 << 12, 1 << 17, 1 << 24, math.inf, 1.0
"""Bytes of the largest input for which a light kernel is not compiled: if it is interpreted, if NumPy takes
its place row by row, if NumPy does all rows at once, and if it does them as fast; and the CPU time of that
in a process."""
_input_bytes: float = math.inf


def kernel(
    *, light: bool | Callable = False, limit: float = 0, **options: Any
) -> Callable[[Callable], Any]:
    """Decorate a function as a compiled kernel; options are njit's. For an input of up to `limit` bytes a
    `light` one may be interpreted, or `light`, a function, runs in its place, which returns NotImplemented
    where it cannot. All give the same bits: see `interpreting`."""
    limit = limit or (ONE if light is True else FEW)
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}  # no kernel is passed to C

    def decorate(function):
        try:
            compiled = njit(cache=True, **options)(function)
        except RuntimeError:  # "no locator available": no folder for the cache
            compiled = njit(**options)(function)
        if hasattr(compiled, "_compile_for_args"):  # not with NUMBA_DISABLE_JIT
            _watch(compiled, light, limit)
        return compiled

    return decorate


def helper(**options: Any) -> Callable[[Callable], Any]:
    """Decorate a function that becomes part of the kernels that call it; for Python, it stays as it is."""
    return register_jitable(no_cfunc_wrapper=True, **options)


@contextmanager
def interpreting(input_bytes: float = 0) -> Iterator[None]:
    """Interpret `light` kernels that were never compiled on this machine, for an input of this size: for a
    single row, compiling them would take a hundred times as long. This holds for all threads."""
    global _input_bytes
    before, _input_bytes = _input_bytes, input_bytes
    try:
        yield
    finally:
        _input_bytes = before


def is_small(limit: float) -> bool:
    """Return whether the input has up to `limit` bytes, so that it is not worth compiling for."""
    return _input_bytes <= limit


def _watch(compiled, light, limit):
    """Decide and report when numba has no code of a kernel for some types of arguments: at their first use
    in a process."""
    compile_or_load, save = compiled._compile_for_args, compiled._cache.save_overload
    spent = 0.0

    def prepare(*arguments, **named):
        if not is_cached(compiled):
            if light and is_small(limit) and spent < MAX_SECONDS:
                return plain
            first_run.compiling(*_cache_folder(compiled))
        with _uncollected():
            return compile_or_load(*arguments, **named)

    def plain(*arguments):
        nonlocal spent
        began, function = time.thread_time(), compiled.py_func if light is True else light
        with np.errstate(over="ignore"):  # integers wrap around, as compiled ones do
            result = function(*arguments)
        spent += time.thread_time() - began if limit > ONE else 0.0
        if result is not NotImplemented:
            return result
        return (compiled.py_func if _input_bytes <= ONE else compile_or_load(*arguments))(*arguments)

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
