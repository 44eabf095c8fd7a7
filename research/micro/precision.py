"""Precision of two versions on held-out training rows, over so many splits that chance draws average out.

    MLGT_DATA=... python research/micro/precision.py OLD NEW [NAME or FOLDER ...] [--splits 10] [--out FILE]

OLD and NEW are source trees (folders with src/mlgt). In each split a sixth of the training rows is held
out, and each version trains on the others with the split as its seed, on one thread, in its own process.
Differences are NEW - OLD in points (1 = .01), with their standard error over the splits: every version
draws other groups, so that an error by row is too small. No test row is read.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import table

MEASURES = ("P@1", "P@3", "P@5", "nDCG@5")
RUN = """
import json, sys, time
import numpy as np
from mlgt import MLGTClassifier
from mlgt.data.datasets import load
from mlgt.metrics import hits, ndcg_rows
train, split = load(sys.argv[1])[0], int(sys.argv[2])
order = np.random.default_rng(split).permutation(train.X.shape[0])
held, kept = np.split(order, [len(order) // 6])
began = time.process_time()
model = MLGTClassifier(random_state=split, n_jobs=1).fit(train.X[kept], train.Y[kept])
seconds = time.process_time() - began
labels, _ = model.predict_topk(train.X[held], 5)
right = hits(train.Y[held], labels)
found = [right[:, :k].mean() for k in (1, 3, 5)] + [ndcg_rows(train.Y[held], labels, 5).mean()]
print(json.dumps([*map(float, found), seconds]))
"""


def run(source, name, split):
    """The measures and the CPU seconds of training of one version."""
    environment = {**os.environ, "PYTHONPATH": str(Path(source).resolve() / "src")}
    command = [sys.executable, "-c", RUN, name, str(split)]
    found = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(found.stdout)


def line_of(name, old, new, splits):
    for source in (old, new):  # compiles
        run(source, name, 0)
    pairs = np.array([[run(source, name, split) for source in (old, new)] for split in range(splits)])
    gains = 100 * (pairs[:, 1, :-1] - pairs[:, 0, :-1])
    errors = gains.std(axis=0, ddof=1) / np.sqrt(splits)
    cells = [f"{gain:+.2f} ±{error:.2f}" for gain, error in zip(gains.mean(axis=0), errors)]
    line = [Path(name).name, splits, *cells, f"{np.median(pairs[:, 1, -1] / pairs[:, 0, -1]):.2f}"]
    print(*line, sep="  ", flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs=2, metavar="SRC")
    parser.add_argument("names", nargs="*", default=["YSO-Finna-en"])
    parser.add_argument("--splits", type=int, default=10, help="at least 2")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.splits < 2:
        parser.error(f"--splits {options.splits}: errors need at least 2")
    lines = [line_of(name, *options.versions, options.splits) for name in options.names]
    text = table(["data", "splits", *MEASURES, "training CPU"], lines)
    print(text)
    if options.out:
        options.out.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
