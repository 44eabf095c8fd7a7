"""What the first run on a machine compiles: kernel by kernel, for training and for prediction.

    MLGT_DATA=... python research/micro/compile_time.py [--data EURLex-4K] [--rounds 3] [--models FOLDER]
        [--only COMMAND ...] [--out FILE]

Each command runs in a process of its own, with one thread and an empty NUMBA_CACHE_DIR (cold), then again
with what the first run left there (warm). The difference of their CPU seconds, user and system, is what the
first run costs; medians of the rounds. What NumPy does in the place of kernels that are not compiled, in
both runs, is not in the difference, but in cold and warm seconds. A second table has the CPU seconds of
every compiled kernel, with the number of times that it was compiled: once per combination of argument
types. Helpers are counted with the kernel that needs them first, functions of numba and NumPy with every
kernel that calls them, other kernels are not. A third table has the CPU seconds of the phases.
`--models` keeps the models, `rows` and `texts`, or takes those that are there, so that `--only` may measure
predictions alone.
"""

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

from numba.core import event

from common import machine, table

PHASES = {"nopython_type_inference": "types", "native_lowering": "translation for LLVM"}
"""Passes of numba that take longest, by its names."""
FEW = 40
"""Texts of a small file."""


class Recorder(event.Listener):
    """CPU seconds of each compilation by kernel, without those of the kernels that it calls."""

    def __init__(self):
        self.found, self.open = defaultdict(list), []

    def on_start(self, compilation):
        function = compilation.data["dispatcher"].py_func
        ours = function.__module__.startswith("mlgt")
        name = f"{function.__module__.removeprefix('mlgt.')}.{function.__name__}" if ours else None
        self.open.append([name, str(compilation.data["args"]), time.thread_time(), 0.0])

    def on_end(self, compilation):
        name, args, began, inner = self.open.pop()
        spent = time.thread_time() - began
        if name is not None:
            self.found[name].append([args, spent - inner])
        if self.open:
            self.open[-1][3] += spent if name is not None else inner


class Phases(event.Listener):
    """CPU seconds of LLVM and of numba's passes, each without what runs within it."""

    def __init__(self):
        self.found, self.open = defaultdict(float), []

    def on_start(self, phase):
        name = "LLVM"
        if phase.kind == "numba:run_pass":
            name = PHASES.get(phase.data["name"].split()[0], "other passes")
        self.open.append([name, time.thread_time(), 0.0])

    def on_end(self, _):
        name, began, inner = self.open.pop()
        spent = time.thread_time() - began
        self.found[name] += spent - inner
        if self.open:
            self.open[-1][2] += spent


def run_recorded(out, arguments):
    """Run the command in this process and write what it compiled, and the phases, to `out`."""
    recorder, phases = Recorder(), Phases()
    event.register("numba:compile", recorder)
    for kind in ("numba:run_pass", "numba:llvm_lock"):
        event.register(kind, phases)
    try:
        from mlgt.__main__ import main

        sys.argv[1:] = arguments
        return main()
    finally:
        Path(out).write_text(json.dumps([recorder.found, phases.found]), "utf-8")


def measure(arguments, cache, out):
    """Run a command; returns (CPU s, wall s, what was compiled, phases)."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, __file__, "--recorded", str(out), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: exit status {done.returncode}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - began, *json.loads(out.read_text("utf-8"))


def commands(data, folder, models):
    """The commands to measure, by name; each needs the models of those before it."""
    one, row = folder / "one.txt", folder / "row.txt"
    one.write_text("a small window manager for the terminal, written in C\n", "utf-8")
    with gzip.open(data / "test.txt.gz", "rt") as file:
        header, first = next(file).split(), next(file)
    row.write_text(" ".join(["1", *header[1:]]) + "\n" + first, "utf-8")
    subprocess.run([sys.executable, "-m", "mlgt", "demo", "--csv", folder / "csv"], check=True)
    few, test = folder / "few.csv", folder / "csv" / "test.csv"
    few.write_text("".join(test.read_text("utf-8").splitlines(keepends=True)[: 1 + FEW]), "utf-8")
    train, texts = ("train", "--force", "--jobs", 1), ("--text", "words", "--labels", "tags")
    rows_model, texts_model = models / "rows", models / "texts"
    return {
        "train, rows": [*train, data / "train.txt.gz", "--model", rows_model],
        "predict, all test rows": ["predict", rows_model, data / "test.txt.gz", "-o", folder / "out"],
        "predict, one row": ["predict", rows_model, row],
        "train, texts": [*train, folder / "csv" / "train.csv", *texts, "--model", texts_model],
        "predict, one text": ["predict", texts_model, one],
        f"predict, {FEW} texts": ["predict", texts_model, few, "--text", "words"],
        "predict, all test texts": ["predict", texts_model, test, "--text", "words", "-o", folder / "out"],
    }


def measure_all(data, folder, rounds, only, models):
    """Yield (name, cold and warm runs) of each command."""
    for name, arguments in commands(data, folder, models or folder).items():
        if only and name not in only:
            continue
        runs = {"cold": [], "warm": []}
        for i in range(rounds):
            cache = folder / f"cache {name} {i}"
            for kind in runs:
                runs[kind].append(measure(arguments, cache, folder / "found.json"))
        yield name, runs


def report(data, rounds, only=(), models=None):
    """The three tables, as text."""
    totals, kernels, names, phases = [], defaultdict(dict), [], defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        for name, runs in measure_all(data, Path(folder), rounds, only, models):
            (cold, cold_wall), (warm, warm_wall) = (
                [median(run[i] for run in found) for i in range(2)] for found in runs.values()
            )
            first, again = (found[-1][2] for found in runs.values())
            count = sum(map(len, first.values()))
            left = sum(map(len, again.values()))
            figures = [cold, warm, cold - warm, cold_wall, warm_wall]
            totals.append([name, *(f"{f:.2f}" for f in figures), len(first), count, left])
            names.append(name)
            for kernel, own in first.items():
                kernels[kernel][name] = f"{sum(seconds for _, seconds in own):.2f} ({len(own)})"
            for phase, seconds in runs["cold"][-1][3].items():
                phases[phase][name] = f"{seconds:.2f}"
            print(*totals[-1], sep=" | ", flush=True)
    header = ["", "cold CPU s", "warm CPU s", "first run CPU s", "cold s", "warm s"]
    header += ["kernels", "compilations", "compiled again when warm"]
    by_phase = [[phase, *(own.get(name, "") for name in names)] for phase, own in phases.items()]
    rows = sorted(kernels.items(), key=lambda found: -max(float(f.split()[0]) for f in found[1].values()))
    lines = [[kernel, *(own.get(name, "") for name in names)] for kernel, own in rows]
    return (
        f"{data.name} and the texts of `mlgt demo --csv`; medians of {rounds}. {machine()}.\n\n"
        f"{table(header, totals)}\n\nCPU seconds by phase:\n\n"
        f"{table(['phase', *names], by_phase)}"
        "\n\nCPU seconds by kernel, and how often it was compiled:\n\n"
        f"{table(['kernel', *names], lines)}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="EURLex-4K")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", default=[], help="name of a command in the table")
    parser.add_argument("--models", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    data = Path(os.environ["MLGT_DATA"]) / options.data
    text = report(data, options.rounds, options.only, options.models and options.models.resolve())
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--recorded"]:
        sys.exit(run_recorded(sys.argv[2], sys.argv[3:]))
    main()
