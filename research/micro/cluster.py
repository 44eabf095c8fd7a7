"""What it costs to keep finished tasks, and to train on a Dask cluster.

    python research/micro/cluster.py keeping FILE [--repeats 5]   # with kept work beside without
    python research/micro/cluster.py dask FILE [--repeats 2]      # two workers beside two threads
                      [--kill [--kill-after 20]] [--busy-dask]    # one killed; with Dask's own settings
                                       [--only CASE]              # threads, workers or killed
    python research/micro/cluster.py idle                         # CPU time of two workers that wait
    python research/micro/cluster.py simulate FILE [--blocks L]   # from task times: 4 to 64 workers
    python research/micro/cluster.py kills FILE [--kills 30]      # the command, killed at random moments

FILE is a training file such as EURLex-4K's or that of `mlgt synth DIR --preset amazon670k`. CPU seconds are
user and system time of all processes, reading and compilation not counted; lines of `keeping` and `dask`
are medians, and ratios those of pairs run back to back. The simulation hands the measured tasks, in their
order, to the next free worker; what is no task is serial. `pip install "mlgt[cluster]"` first.
"""

import argparse
import hashlib
import heapq
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np

import mlgt
from common import machine, table
from mlgt._core.sparse import count_occurring
from mlgt.data import read_xmc
from mlgt.groups import nmf
from mlgt.model.fitted import FittedModel
from mlgt.model.format import to_arrays
from mlgt.ranking import train as ranking_train
from mlgt.tasks import kept as kept_work
from mlgt.tasks.sending import Storage
from mlgt.tasks.stage import current_cluster
from mlgt.training import settings as training_settings
from mlgt.training import splitting
from mlgt.training.settings import MAX_FLAT_LABELS

QUIET_DASK = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,
}


def train_tiny_model():
    rows = np.eye(24, dtype=np.float32)
    mlgt.MLGTClassifier(n_groups=8, column_weight=2, ranker="linear", random_state=0).fit(rows, rows)


def estimator(data, threads, n_blocks=None):
    """The estimator of `mlgt train`, with `--blocks` if a number of them is given."""
    if n_blocks is not None:
        return mlgt.HierarchicalMLGTClassifier(n_blocks=n_blocks, random_state=0, n_jobs=threads)
    many = count_occurring(data.Y) > MAX_FLAT_LABELS
    kind = mlgt.HierarchicalMLGTClassifier if many else mlgt.MLGTClassifier
    return kind(random_state=0, n_jobs=threads)


def digest(model):
    """Eight digits that stand for the bits of a model."""
    found = hashlib.sha256()
    for name, array in sorted(to_arrays(model.model_).items()):
        found.update(name.encode())
        found.update(np.ascontiguousarray(array))
    return found.hexdigest()[:8]


