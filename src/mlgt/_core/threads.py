"""Plain Python threads around kernels that release the interpreter lock.

No numba threading layer is involved: nothing to configure, and calls from several threads are safe.
"""

from concurrent.futures import ThreadPoolExecutor, as_completed

from joblib import effective_n_jobs


def run_all(function, items, n_jobs=None, progress=None, total=None):
    """Call function(item) for every item; each call returns how much it did, which is added up for
    progress(done, total). When anything fails, Ctrl-C too, what has not begun is not begun."""
    done = 0
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        tasks = [pool.submit(function, item) for item in items]
        try:
            for task in as_completed(tasks):
                done += task.result()
                if progress is not None:
                    progress(done, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
