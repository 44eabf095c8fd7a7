"""`kernel` and `helper`: numba's njit as mlgt uses it everywhere.

Kernels release the interpreter lock, so that plain Python threads run them side by side, and are cached on
disk, so that only the first run on a machine compiles them. Where no folder can be written (a read-only
installation without a home, or a full disk), they are compiled in each process.

What a first run takes is measured by `research/micro/compile_time.py`. It is a few milliseconds per
operation that a kernel writes down, and whole seconds for some functions of NumPy (`np.argsort`,
`np.partition`, `np.concatenate`), which `sorting` and plain loops replace.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit


def kernel(**options: Any) -> Callable[[Callable], Any]:
    """Decorate a function as a compiled kernel; options are njit's."""
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}  # no kernel is passed to C

    def decorate(function):
        try:
            return _cached_if_possible(njit(cache=True, **options)(function))
        except RuntimeError:  # "no locator available": no folder for the cache
            return njit(**options)(function)

    return decorate


def helper(**options: Any) -> Callable[[Callable], Any]:
    """Decorate a function that is part of compiled kernels and that Python does not call."""
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def _cached_if_possible(compiled):
    """Let a kernel run that cannot be written to the cache, as on a full disk."""
    cache = getattr(compiled, "_cache", None)  # none with NUMBA_DISABLE_JIT
    if cache is not None:
        save = cache.save_overload

        def save_if_possible(*arguments):
            with suppress(OSError):
                save(*arguments)

        cache.save_overload = save_if_possible
    return compiled


def is_cached(compiled: Any) -> bool:
    """Return whether a kernel is in numba's cache on this machine; False if numba does not report it."""
    try:
        folder = Path(compiled._cache.cache_path)
        return any(folder.glob(f"*{compiled.py_func.__name__}*.nbi"))
    except (AttributeError, OSError, TypeError):
        return False