def timed(function):
    """(result, CPU seconds of this process, wall seconds)."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = function()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def keeping(data, options):
    """Ratio of CPU and wall seconds with kept work to those without, and the size of what is kept."""
    fit = lambda: estimator(data, 2).fit(data.X, data.Y)  # noqa: E731
    sizes, own = [], [0.0]

    def measured(function):
        def run(*args):
            began = time.thread_time()
            try:
                return function(*args)
            finally:
                own[0] += time.thread_time() - began

        return run

    kept_work.write_arrays = measured(kept_work.write_arrays)
    kept_work.fingerprint = measured(kept_work.fingerprint)

    def fit_kept():
        with tempfile.TemporaryDirectory(dir=options.folder) as folder, mlgt.keep_work(folder):
            model = fit()
            sizes.append(sum(file.stat().st_size for file in Path(folder).rglob("*.arrays")))
        return model

    pairs = []
    for repeat in range(options.repeats):
        kinds = [fit, fit_kept] if repeat % 2 == 0 else [fit_kept, fit]  # what runs second may be favoured
        runs = {kind: timed(kind) for kind in kinds}
        (plain, *before), (kept, *after) = runs[fit], runs[fit_kept]
        assert digest(plain) == digest(kept)
        pairs.append((*before, *after, after[0] / before[0], after[1] / before[1]))
        print(*(f"{figure:.2f}" for figure in pairs[-1]), file=sys.stderr, flush=True)
    columns = [sorted(column) for column in zip(*pairs)]
    middle = [f"{statistics.median(column):.2f}" for column in columns]
    for i in (4, 5):
        middle[i] += f" ({columns[i][0]:.2f} to {columns[i][-1]:.2f})"
    header = ["CPU s", "wall s", "CPU s, kept", "wall s, kept", "CPU ratio", "wall ratio"]
    last = [f"{own[0] / options.repeats:.2f}", f"{sizes[0] / 1e6:.0f}"]
    return table([*header, "CPU s of keeping alone", "MB kept"], [[*middle, *last]])


def usage():
    """(CPU seconds, peak MB) of a process."""
    times = resource.getrusage(resource.RUSAGE_SELF)
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return times.ru_utime + times.ru_stime, peak / 1e3


def on_dask(data, options):
    """Two workers of one thread beside one process of two threads; Dask as docs/cluster.md advises."""
    import dask
    from distributed import Client, LocalCluster

    if not options.busy_dask:
        dask.config.set(QUIET_DASK)
    fit = lambda: estimator(data, 2).fit(data.X, data.Y)  # noqa: E731
    options_of = {
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "memory_limit": 0,
        "dashboard_address": None,
    }
    cases = {
        "threads": "one process, two threads",
        "workers": "two workers of one thread",
        "killed": "two workers, one killed",
    }
    wanted = [options.only] if options.only else list(cases)[: 2 + options.kill]
    runs = {name: [] for name in wanted}
    with LocalCluster(n_workers=2, processes=True, **options_of) as cluster, Client(cluster) as client:
        client.run(train_tiny_model)  # imports
        for _ in range(options.repeats):
            for name in wanted:
                if name == "threads":
                    model, cpu, wall = timed(fit)
                    found = (cpu, wall, cpu, 0.0, usage()[1], 0.0, 0.0, 0.0), digest(model)
                else:
                    found = _run_there(
                        client, fit, options.kill_after if name == "killed" else None, options
                    )
                runs[name].append(found)
                print(name, *found, file=sys.stderr, flush=True)
    rows = []
    for name, some in runs.items():
        figures = [statistics.median(column) for column in zip(*(figures for figures, _ in some))]
        figures[4] = some[0][0][4]  # a peak never falls again
        seconds, others = ([f"{figure:.{digits}f}" for figure in figures] for digits in (1, 0))
        ratios = ["", ""]
        if alone := [figures for figures, _ in runs.get("threads", [])]:
            pairs = [[one[0][i] / other[i] for one, other in zip(some, alone)] for i in (0, 1)]
            ratios = [f"{statistics.median(column):.2f}" for column in pairs]
        bits = " ".join(sorted({bits for _, bits in some}))
        rows.append([cases[name], *seconds[:2], *ratios, *seconds[2:4], *others[4:], bits])
    header = ["", "CPU s", "wall s", "CPU ratio", "wall ratio", "CPU s here", "of workers"]
    return table([*header, "peak MB here", "of a worker", "MB to workers", "MB back", "bits"], rows)


def _run_there(client, fit, kill_after, options):
    """One training on the workers, of which one may be killed after some seconds: CPU and wall seconds, CPU
    seconds of this process with the scheduler and of the workers, peaks, and MB moved; and the bits."""
    before, pids = client.run(usage), list(client.run(os.getpid).values())
    killer = threading.Timer(kill_after, os.kill, (pids[0], 9))
    if kill_after:
        killer.start()
    with mlgt.on_cluster(client, storage=options.folder):
        there, own, seconds = timed(fit)
        storage = current_cluster.get().storage
    killer.cancel()
    client.wait_for_workers(2)
    after = client.run(usage)
    theirs = sum(after[w][0] - before.get(w, (0.0, 0.0))[0] for w in after)
    peak = max(peak for _, peak in after.values())
    moved = storage.bytes_written / 1e6, storage.bytes_read / 1e6
    return (own + theirs, seconds, own, theirs, usage()[1], peak, *moved), digest(there)


def idle():
    """CPU seconds per second of a scheduler with its client, and of each of two workers, which wait."""
    import dask
    from distributed import Client, LocalCluster

    rows, seconds = [], 15
    for name, config in (("as it comes", {}), ("quiet", QUIET_DASK)):
        local = {"processes": True, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
        with (
            dask.config.set(config),
            LocalCluster(n_workers=2, **local) as cluster,
            Client(cluster) as client,
        ):
            time.sleep(3)
            before, own = client.run(usage), usage()[0]
            time.sleep(seconds)
            after, own = client.run(usage), usage()[0] - own
            spent = [own, *(after[worker][0] - before[worker][0] for worker in after)]
        rows.append([name, *(f"{one / seconds:.3f}" for one in spent), f"{sum(spent) / seconds:.3f}"])
    return table(["Dask", "scheduler and client", "worker", "worker", "all"], rows)


class Timed(Executor):
    """Runs tasks one after another in this process, and measures each."""

    def __init__(self):
        self.tasks, self.running = [], False

    def submit(self, function, *args):
        future, began, self.running = Future(), time.process_time(), True  # tasks may have threads
        future.set_result(function(*args))
        self.running = False
        self.tasks.append((args[1].__name__, time.process_time() - began))
        return future


def makespan(seconds, workers):
    """The time until all tasks are done, each given to the next free worker in their order."""
    free = [0.0] * workers
    for task in seconds:
        heapq.heappush(free, heapq.heappop(free) + task)
    return max(free)


SERIAL = {
    "tuning": (training_settings, "tune"),
    "split into blocks": (splitting, "partition_labels"),
    "factors of the label graph (NMF)": (nmf, "symmetric_nmf"),
    "groups drawn from them": (nmf, "nmf_groups"),
    "centroids": (ranking_train, "label_centroids"),
    "their index": (ranking_train.CentroidIndex, "build"),
    "candidates of held-out rows": (FittedModel, "candidates"),
    "other decisions on held-out rows": (ranking_train, "_learn_blends"),
    "files for workers": (Storage, "send"),
    "files from workers": (Storage, "read"),
}
"""Functions whose CPU time is measured, tasks within them not counted."""


class Parts:
    """CPU seconds of the functions of SERIAL in this process, without those of the tasks within."""

    def __init__(self, executor):
        self.executor, self.seconds, self.inside = executor, dict.fromkeys(SERIAL, 0.0), False

    def __enter__(self):
        self.before = {name: owner.__dict__[function] for name, (owner, function) in SERIAL.items()}
        for name, (owner, function) in SERIAL.items():
            setattr(owner, function, self._measured(name, getattr(owner, function)))
        return self

    def __exit__(self, *_):
        for name, (owner, function) in SERIAL.items():
            setattr(owner, function, self.before[name])

    def _measured(self, name, function):
        def run(*args, **options):
            if self.executor.running or self.inside:
                return function(*args, **options)
            began, tasks, self.inside = time.process_time(), len(self.executor.tasks), True
            try:
                return function(*args, **options)
            finally:
                self.inside = False
                within = sum(seconds for _, seconds in self.executor.tasks[tasks:])
                self.seconds[name] += time.process_time() - began - within

        return run


def simulate(data, options):
    """Time by number of workers: tasks of a stage side by side, stages and the rest one after another."""
    executor = Timed()
    with mlgt.on_cluster(executor, storage=options.folder), Parts(executor) as parts:
        _, cpu, _ = timed(lambda: estimator(data, 1, options.blocks).fit(data.X, data.Y))
    stages, last = [], None
    for name, seconds in executor.tasks:
        stages.append([]) if name != last else None
        stages[-1].append(seconds)
        last = name
    serial, rows = cpu - sum(map(sum, stages)), []
    for workers in (1, 2, 4, 8, 16, 32, 64):
        total = serial + sum(makespan(stage, workers) for stage in stages)
        rows.append([workers, f"{total:.1f}", f"{cpu / total:.1f}"])
    names = list(dict.fromkeys(name for name, _ in executor.tasks))
    tasks = [[name, *_spread([s for own, s in executor.tasks if own == name])] for name in names]
    tasks.append(["not a task", "", f"{serial:.1f}", ""])
    found = {name: seconds for name, seconds in parts.seconds.items() if seconds >= 0.05}
    found["the rest"] = serial - sum(parts.seconds.values())
    return "\n\n".join(
        [
            table(["tasks", "number", "CPU s", "longest"], tasks),
            table(["not a task", "CPU s"], [[name, f"{seconds:.1f}"] for name, seconds in found.items()]),
            table(["workers", "s", "speedup"], rows),
        ]
    )


def _spread(seconds):
    return len(seconds), f"{sum(seconds):.1f}", f"{max(seconds):.2f}"


def kills(data, options):
    """The same bits after kills of the command at random moments."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:

        def command(model):
            words = ["train", options.file, "--model", f"{folder}/{model}", "--keep-work", f"{folder}/work"]
            return subprocess.Popen([sys.executable, "-m", "mlgt", *map(str, words)])

        began = time.perf_counter()
        assert command("plain").wait() == 0
        alone, count, spent = time.perf_counter() - began, 0, time.perf_counter()
        while not Path(folder, "killed").exists():
            process = command("killed")
            if count < options.kills:
                try:
                    process.wait(rng.uniform(0.2, 0.6) * alone)
                except subprocess.TimeoutExpired:
                    process.kill()
                    count += 1
            process.wait()
        spent = time.perf_counter() - spent
        files = [file.relative_to(Path(folder, "plain")) for file in Path(folder, "plain").glob("**/*.npy")]
        equal = all(
            Path(folder, "plain", name).read_bytes() == Path(folder, "killed", name).read_bytes()
            for name in files
        )
    bits = "the same bits" if equal else "OTHER BITS"
    return f"{count} kills: {bits}; {spent / alone:.1f} times the wall time"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("keeping", "dask", "idle", "simulate", "kills"))
    parser.add_argument("file", nargs="?")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--kill", action="store_true", help="once more, with a worker killed")
    parser.add_argument("--kill-after", type=float, default=20.0, metavar="S", help="seconds until then")
    parser.add_argument("--only", choices=("threads", "workers", "killed"), help="of `dask`: one case")
    parser.add_argument("--busy-dask", action="store_true", help="Dask as it is configured without options")
    parser.add_argument("--blocks", type=int, help="of `simulate`: split the labels into this many")
    parser.add_argument("--folder", help="where files go (default: the folder for temporary files)")
    options = parser.parse_args()
    if options.what == "idle":
        print(f"idle: {machine()}\n\n{idle()}\n")
        return
    train_tiny_model()  # compiles
    run = {"keeping": keeping, "dask": on_dask, "simulate": simulate, "kills": kills}[options.what]
    print(f"{options.what} {options.file}: {machine()}\n\n{run(read_xmc(options.file), options)}\n")


if __name__ == "__main__":
    main()
