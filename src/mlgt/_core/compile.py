"""`kernel`: numba's njit as mlgt uses it everywhere.

Kernels release the interpreter lock, so that plain Python threads run them side by side, and are
cached on disk, so that only the first run on a machine compiles them. Where no folder can be written
(a read-only installation without a home), numba refuses to cache; they are then compiled anew in each
process.
"""

from pathlib import Path

from numba import njit


def kernel(**options):
    """Decorate a function as a compiled kernel; options are njit's."""

    def decorate(function):
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # "no locator available": nowhere to keep the cache
            return njit(nogil=True, **options)(function)

    return decorate


def is_cached(compiled):
    """Has a kernel been compiled on this machine before? False also where nobody can tell."""
    try:
        folder = Path(compiled._cache.cache_path)
        return any(folder.glob(f"*{compiled.py_func.__name__}*.nbi"))
    except (AttributeError, OSError, TypeError):
        return False
