"""Plain Python threads around kernels that release the interpreter lock.

No numba threading layer is involved: nothing to configure, and calls from several threads are safe.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from joblib import effective_n_jobs

from .progress import Progress


def run_all(
    function: Callable[[Any], int],
    items: Iterable,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    total: int = 0,
) -> None:
    """Call function(item) for every item in threads; its results are added up for progress(done, total).

    When a call fails or is interrupted, calls that have not begun are cancelled.
    """
    done = 0
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        try:
            tasks = [pool.submit(function, item) for item in items]
            for task in as_completed(tasks):
                done += task.result()
                if progress is not None:
                    progress(done, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
