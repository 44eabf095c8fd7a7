"""One thread for BLAS while a model is made.

Its products are small here, so that more threads only wait for each other, and their number would change
the last bits of a model.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

_lock = Lock()
_inside: list[threadpool_limits | None] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, for the whole process; the last of several threads inside lifts the limit.

    Without effect where the loaded libraries cannot be listed.
    """
    with _lock:
        try:
            _inside.append(None if _inside else threadpool_limits(1, "blas"))
        except OSError:
            _inside.append(None)
    try:
        yield
    finally:
        with _lock:
            limits = _inside.pop(-1 if len(_inside) > 1 else 0)
            if limits is not None:
                limits.restore_original_limits()
