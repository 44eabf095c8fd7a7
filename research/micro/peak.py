"""Memory of the workers of a cluster and of the command that trains there, from data in parts.

    python research/micro/peak.py PARTS [OPTION ...]             # options of `mlgt train`
    python research/micro/peak.py PARTS --alone [OPTION ...]     # no cluster: data in memory, then in files
            [--group /sys/fs/cgroup/NAME]    # the latter with the limit of this group, of either version
            [--files-only]                   # the latter alone

Starts a scheduler and two workers of one thread, as docs/cluster.md says, then `mlgt train PARTS` there,
and reads the memory of the processes fifty times a second. `own` is memory of a process (RssAnon), that of
workers beyond what they have after a tiny training; `mapped` is what it has of files, which the system can
drop. `stated` is what docs/cluster.md says of a task, without blocks: 64 (5 n + 4 p) bytes for n rows and p
features. PARTS is a folder, or a quoted pattern.
"""

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mlgt
from cluster import train_tiny_model
from common import machine, memory, table
from mlgt.classifiers.solver import TILE


def peaks(process, pids):
    """The largest of each figure of each process, until `process` ends."""
    found = {pid: {} for pid in pids}
    while process.poll() is None:
        for pid, most in found.items():
            for name, size in memory(pid).items():
                most[name] = max(size, most.get(name, 0.0))
        time.sleep(0.02)
    return found


def train(parts, options, folder):
    """(peaks of the workers before and while training, peaks of the command, the model)."""
    from distributed import Client

    dask, address = [sys.executable, "-m", "dask"], "tcp://127.0.0.1:18786"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}  # workers import `cluster`

    def start(*words):
        return subprocess.Popen([*words, "--no-dashboard"], stderr=subprocess.DEVNULL, env=environment)

    scheduler = start(*dask, "scheduler", "--host", "127.0.0.1", "--port", "18786")
    workers = start(*dask, "worker", address, "--nthreads", "1", "--nworkers", "2", "--memory-limit", "0")
    try:
        with Client(address, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            client.run(train_tiny_model)
            pids = list(client.run(os.getpid).values())
        before = {pid: memory(pid) for pid in pids}
        command = [sys.executable, "-m", "mlgt", "train", parts, "--model", f"{folder}/model"]
        process = subprocess.Popen([*command, "--scheduler", address, *options])
        found = peaks(process, [*pids, process.pid])
        assert process.returncode == 0
        return before, {pid: found[pid] for pid in pids}, found[process.pid], mlgt.load(f"{folder}/model")
    finally:
        for one in (workers, scheduler):
            one.terminate()
            one.wait()


COMMAND = """
import sys
from mlgt.cli import main, training
training.LARGE_FILE_SHARE = {}
sys.exit(main(sys.argv[1:]))
"""
"""`mlgt`, with another size from which on data are kept in files."""


def alone(parts, options, folder, group, kinds):
    """Rows of the table: data in memory and in files."""
    rows = []

    def join():
        Path(group, "cgroup.procs").write_text(str(os.getpid()))

    for name, share in kinds.items():
        model = Path(folder, name)
        words = ["train", parts, "--model", str(model), *options]
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND.format(share), *words],
            preexec_fn=join if group and name == "in files" else None,
        )
        most = peaks(process, [process.pid])[process.pid]
        assert process.returncode == 0
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        read = (after.ru_inblock - before.ru_inblock) * 512 / 1e6
        sizes = [most[kind] for kind in ("RssAnon", "RssFile", "VmHWM")]
        rows.append([name, *(f"{figure:.0f}" for figure in (*sizes, cpu, wall, read)), digest(model)])
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def digest(model):
    """Eight digits that stand for the bits of a model in a folder."""
    found = hashlib.sha256()
    for file in sorted(model.rglob("*.npy")):
        found.update(file.name.encode() + file.read_bytes())
    return found.hexdigest()[:8]


def group_use(group):
    """The limit of a control group, and the most that was used."""
    found = []
    for names in (("memory.max", "memory.limit_in_bytes"), ("memory.peak", "memory.max_usage_in_bytes")):
        paths = [Path(group, name) for name in names if Path(group, name).exists()]
        found.append(f"{int(paths[0].read_text()) / 1e6:.0f}" if paths else "?")
    return f"The group has a limit of {found[0]} MB; with the page cache, {found[1]} MB were used at most."


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts")
    parser.add_argument("--alone", action="store_true", help="without a cluster")
    parser.add_argument("--group", help="a control group, for its limit of memory: data in files run there")
    parser.add_argument("--files-only", action="store_true", help="with --alone: not in memory")
    given, options = parser.parse_known_args()
    if given.alone:
        with tempfile.TemporaryDirectory() as folder:
            kinds = {"in files": 1e15} if given.files_only else {"in memory": 1e-9, "in files": 1e15}
            rows = alone(given.parts, options, folder, given.group, kinds)
        header = ["MB", "own", "mapped", "peak", "CPU s", "wall s", "MB read", "bits"]
        print(f"{given.parts}: {machine()}\n\n{table(header, rows)}")
        print(f"\n{group_use(given.group) if given.group else ''}")
        return
    with tempfile.TemporaryDirectory() as folder:
        before, workers, own, model = train(given.parts, options, folder)
        fitted = getattr(model, "classifier_", model).model_
        n, p = fitted.n_rows, fitted.n_features
    rows = [
        [
            f"worker {i}",
            f"{most['RssAnon'] - before[pid]['RssAnon']:.0f}",
            f"{TILE * (5 * n + 4 * p) / 1e6:.0f}",
            f"{most['RssFile']:.0f}",
            f"{most['VmHWM']:.0f}",
        ]
        for i, (pid, most) in enumerate(workers.items(), 1)
    ]
    rows.append(
        ["the command", f"{own['RssAnon']:.0f}", "", f"{own['RssFile']:.0f}", f"{own['VmHWM']:.0f}"]
    )
    print(f"{given.parts}, {n} rows, {p} features: {machine()}\n")
    print(table(["MB", "own", "stated", "mapped", "peak"], rows))


if __name__ == "__main__":
    main()
