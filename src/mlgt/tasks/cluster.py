"""Tasks on other processes and machines, through any executor like those of `concurrent.futures`.

`on_cluster` takes a client of `dask.distributed`, which schedules, moves data and runs the tasks of lost
workers again; nothing here opens a connection. Inputs that all tasks of a stage share reach workers once:
as files in a folder that all of them can read (`sending`), or else scattered by Dask.
"""

import logging
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from .._core.aside import locked
from .._core.errors import MLGTError
from .kept import SENT_MARK, versions
from .sending import Storage, call, describe, probe
from .stage import Result, Stage, current_cluster

WAIT_SECONDS = 30
"""Longest wait for a scheduler, and for its first worker."""


MIN_SUBMITTED = 64


class ClusterError(MLGTError):
    """The cluster cannot be used, or was lost."""


@contextmanager
def on_cluster(
    client: Any, *, storage: str | os.PathLike[str] | None = None, scatter: bool = False
) -> Iterator[None]:
    """Train and predict on the workers of a Dask cluster, or with another executor, inside this context.

    The results are the same bits as on one machine with the same processor.

    Parameters
    ----------
    client : distributed.Client or concurrent.futures.Executor
        The cluster. Workers need the same versions of mlgt, Python, NumPy, SciPy and Numba.
    storage : str or path, default=None
        A folder that all workers can read and write under the same name, for data and results; None is the
        folder for temporary files. If a worker does not see it, Dask moves the data instead.
    scatter : bool, default=False
        Let Dask move the data in any case: each worker then holds all of it in memory.

    Yields
    ------
    None
        Nothing.
    """
    is_dask = hasattr(client, "get_executor")
    if scatter and not is_dask:
        raise ValueError("scatter=True needs a client of dask.distributed; other executors read files.")
    if is_dask:
        check_workers(client)
    with tempfile.TemporaryDirectory(prefix="mlgt-cluster-", dir=storage) as name, locked(Path(name)):
        folder = _marked(Path(name))
        place = None if scatter or (is_dask and not _seen_by_all(client, folder)) else folder
        token = current_cluster.set(Cluster(client, is_dask, place))
        try:
            yield
        finally:
            current_cluster.reset(token)


@contextmanager
def use_scheduler(address: str | None, storage: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """`on_cluster` for the scheduler at an address, if there is one; security is as Dask is configured."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            'a cluster needs dask.distributed, which is not installed: pip install "mlgt[cluster]".'
        ) from None
    for name in list(logging.root.manager.loggerDict):  # errors are reported once, by us
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=WAIT_SECONDS)
    except (OSError, ValueError, TypeError) as error:  # TimeoutError too
        raise ClusterError(
            f"no scheduler answers at {address} ({error}); start one with `dask scheduler`, or correct the "
            "address."
        ) from None
    try:
        client.wait_for_workers(1, timeout=WAIT_SECONDS)
        with on_cluster(client, storage=storage):
            yield
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {address} has no workers; start some with `dask worker {address}`."
        ) from None
    finally:
        client.close(timeout=1)


def check_workers(client: Any) -> None:
    """Raise if a worker has other versions than this process."""
    own = versions()
    try:
        found = client.run(versions)
    except Exception as error:
        raise ClusterError(
            f"workers cannot run mlgt ({type(error).__name__}: {error}); install mlgt {own['mlgt']} on all "
            "of them."
        ) from None
    for worker, theirs in found.items():
        if theirs != own:
            raise ClusterError(f"worker {worker} {describe(theirs, own)}")


def _seen_by_all(client, folder):
    """True if all workers see a file of this folder, and can write beside it."""
    mark = folder / SENT_MARK
    return all(client.run(probe, str(mark), mark.read_bytes()).values())


def _marked(folder):
    """The folder, with a file that no other folder has; `mlgt doctor` knows what was left by it."""
    (folder / SENT_MARK).write_bytes(os.urandom(16))
    return folder


def _check_done(task):
    """Raise the error of a task, if it has one. Nothing is fetched from a worker without one."""
    if getattr(task, "status", None) != "finished":  # that of a future of Dask
        task.result()


class Cluster:
    """Runs the tasks of stages through an executor."""

    def __init__(self, client: Any, is_dask: bool, folder: Path | None) -> None:
        self.client, self.is_dask = client, is_dask
        self._submit = partial(client.submit, pure=False) if is_dask else client.submit
        self.storage = None if folder is None else Storage(folder)

    def check_memory(self, needed: float) -> None:
        """Raise if a worker has less memory per thread than a task needs."""
        workers = self.client.scheduler_info()["workers"] if self.is_dask else {}
        for address, worker in workers.items():
            limit = worker["memory_limit"] / max(1, worker["nthreads"])
            if 0 < limit < needed:
                raise ClusterError(
                    f"a task needs about {needed / 1e9:.1f} GB of memory, but worker {address} has "
                    f"{limit / 1e9:.1f} GB per thread. Start workers with fewer threads (--nthreads) or "
                    "more memory (--memory-limit), or pass a smaller n_groups."
                )

    def _room(self):
        """Tasks to submit at a time."""
        threads = sum(self.client.nthreads().values()) if self.is_dask else 0
        return max(MIN_SUBMITTED, 2 * threads)

    def results(self, stage: Stage, todo: list[int]) -> Iterator[tuple[int, Result, Path | None]]:
        """Yield (i, result, its file) as tasks finish; without a shared folder there is no file."""
        shared = self._share(stage.shared)
        waiting: dict[Any, tuple[int, Any, Any]] = {}
        done: SimpleQueue[Any] = SimpleQueue()
        left, room = iter(todo), self._room()
        try:
            while True:
                for i in islice(left, max(0, room - len(waiting))):
                    inputs, place = stage.inputs(i), None
                    if self.storage is not None:
                        inputs, place = self.storage.send(inputs), self.storage.new_place()
                    task = self._submit(
                        call, versions(), stage.function, shared, inputs, place and str(place)
                    )
                    waiting[task] = i, inputs, place
                    task.add_done_callback(done.put)
                if not waiting:
                    return
                task = done.get()
                i, inputs, place = waiting.pop(task)
                if self.storage is None:
                    yield i, task.result(), None
                else:
                    _check_done(task)
                    yield i, self.storage.read(place), place
                    self.storage.remove(inputs, place)
        except (Exception, CancelledError) as error:
            raise self._explained(error) from None
        finally:
            for task in waiting:
                task.cancel()
            if self.storage is not None:
                self.storage.end_stage()

    def _share(self, shared):
        if self.storage is not None:
            return self.storage.send(shared, reuse=True)
        return self.client.scatter([shared], broadcast=True, hash=False)[0]  # a copy survives a lost worker

    def _explained(self, error):
        """The error, in words of mlgt if it is about the cluster."""
        kind = type(error).__name__
        if kind == "KilledWorker":
            return ClusterError(
                f"a task ended the worker it ran on, several times ({error}); give workers more memory."
            )
        lost = kind in ("CancelledError", "FutureCancelledError", "CommClosedError")
        if lost or (self.is_dask and self.client.status != "running"):
            return ClusterError("the connection to the scheduler was lost; start it and its workers again.")
        return error
