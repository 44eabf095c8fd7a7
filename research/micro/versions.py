"""Compare the speed of two versions: loading a model, its first prediction, and reading files.

    MLGT_DATA=... python research/micro/versions.py OLD NEW [--model DIR | --own] [--repeats 9]

OLD and NEW are source trees (folders with src/mlgt) or commits of this repository. A model is trained once,
with OLD, unless --model names one, or --own asks for one of each version. Each version runs in a process of
its own, which stays warm; they take turns. Printed are the medians, and the median (min to max) of the
ratios NEW / OLD of neighbouring runs. On a busy machine, compare processor times.
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

LOAD = """
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
READ = """
import json, os, sys, time
from pathlib import Path
from mlgt.data import Columns, RecordFile, read_xmc
data = Path(os.environ["MLGT_DATA"])
columns = Columns(("text",), "labels", "|")
reads = {
    "rows of EURLex-4K": lambda: read_xmc(data / "EURLex-4K/train.txt.gz"),
    "rows of YSO-Finna-en": lambda: read_xmc(data / "YSO-Finna-en/train.txt.gz"),
    "texts of YSO-Finna-en": lambda: RecordFile(
        data / "YSO-Finna-en/train.csv.gz", "csv", columns, labelled=True
    ).read(),
}
def once(read):
    begin = time.process_time()
    read()
    return time.process_time() - begin
reads["rows of EURLex-4K"]()
for line in sys.stdin:
    print(json.dumps({name: once(read) for name, read in reads.items()}), flush=True)
"""
TRAIN = """
import sys
from mlgt import MLGTClassifier
from mlgt import datasets
train, _ = datasets.load(sys.argv[1])
MLGTClassifier(random_state=0, n_jobs=1).fit(train.X, train.Y).save(sys.argv[2])
"""
ROW = """
import sys
import numpy as np
from mlgt import datasets
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


def start(code, src, *arguments):
    environment = os.environ | {"PYTHONPATH": str(src), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def ask(worker):
    worker.stdin.write("\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


def take_turns(code, sources, arguments, repeats):
    """[(answer of OLD, answer of NEW), ...], each called with its own arguments."""
    workers = [start(code, src, *own) for src, own in zip(sources, arguments)]
    for worker in workers:
        ask(worker)
    answers = [[ask(worker) for worker in workers] for _ in range(repeats)]
    for worker in workers:
        worker.stdin.close()
        worker.wait()
    return answers


def compared(name, answers, seconds):
    """A line of the table; seconds(answer) is what is compared."""
    pairs = [(seconds(old), seconds(new)) for old, new in answers]
    ratios = sorted(new / old for old, new in pairs)
    old, new = (statistics.median(column) * 1e3 for column in zip(*pairs))
    spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return name, f"{old:.1f} ms", f"{new:.1f} ms", spread


def measure(options, work):
    sources = [source(version, work) for version in (options.old, options.new)]
    models = [Path(options.model or work / "model")] * 2
    if options.own:
        models = [work / "old", work / "new"]
    if options.model is None:
        trained = dict(zip(reversed(models), reversed(sources)))  # one model: by OLD
        for model, src in trained.items():
            run(TRAIN, src, options.data, model)
    run(ROW, sources[0], options.data, work / "row.npz")
    loads = take_turns(LOAD, sources, [(model, work / "row.npz") for model in models], 5 * options.repeats)
    reads = [] if options.own else take_turns(READ, sources, [(), ()], options.repeats)
    rows = [
        compared("load", loads, lambda t: t[0][0]),
        compared("first predict", loads, lambda t: t[1][0]),
        compared("both", loads, lambda t: t[0][0] + t[1][0]),
        compared("both, processor time", loads, lambda t: t[0][1] + t[1][1]),
    ]
    names = reads[0][0] if reads else ()
    rows += [compared(f"read {name}, processor time", reads, lambda t, n=name: t[n]) for name in names]
    print(table(["", "old", "new", "new / old"], rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--model")
    parser.add_argument("--own", action="store_true", help="each version loads its own model; no reading")
    parser.add_argument("--data", default="EURLex-4K")
    parser.add_argument("--repeats", type=int, default=9)
    with tempfile.TemporaryDirectory() as folder:
        measure(parser.parse_args(), Path(folder))
