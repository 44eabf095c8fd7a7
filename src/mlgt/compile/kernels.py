"""`kernel` and `helper`: numba's njit as mlgt uses it everywhere.

Kernels release the interpreter lock, so that plain Python threads run them side by side, and are cached on
disk, so that only the first run on a machine compiles them. Where no folder can be written (a read-only
installation without a home, or a full disk), they are compiled in each process.

numba is imported when the first kernel needs it: a command for one text needs none, and takes half of
the time without. How numba compiles is in `lean`.

What a first run takes is measured by `research/micro/compile_time.py`. It is a few milliseconds per
operation that a kernel writes down, and whole seconds for some functions of NumPy (`np.argsort`,
`np.partition`, `np.concatenate`), which `sorting` and plain loops replace.
"""

import gc
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any

import numpy as np

from . import first_run, lean

ONE, FEW, MANY, ANY, MAX_SECONDS = 1 << 12, 1 << 17, 1 << 24, math.inf, 1.0
"""Bytes of the largest input for which a light kernel is not compiled: if it is interpreted, if NumPy takes
its place row by row, if NumPy does all rows at once, and if it does them as fast; and the CPU time of that
in a process, per kernel."""
_input_bytes: float = math.inf
_input_rows = 0
_helpers: list[Callable[[Any], Any]] | None = []
"""What numba has to be taught when it is imported; None afterwards."""
_lock = threading.RLock()


class Kernel:
    """A function that numba compiles when it is first called, unless something else runs in its place."""

    def __init__(
        self, function: Callable, light: bool | Callable, limit: float, options: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self.py_func, self._options, self._limit, self._spent = function, options, limit, 0.0
        self._compiled: Any = None
        self._runs: Any = None
        self._light: Callable | None = function if light is True else light or None

    def __call__(self, *arguments: Any) -> Any:
        if self._runs is not None:
            return self._runs(*arguments)
        if self._light is not None and self._spent < MAX_SECONDS and is_spared(self, self._limit):
            result = self._run_light(self._light, arguments)
            if result is not NotImplemented:
                return result
        result = self.compiled(*arguments)
        self._runs = self.compiled  # from now on, whatever the input
        return result

    def _run_light(self, light, arguments):
        began = time.thread_time()
        with np.errstate(over="ignore", invalid="ignore"):  # as in compiled code
            result = light(*arguments)
            if result is NotImplemented and _input_bytes <= ONE:
                result = self.py_func(*arguments)
        self._spent += time.thread_time() - began if self._limit > ONE else 0.0
        return result

    @property
    def compiled(self) -> Any:
        """numba's dispatcher."""
        if self._compiled is None:
            with _lock:
                self._compiled = self._compiled or _dispatcher(self.py_func, self._options)
        return self._compiled


def kernel(
    *, light: bool | Callable = False, limit: float = 0, **options: Any
) -> Callable[[Callable], Kernel]:
    """Decorate a function as a compiled kernel; options are njit's. For an input of up to `limit` bytes a
    `light` one may be interpreted, or `light`, a function, runs in its place, which returns NotImplemented
    where it cannot. All give the same bits: see `interpreting`."""
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}  # no kernel is passed to C
    return lambda function: Kernel(function, light, limit or (ONE if light is True else FEW), options)


def helper(teach: Callable = lean.teach, **options: Any) -> Callable[[Callable], Any]:
    """Decorate a function that becomes part of the kernels that call it; for Python, it stays as it is.
    teach(numba, function) makes it known to numba."""

    def decorate(function):
        own = partial(teach, function=function, **options)
        if _helpers is None:
            own(_numba())
        else:
            _helpers.append(own)
        return function

    return decorate


def _numba():
    """numba, which knows all helpers."""
    global _helpers
    import numba.extending

    with _lock:
        pending, _helpers = _helpers, None
        for teach in pending or ():
            teach(numba)
        if pending is not None:  # kernels may call kernels
            numba.extending.typeof_impl.register(Kernel)(lambda own, _: numba.typeof(own.compiled))
    return numba


@contextmanager
def interpreting(input_bytes: float = 0, rows: int = 0) -> Iterator[None]:
    """Do without `light` kernels that were never compiled on this machine, for an input of this size, and
    of this many rows if they are known: for a single row, compiling would take a hundred times as long. For
    a small input, do without any as long as numba is not imported. This holds for all threads."""
    global _input_bytes, _input_rows
    before, _input_bytes, _input_rows = (_input_bytes, _input_rows), input_bytes, rows
    try:
        yield
    finally:
        _input_bytes, _input_rows = before


def exceeds(rows: int, per_row: int, limit: int) -> bool:
    """Return whether all rows of the input, at least those of one call, are more work than `limit`; never
    for an input that is so small that what NumPy cannot do is interpreted."""
    return _input_bytes > ONE and max(rows, _input_rows) * per_row > limit


def is_spared(kernel: Kernel, limit: float) -> bool:
    """Return whether the input has up to `limit` bytes, and compiling the kernel or importing numba for it
    would take longer than to do without."""
    if _input_bytes > limit:
        return False
    return (_input_bytes <= FEW and _helpers is not None) or not is_cached(kernel)


def _njit(function, **options):
    numba = _numba()
    passes = {} if (pipeline := lean.pipeline()) is None else {"pipeline_class": pipeline}
    return numba.njit(**passes, **options)(function)


def _dispatcher(function, options):
    try:
        found = _njit(function, cache=True, **options)
    except RuntimeError:  # "no locator available": no folder for the cache
        found = _njit(function, **options)
    if hasattr(found, "_compile_for_args"):  # not with NUMBA_DISABLE_JIT
        _watch(found)
    return found


def _watch(compiled):
    """Report when numba has no code of a kernel for some types of arguments, at their first use in a
    process, and when it cannot be kept."""
    compile_or_load, save = compiled._compile_for_args, compiled._cache.save_overload

    def prepare(*arguments, **named):
        if not _has_code(compiled):
            first_run.compiling(*_cache_folder(compiled))
        with _uncollected():
            return _with_room(lambda: compile_or_load(*arguments, **named))

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


def _with_room(work):
    return work()


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=1 << 16)
"""Python keeps frames in pieces of 16 KB. A loop whose calls begin a new piece maps and unmaps it each time
(python/cpython#142183): a fifth of the time of compiling. Here a piece of 1 MB has room for all."""


def _cache_folder(compiled):
    """(folder of compiled code or None, whether it is the first one that numba tries)."""
    found = getattr(compiled._cache, "cache_path", None)
    if found is None:
        return None, False
    source = Path(compiled.py_func.__code__.co_filename)
    chosen = _numba().config.CACHE_DIR
    first = Path(chosen) if chosen else source.parent
    return os.path.dirname(found), Path(found).is_relative_to(first)


def is_cached(kernel: Kernel) -> bool:
    """Return whether a kernel is in numba's cache on this machine; False if numba does not report it."""
    return _has_code(kernel.compiled)


def _has_code(compiled):
    try:
        folder = Path(compiled._cache.cache_path)
        return any(folder.glob(f"*.{compiled.py_func.__name__}-*.nbi"))  # "module.name-line.python.nbi"
    except (AttributeError, OSError, TypeError):
        return False
