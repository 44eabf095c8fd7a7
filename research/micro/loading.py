"""Does loading a model take longer than in another version? Load and first predict of EURLex-4K.

    MLGT_DATA=... python research/micro/loading.py OLD NEW [--model DIR] [--repeats 9] [--data EURLex-4K]

OLD and NEW are source trees (folders with src/mlgt) or commits of this repository. A model is trained once,
with NEW, unless --model names one. Each version runs in a process of its own, which stays warm; they take
turns. Printed are the medians, and the median (min to max) of the ratios NEW / OLD of neighbouring runs.
Processor time tells more on a machine that is busy.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from common import table

WORKER = """
import json, sys, time
import numpy as np
from mlgt import Predictor
rows = np.load(sys.argv[2])
def clocks():
    return np.array([time.perf_counter(), time.process_time()])
def once():
    begin = clocks()
    predictor = Predictor(sys.argv[1])
    middle = clocks()
    predictor(rows["indices"], rows["values"])
    return [(middle - begin).tolist(), (clocks() - middle).tolist()]
once()
for line in sys.stdin:
    print(json.dumps(once()), flush=True)
"""
TRAIN = """
import sys
from mlgt import MLGTClassifier
from mlgt.data import datasets
train, _ = datasets.load(sys.argv[1])
MLGTClassifier(random_state=0, n_jobs=1).fit(train.X, train.Y).save(sys.argv[2])
"""
ROW = """
import sys
import numpy as np
from mlgt.data import datasets
_, test = datasets.load(sys.argv[1])
row = test.X[[0]]
np.savez(sys.argv[2], indices=row.indices, values=row.data)
"""


def source(version: str, work: Path) -> Path:
    """The folder `src` of a tree, or of a commit that is unpacked to `work`."""
    if Path(version, "src", "mlgt").is_dir():
        return Path(version).resolve() / "src"
    place = work / version.replace("/", "-")
    packed = subprocess.run(["git", "archive", version, "src"], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(place, filter="data")
    return place / "src"


def run(code, src, *arguments):
    environment = os.environ | {"PYTHONPATH": str(src)}
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, env=environment)


def start(src, *arguments):
    environment = os.environ | {"PYTHONPATH": str(src), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", WORKER, *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def ask(worker):
    """Seconds of load and first predict, each by the clock and of the processor."""
    worker.stdin.write("\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


def measure(options, work):
    sources = [source(version, work) for version in (options.old, options.new)]
    model = Path(options.model or work / "model")
    if options.model is None:
        run(TRAIN, sources[1], options.data, model)
    run(ROW, sources[1], options.data, work / "row.npz")
    workers = [start(src, model, work / "row.npz") for src in sources]
    for worker in workers:
        ask(worker)
    times = [[ask(worker) for worker in workers] for _ in range(options.repeats)]
    for worker in workers:
        worker.stdin.close()
        worker.wait()
    rows = []
    for name, pick in (
        ("load", lambda t: t[0][0]),
        ("first predict", lambda t: t[1][0]),
        ("both", lambda t: t[0][0] + t[1][0]),
        ("both, processor time", lambda t: t[0][1] + t[1][1]),
    ):
        pairs = [(pick(old), pick(new)) for old, new in times]
        ratios = sorted(new / old for old, new in pairs)
        old, new = (statistics.median(column) * 1e3 for column in zip(*pairs))
        spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        rows.append((name, f"{old:.1f} ms", f"{new:.1f} ms", spread))
    print(table(["", "old", "new", "new / old"], rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--model")
    parser.add_argument("--data", default="EURLex-4K")
    parser.add_argument("--repeats", type=int, default=9)
    with tempfile.TemporaryDirectory() as folder:
        measure(parser.parse_args(), Path(folder))
