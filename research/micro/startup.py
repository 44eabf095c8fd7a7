"""Start-up of the verbs beside that of numba, and what they import.

    python research/micro/startup.py [--repeats 5] [--out FILE]

CPU seconds (user and system) of whole processes, medians of runs in turns, everything compiled before. The
model is one of texts, trained on the data of `mlgt demo --csv`. "numba, one kernel" is the least that a
program can take that runs compiled code: it imports numba and calls a kernel of one line from the cache.
The last column has the milliseconds of `python -X importtime` of the six slowest packages.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median

from common import machine, table

KERNEL = """
import numpy as np
from numba import njit
@njit(cache=True)
def add(a):
    return a[0] + 1
add(np.zeros(3))
"""


def commands(folder):
    """Commands by name, as arguments of Python."""
    mlgt = ["-m", "mlgt"]
    subprocess.run([sys.executable, *mlgt, "demo", "--csv", folder / "csv"], check=True)
    model, one, few = folder / "model", folder / "one.txt", folder / "few.csv"
    columns = ["--text", "words", "--labels", "tags"]
    train = [*mlgt, "train", folder / "csv" / "train.csv", *columns, "--model", model, "--quiet"]
    subprocess.run([sys.executable, *map(str, train)], check=True)
    one.write_text("a small window manager for the terminal, written in C\n", "utf-8")
    run([*mlgt, "train", few_rows(folder), *columns, "--model", folder / "other", "--quiet"])
    lines = (folder / "csv" / "test.csv").read_text("utf-8").splitlines(keepends=True)
    few.write_text("".join(lines[:101]), "utf-8")
    (folder / "kernel.py").write_text(KERNEL, "utf-8")
    return {
        "`import numba`": ["-c", "import numba"],
        "numba, one kernel": [folder / "kernel.py"],
        "`mlgt --help`": [*mlgt, "--help"],
        "`mlgt predict`, one text": [*mlgt, "predict", model, one],
        "`mlgt explain`, one text": [*mlgt, "explain", model, one],
        "`mlgt evaluate`, 100 texts": [*mlgt, "evaluate", model, few, *columns],
        "`mlgt compare`, 100 texts": [*mlgt, "compare", model, folder / "other", few, *columns],
        "`mlgt inspect`": [*mlgt, "inspect", model],
        "`mlgt train`, 400 texts": [
            *mlgt,
            "train",
            folder / "few_rows.csv",
            *columns,
            "--model",
            folder / "m",
            "--force",
        ],
        "`mlgt update`, 100 texts": [
            *mlgt,
            "update",
            model,
            few,
            "--out",
            folder / "m",
            "--force",
            *columns,
        ],
        "`mlgt prune`": [*mlgt, "prune", model, "--threshold", "0.2", "--out", folder / "m", "--force"],
        "`mlgt synth`, 400 rows": [
            *mlgt,
            "synth",
            folder / "synth",
            "--rows",
            "400",
            "--features",
            "900",
            "--labels",
            "90",
            "--force",
        ],
        "`mlgt doctor`": [*mlgt, "doctor"],
        **{f"`mlgt {verb} --help`": [*mlgt, verb, "--help"] for verb in ("train", "demo", "serve")},
    }


def few_rows(folder):
    """The first 400 texts to train on."""
    lines = (folder / "csv" / "train.csv").read_text("utf-8").splitlines(keepends=True)
    (folder / "few_rows.csv").write_text("".join(lines[:401]), "utf-8")
    return folder / "few_rows.csv"


def run(arguments, *options):
    """Run Python; returns (CPU s, standard error)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *options, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def imports(arguments):
    """Milliseconds by package, the slowest first."""
    found = Counter()
    for line in re.findall(r"import time: +(\d+) \|.*\| +([\w.]+)", run(arguments, "-X", "importtime")[1]):
        found[line[1].split(".")[0]] += int(line[0]) / 1e3
    return ", ".join(f"{name} {ms:.0f}" for name, ms in found.most_common(6))


def report(repeats):
    with tempfile.TemporaryDirectory() as folder:
        found = commands(Path(folder))
        for arguments in found.values():  # compile
            run(arguments)
        times = {name: [] for name in found}
        for _ in range(repeats):
            for name, arguments in found.items():
                times[name].append(run(arguments)[0])
        first, kernel = (median(times[name]) for name in list(found)[:2])
        lines = []
        for name, own in times.items():
            middle, spread = median(own), f"{min(own):.2f} to {max(own):.2f}"
            ratios = f"{middle / first:.2f}", f"{middle / kernel:.2f}"
            lines.append([name, f"{middle:.2f}", spread, *ratios, imports(found[name])])
    header = ["", "CPU s", "spread", "of `import numba`", "of numba, one kernel", "imports, ms"]
    return f"Medians of {repeats}. {machine()}.\n\n{table(header, lines)}\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    text = report(options.repeats)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
