"""A stage is a list of independent tasks, each a pure function from arrays to arrays:

    result_i = function(shared, inputs(i)),   then   store(i, result_i)                               (1)

Tasks run on plain Python threads around kernels that release the interpreter lock: nothing to configure.
Inside `keep_work`, results are files as well, and those of an earlier run are read instead of computed.
Inside `on_cluster`, an executor computes them elsewhere. The results are the same bits in all cases.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from .._core.memory import is_mapped, maker
from .._core.progress import Progress
from .._core.rows import BLOCK_ROWS, count_threads, map_blocks

Result = tuple[np.ndarray, ...]
ROW_PIECES, MIN_BLOCKS = 256, 2
"""Most pieces of rows that are tasks of their own, if results are kept or computed elsewhere, and the
blocks of each. A task costs a cluster about 10 ms of CPU."""
current_run: ContextVar[Any] = ContextVar("run", default=None)
"""The `kept.Run` of the training in progress."""
current_cluster: ContextVar[Any] = ContextVar("cluster", default=None)
"""The `cluster.Cluster` that computes results."""


@dataclass(frozen=True)
class Stage:
    """The tasks of eq. (1)."""

    name: str
    """A file name: kept results begin with it."""
    function: Callable[[Any, Any], Result]
    """Defined at the top level of a module, so that other processes find it; it changes no input."""
    shared: Any
    """Inputs of all tasks: arrays, or objects that hold arrays. They do not change during training."""
    n_tasks: int
    inputs: Callable[[int], Any]
    """Further inputs of one task."""
    store: Callable[[int, Result], int]
    """Takes a result; returns how much was done, for the progress."""
    here: bool = False
    """True if results are no arrays: tasks then run in this process, and are not kept."""


def run_stage(
    stage: Stage, n_jobs: int | None = None, progress: Progress | None = None, total: int = 0
) -> None:
    """Run all tasks of a stage, and report progress(done, total). A single task runs in this thread."""
    run, cluster = (None, None) if stage.here else (current_run.get(), current_cluster.get())
    kept = None if run is None else run.begin_stage(stage.name, stage.n_tasks)
    todo: list[int] = []
    counted = _Counter(progress, total)
    for i in range(stage.n_tasks):
        result = None if kept is None else kept.read(i)
        if result is None:
            todo.append(i)
        else:
            counted(stage.store(i, result))

    def compute(i):
        with nothing_nested():
            result = stage.function(stage.shared, stage.inputs(i))
        if kept is not None:
            kept.write(i, result)
        return stage.store(i, result)

    if len(todo) == 1:
        counted(compute(todo[0]))
    elif todo and cluster is not None:
        for i, result, file in cluster.results(stage, todo):
            if kept is not None:
                kept.write(i, result, file)
            counted(stage.store(i, result))
    elif todo:
        _run_threads(compute, todo, n_jobs, counted)


def run_task(name: str, function: Callable[[], Result]) -> Result:
    """Run a stage of one task, which other processes need not find."""
    found: list[Result] = []

    def store(_, result):
        found.append(result)
        return 1

    run_stage(Stage(name, lambda _, __: function(), None, 1, lambda _: None, store))
    return found[0]


def map_rows(
    name: str,
    function: Callable[[Any, Any], Result],
    shared: Any,
    X: Any,
    n_jobs: int | None = None,
    chosen: np.ndarray | None = None,
) -> Result:
    """Apply function(shared, rows), which returns arrays with an entry per row, to blocks of the rows of X,
    or of those `chosen`; returns these arrays for all of them, in files if X is."""
    n = X.shape[0] if chosen is None else len(chosen)
    if current_run.get() is None and current_cluster.get() is None and not is_mapped(X.data):
        return _map_piece((function, shared, X, chosen), (0, n), n_jobs)
    size = BLOCK_ROWS * max(MIN_BLOCKS, -(-n // (BLOCK_ROWS * ROW_PIECES)))
    edges = list(range(0, n, size)) or [0]
    found: list[np.ndarray] = []
    make, lock = maker(X.data), Lock()

    def store(i, result):
        with lock:
            if not found:
                found.extend(make((n, *part.shape[1:]), part.dtype) for part in result)
        for whole, part in zip(found, result):
            whole[edges[i] : edges[i] + size] = part
        return len(result[0])

    everything = function, shared, X, chosen
    stage = Stage(name, _map_piece, everything, len(edges), lambda i: (edges[i], edges[i] + size), store)
    run_stage(stage, n_jobs)
    return tuple(found)


def _map_piece(everything, span, n_jobs=1):
    (function, shared, X, chosen), (first, last) = everything, span
    if chosen is not None:
        blocks = map_blocks(lambda some: function(shared, X[some]), chosen[first:last], n_jobs)
    else:
        rows = X if last - first == X.shape[0] else X[first:last]
        blocks = map_blocks(lambda rows: function(shared, rows), rows, n_jobs)
    return tuple(np.concatenate(parts) for parts in zip(*blocks))


def _run_threads(compute: Callable[[int], int], items: Iterable[int], n_jobs, counted) -> None:
    """When a call fails or is interrupted, calls that have not begun are cancelled."""
    with ThreadPoolExecutor(count_threads(n_jobs)) as pool:
        try:
            for task in as_completed([pool.submit(compute, i) for i in items]):
                counted(task.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Counter:
    def __init__(self, progress, total):
        self.progress, self.total, self.done = progress, total, 0

    def __call__(self, amount):
        self.done += amount
        if self.progress is not None:
            self.progress(self.done, self.total)


@contextmanager
def nothing_nested() -> Iterator[None]:
    """Run stages within a task on its threads: the order of the others then does not depend on what is
    kept."""
    tokens = [(variable, variable.set(None)) for variable in (current_run, current_cluster)]
    try:
        yield
    finally:
        for variable, token in tokens:
            variable.reset(token)
