"""What it costs to keep finished tasks, and to train on a Dask cluster.

    python research/micro/cluster.py keeping FILE [--repeats 5]   # with kept work beside without
    python research/micro/cluster.py dask FILE [--repeats 2]      # two workers beside two threads
                      [--kill [--kill-after 20]] [--busy-dask]    # one killed; with Dask's own settings
                      [--only CASE] [--keep]                      # threads, workers or killed; work is kept
    python research/micro/cluster.py idle                         # CPU time of two workers that wait
    python research/micro/cluster.py simulate FILE [--blocks L]   # from task times: 4 to 64 workers
    python research/micro/cluster.py kills FILE [--kills 30] [--blocks L]    # the command, killed at random

FILE is a training file such as EURLex-4K's or that of `mlgt synth DIR --preset amazon670k`. CPU seconds are
user and system time of all processes, reading and compilation not counted; lines of `keeping` and `dask`
are medians, and ratios those of pairs run back to back. `dask` also simulates, from the times of the tasks
on the workers; see `cluster_times.py`. `pip install "mlgt[cluster]"` first.
"""

import argparse
import hashlib
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np

import mlgt
from cluster_times import Parts, Recorded, Timed, simulation
from common import machine, memory, table
from mlgt._core.sparse import count_occurring
from mlgt.data import read_xmc
from mlgt.model.format import to_arrays
from mlgt.tasks import kept as kept_work
from mlgt.tasks.stage import current_cluster
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


class Keeping:
    """Keeps work in a folder that is removed, and measures what this takes: CPU seconds and MB."""

    def __init__(self, folder):
        self.folder, self.seconds, self.megabytes = folder, 0.0, 0.0

    @contextmanager
    def __call__(self):
        before = {name: getattr(kept_work, name) for name in ("write_arrays", "fingerprint")}
        for name, function in before.items():
            setattr(kept_work, name, self._measured(function))
        with tempfile.TemporaryDirectory(dir=self.folder) as folder, mlgt.keep_work(folder):
            yield
            sizes = [file.stat().st_size for file in Path(folder).rglob("*.arrays")]
            self.megabytes = sum(sizes) / 1e6
        for name, function in before.items():
            setattr(kept_work, name, function)

    def _measured(self, function):
        def run(*args):
            began = time.thread_time()
            try:
                return function(*args)
            finally:
                self.seconds += time.thread_time() - began

        return run


def keeping(data, options):
    """Ratio of CPU and wall seconds with kept work to those without, and the size of what is kept."""
    fit = lambda: estimator(data, 2).fit(data.X, data.Y)  # noqa: E731
    keep = Keeping(options.folder)

    def fit_kept():
        with keep():
            return fit()

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
    last = [f"{keep.seconds / options.repeats:.2f}", f"{keep.megabytes:.0f}"]
    return table([*header, "CPU s of keeping alone", "MB kept"], [[*middle, *last]])


def cpu_seconds():
    """CPU seconds of a process."""
    times = resource.getrusage(resource.RUSAGE_SELF)
    return times.ru_utime + times.ru_stime


class Peaks:
    """The most memory of processes, in MB: own (RssAnon) and with files (RssAnon + RssFile)."""

    def __init__(self, pids):
        self.own, self.all = dict.fromkeys(pids, 0.0), dict.fromkeys(pids, 0.0)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _watch(self):
        while not self._end.wait(0.1):
            for pid in self.own:
                found = memory(pid)
                self.own[pid] = max(self.own[pid], found.get("RssAnon", 0.0))
                self.all[pid] = max(self.all[pid], found.get("RssAnon", 0.0) + found.get("RssFile", 0.0))


CASES = {
    "threads": "one process, two threads",
    "workers": "two workers of one thread",
    "killed": "two workers, one killed",
}
COLUMNS = ["CPU s", "wall s", "CPU s here", "of workers", "of keeping", "own MB here", "of a worker"]
COLUMNS += ["with files", "MB to workers", "MB back", "MB kept"]


def on_dask(data, options):
    """Two workers of one thread beside one process of two threads; Dask as docs/cluster.md advises."""
    import dask
    from distributed import Client, LocalCluster

    if not options.busy_dask:
        dask.config.set(QUIET_DASK)
    options_of = {
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "memory_limit": 0,
        "dashboard_address": None,
    }
    wanted = [options.only] if options.only else list(CASES)[: 2 + options.kill]
    runs = {name: [] for name in wanted}
    with LocalCluster(n_workers=2, processes=True, **options_of) as cluster, Client(cluster) as client:
        client.run(train_tiny_model)  # imports
        for _ in range(options.repeats):
            for name in wanted:
                keep = Keeping(options.folder)
                with keep() if options.keep else nullcontext():
                    if name == "threads":
                        model, found = _run_here(lambda: _fit(data))
                    else:
                        model, found = _run_there(client, lambda: _fit(data), name, options)
                found |= {"of keeping": keep.seconds, "MB kept": keep.megabytes, "bits": digest(model)}
                runs[name].append(found)
                said = {column: figure for column, figure in found.items() if column != "simulation"}
                print(name, said, file=sys.stderr, flush=True)
    simulations = [run["simulation"] for name, some in runs.items() for run in some if name != "threads"]
    return "\n\n".join([_dask_table(runs), *simulations[-1:]])


