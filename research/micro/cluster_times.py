"""Where the time of a training on a cluster goes: tasks, what is serial, and the makespan they give.

`cluster.py` measures with it: `Timed` runs tasks in this process, `Recorded` those of a Dask cluster. The
simulation hands the measured tasks of a stage, in their order, to the next free worker; stages, and what is
no task, follow one after another.
"""

import heapq
import threading
import time
from concurrent.futures import Executor, Future

from common import table
from mlgt.estimators import base, flat
from mlgt.groups import nmf
from mlgt.model.fitted import FittedModel
from mlgt.ranking import train as ranking_train
from mlgt.tasks import kept
from mlgt.tasks.sending import Storage
from mlgt.training import settings as training_settings
from mlgt.training import splitting
from mlgt.training import train as training_train

SERIAL = {
    "checks of the data": (base.GroupTestingClassifier, "_training_data"),
    "fingerprint of the data": (kept, "fingerprint"),
    "other settings": (flat, "resolve"),
    "tuning": (training_settings, "tune"),
    "centroids of some labels, for a setting": (training_settings, "are_light"),
    "split into blocks": (splitting, "partition_labels"),
    "scaled rows": (training_train, "scale_rows"),
    "co-occurrence of labels": (nmf, "cooccurrence"),
    "where the factors start": (nmf, "random_start"),
    "factors of the label graph (NMF)": (nmf, "symmetric_nmf"),
    "groups drawn from them": (nmf, "nmf_groups"),
    "other work on groups": (training_train, "draw_groups"),
    "targets of the groups": (training_train, "pool"),
    "rows to keep": (training_train, "choose_rows"),
    "weights of groups put together": (training_train, "train"),
    "the model before rankers": (training_train, "_unranked"),
    "half bytes, by held-out rows": (training_train, "_round_more"),
    "other work on rankers": (training_train, "train_ranking"),
    "centroids": (ranking_train, "label_centroids"),
    "centroids put together": (ranking_train.Centers, "renewed"),
    "their index": (ranking_train.CentroidIndex, "build"),
    "candidates of held-out rows": (FittedModel, "candidates"),
    "candidates put together": (ranking_train, "candidate_pairs"),
    "pairs of rows and labels": (ranking_train, "training_pairs"),
    "rankers put together": (ranking_train, "train_ranker"),
    "other decisions on held-out rows": (ranking_train, "_learn_blends"),
    "fewer weights, by held-out rows": (ranking_train, "_prune_more"),
    "log-odds beyond the candidates": (ranking_train, "learn_rest"),
    "rankers of the last training": (ranking_train.LabelRanker, "updated"),
    "weights as bytes": (ranking_train.LabelRanker, "in_bytes"),
    "files for workers": (Storage, "send"),
    "files from workers": (Storage, "read"),
}
"""Functions whose CPU time is measured, without that of tasks and of others of these within them."""


class Timed(Executor):
    """Runs tasks one after another in this process, and measures each."""

    def __init__(self):
        self.tasks, self.running = [], False

    def submit(self, function, *args):
        future, began, self.running = Future(), time.process_time(), True  # tasks may have threads
        future.set_result(function(*args))
        self.running = False
        self.tasks.append((_stage(args), time.process_time() - began))
        return future


class Recorded:
    """A client of Dask whose workers measure their tasks."""

    tasks, running = (), False  # none in this process

    def __init__(self, client):
        self.client = client
        thread = client.sync(_current_thread)
        self._loop = time.pthread_getcpuclockid(thread)

    def __getattr__(self, name):
        return getattr(self.client, name)

    def submit(self, function, *args, **options):
        return self.client.submit(_measured, function, *args, **options)

    def clock(self):
        """CPU seconds of this process without the thread of scheduler and connections."""
        return time.process_time() - time.clock_gettime(self._loop)

    def finished(self):
        """(stage, CPU seconds) of the tasks since the last call, as they began."""
        found = [task for tasks in self.client.run(_take).values() for task in tasks]
        return [task for _, *task in sorted(found)]


async def _current_thread():
    return threading.get_ident()


def _stage(args):
    """(function, shared inputs) of a task: the arguments of `sending.call`."""
    return args[1].__name__, args[2].key


_found: list = []  # on workers


def _measured(function, *args):
    began, cpu = time.time(), time.process_time()
    result = function(*args)
    _found.append((began, _stage(args), time.process_time() - cpu))
    return result


def _take():
    taken = list(_found)
    _found.clear()
    return taken


class Parts:
    """CPU seconds of the functions of SERIAL in this process, without those of what runs within them."""

    def __init__(self, executor, clock=time.process_time):
        self.executor, self.clock = executor, clock
        self.seconds, self.within = dict.fromkeys(SERIAL, 0.0), [0.0]

    def __enter__(self):
        self.before = {name: owner.__dict__[function] for name, (owner, function) in SERIAL.items()}
        for name, (owner, function) in SERIAL.items():
            setattr(owner, function, self._measured(name, getattr(owner, function)))
        self.began = self.clock()
        return self

    def __exit__(self, *_):
        self.all = self.clock() - self.began
        for name, (owner, function) in SERIAL.items():
            setattr(owner, function, self.before[name])

    def _measured(self, name, function):
        def run(*args, **options):
            if self.executor.running or threading.current_thread() is not threading.main_thread():
                return function(*args, **options)
            began, tasks = self.clock(), len(self.executor.tasks)
            self.within.append(0.0)
            try:
                return function(*args, **options)
            finally:
                spent = self.clock() - began - sum(seconds for _, seconds in self.executor.tasks[tasks:])
                self.seconds[name] += spent - self.within.pop()
                self.within[-1] += spent

        return run


def makespan(seconds, workers):
    """The time until all tasks are done, each given to the next free worker in their order."""
    free = [0.0] * workers
    for task in seconds:
        heapq.heappush(free, heapq.heappop(free) + task)
    return max(free)


def simulation(tasks, serial, parts):
    """Tables: tasks by function, CPU seconds that are no task, and the makespan by number of workers."""
    stages = {}
    for stage, seconds in tasks:
        stages.setdefault(stage, []).append(seconds)
    cpu, rows = serial + sum(map(sum, stages.values())), []
    for workers in (1, 2, 4, 8, 16, 32, 64):
        total = serial + sum(makespan(stage, workers) for stage in stages.values())
        rows.append([workers, f"{total:.1f}", f"{cpu / total:.1f}"])
    lines = [
        [name, len(found), f"{sum(found):.1f}", f"{max(found):.2f}"] for (name, _), found in stages.items()
    ]
    lines.append(["not a task", "", f"{serial:.1f}", ""])
    found = {name: seconds for name, seconds in parts.items() if seconds >= 0.05}
    found["the rest"] = serial - sum(parts.values())
    return "\n\n".join(
        [
            table(["tasks", "number", "CPU s", "longest"], lines),
            table(["not a task", "CPU s"], [[name, f"{seconds:.1f}"] for name, seconds in found.items()]),
            table(["workers", "s", "speedup"], rows),
        ]
    )