def _fit(data):
    return estimator(data, 2).fit(data.X, data.Y)


def _dask_table(runs):
    rows = []
    for name, some in runs.items():
        figures = [statistics.median(run.get(column, 0.0) for run in some) for column in COLUMNS]
        ratios = ["", ""]
        if alone := runs.get("threads"):
            pairs = [[run[key] / own[key] for run, own in zip(some, alone)] for key in COLUMNS[:2]]
            ratios = [f"{statistics.median(column):.2f}" for column in pairs]
        bits = " ".join(sorted({run["bits"] for run in some}))
        cells = [f"{figure:.{1 if i < 5 else 0}f}" for i, figure in enumerate(figures)]
        rows.append([CASES[name], *cells[:2], *ratios, *cells[2:], bits])
    return table(["", *COLUMNS[:2], "CPU ratio", "wall ratio", *COLUMNS[2:], "bits"], rows)


def _run_here(fit):
    """(model, figures) of a training in this process."""
    own = os.getpid()
    with Peaks([own]) as peaks:
        model, cpu, wall = timed(fit)
    return model, {"CPU s": cpu, "wall s": wall, "CPU s here": cpu, "own MB here": peaks.own[own]}


def _run_there(client, fit, case, options):
    """(model, figures) of a training on the workers, of which one may be killed after some seconds."""
    before, pids = client.run(cpu_seconds), list(client.run(os.getpid).values())
    idle_memory = {pid: memory(pid)["RssAnon"] for pid in pids}
    killer = threading.Timer(options.kill_after, os.kill, (pids[0], 9))
    if case == "killed":
        killer.start()
    own, recorded = os.getpid(), Recorded(client)
    with (
        mlgt.on_cluster(recorded, storage=options.folder),
        Parts(recorded, recorded.clock) as parts,
        Peaks([own, *pids]) as peaks,
    ):
        model, cpu, wall = timed(fit)
        storage = current_cluster.get().storage
    killer.cancel()
    client.wait_for_workers(2)
    after = client.run(cpu_seconds)
    theirs = sum(after[w] - before.get(w, 0.0) for w in after)
    return model, {
        "CPU s": cpu + theirs,
        "wall s": wall,
        "CPU s here": cpu,
        "of workers": theirs,
        "own MB here": peaks.own[own],
        "of a worker": max(peaks.own[pid] - idle_memory[pid] for pid in pids),
        "with files": max(peaks.all[pid] for pid in pids),
        "MB to workers": storage.bytes_written / 1e6,
        "MB back": storage.bytes_read / 1e6,
        "simulation": simulation(recorded.finished(), parts.all, parts.seconds),
    }


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
            before, own = client.run(cpu_seconds), cpu_seconds()
            time.sleep(seconds)
            after, own = client.run(cpu_seconds), cpu_seconds() - own
            spent = [own, *(after[worker] - before[worker] for worker in after)]
        rows.append([name, *(f"{one / seconds:.3f}" for one in spent), f"{sum(spent) / seconds:.3f}"])
    return table(["Dask", "scheduler and client", "worker", "worker", "all"], rows)


def simulate(data, options):
    """Time by number of workers, from tasks that run one after another in this process."""
    executor = Timed()
    with mlgt.on_cluster(executor, storage=options.folder), Parts(executor) as parts:
        estimator(data, 1, options.blocks).fit(data.X, data.Y)
    serial = parts.all - sum(seconds for _, seconds in executor.tasks)
    return simulation(executor.tasks, serial, parts.seconds)


def kills(data, options):
    """The same bits after kills of the command at random moments; a training that ends is begun again."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        model, work = Path(folder, "model"), Path(folder, "work")

        def start():
            words = ["train", options.file, "--model", model, "--keep-work", work, "--quiet"]
            words += ["--blocks", options.blocks] if options.blocks else []
            return subprocess.Popen([sys.executable, "-m", "mlgt", *map(str, words)])

        def taken():
            """{file: digest} of the model, which is removed."""
            files = {
                str(file.relative_to(model)): hashlib.sha256(file.read_bytes()).hexdigest()
                for file in model.rglob("*.npy")
            }
            shutil.rmtree(model)
            return files

        for _ in range(2):  # the first one may compile
            began = time.perf_counter()
            assert start().wait() == 0
            alone, plain = time.perf_counter() - began, taken()
        count, found, resumed = 0, [], 0
        while count < options.kills or not found:
            process = start()
            if count < options.kills:
                try:
                    process.wait(rng.uniform(0.3, 1.0) * alone)
                except subprocess.TimeoutExpired:
                    process.kill()
                    count += 1
                    resumed += any(work.rglob("*.arrays"))
            process.wait()
            if model.exists():
                found.append(taken())
    equal = bool(plain) and all(files == plain for files in found)
    bits = "the same bits" if equal else "OTHER BITS"
    return f"{count} kills, {resumed} of them with finished tasks; {len(found)} trainings ended: {bits}"


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
    parser.add_argument("--keep", action="store_true", help="of `dask`: keep work")
    parser.add_argument("--blocks", type=int, help="of `simulate` and `kills`: split the labels")
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
