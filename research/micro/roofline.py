"""Training stage by stage beside the least time that its operations could take on this machine.

    MLGT_DATA=... python research/micro/roofline.py [NAME ...] [--out FILE]

The rates of three loops are measured first, on one thread, with arrays of the sizes of the data set: a
multiply-add on a tile of 64 classifiers, a multiply-add of a weight that is looked up (rankers), and an
addition to a label that is looked up (centroids); of dense rows, instead, those of a float32 product by
NumPy. The operations of each stage are counted, and the floor
is their number times the rate, for rankers as if every sweep visited all pairs. Stages are CPU seconds of
`MLGTClassifier().fit`, compiled code loaded.
"""

import argparse
import time
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numba
import numpy as np

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.data.datasets import load
from mlgt.ranking import train as ranking
from mlgt.training import settings, train

NAMES = ("YSO-Finna-en", "WordNet-hypernyms", "Debian-debtags", "EURLex-4K")
TILE = 64
REPEATS = 20
ROWS = 256


@numba.njit(error_model="numpy", fastmath=True)
def tile_loop(rows, W, total):
    for row in rows:
        w = W[row]
        for j in range(TILE):
            total[j] += np.float32(0.5) * w[j]


@numba.njit(error_model="numpy", fastmath=True)
def gather_loop(columns, w):
    a = b = c = d = np.float32(0.0)  # four sums, as one would wait for each addition
    for e in range(0, len(columns) - 3, 4):
        a += np.float32(0.5) * w[np.uint32(columns[e])]
        b += np.float32(0.5) * w[np.uint32(columns[e + 1])]
        c += np.float32(0.5) * w[np.uint32(columns[e + 2])]
        d += np.float32(0.5) * w[np.uint32(columns[e + 3])]
    return a + b + c + d


@numba.njit(error_model="numpy")
def scatter_loop(labels, values, total):
    for e in range(len(labels)):
        total[np.uint32(labels[e])] += np.float32(0.5) * np.float32(values[e])


def nanoseconds(function, *arrays, count):
    """The least time per operation."""
    function(*arrays)
    laps = []
    for _ in range(REPEATS):
        began = time.process_time()
        function(*arrays)
        laps.append(time.process_time() - began)
    return 1e9 * min(laps) / count


def rates(X, d):
    """Nanoseconds per operation of the three loops, with the columns of the data."""
    rng, p = np.random.default_rng(0), X.shape[1]
    columns = X.indices[: 1 << 17].astype(np.int32)
    labels = np.sort(rng.integers(d, size=(columns.size // 64, 64)), axis=1).ravel().astype(np.uint16)
    values = rng.integers(1, 100, labels.size).astype(np.int8)
    W = np.zeros((p, TILE), np.float32)
    return {
        "tile": nanoseconds(tile_loop, columns, W, np.zeros(TILE, np.float32), count=TILE * columns.size),
        "gather": nanoseconds(gather_loop, columns, np.zeros(p, np.float32), count=columns.size),
        "scatter": nanoseconds(scatter_loop, labels, values, np.zeros(d, np.float32), count=labels.size),
    }


def product_rate(p, d):
    """Nanoseconds per multiply-add of a float32 product by NumPy with d centroids."""
    rng = np.random.default_rng(0)
    rows, centroids = (rng.random(shape, dtype=np.float32) for shape in ((ROWS, p), (p, d)))
    return nanoseconds(np.matmul, rows, centroids, count=ROWS * p * d)


class Clock:
    """CPU seconds spent in functions that are wrapped, and what they returned and were given."""

    def __init__(self):
        self.spent, self.calls = {}, {}

    def wrap(self, stack, module, name):
        function = getattr(module, name)

        def timed(*arguments, **options):
            began = time.process_time()
            result = function(*arguments, **options)
            self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - began
            self.calls.setdefault(name, []).append((arguments, options, result))
            return result

        stack.enter_context(patch.object(module, name, timed))


def fit(X, Y):
    clock = Clock()
    with ExitStack() as stack:
        clock.wrap(stack, settings, "tune")
        clock.wrap(stack, train, "draw_groups")
        clock.wrap(stack, train, "train")
        clock.wrap(stack, ranking, "candidate_pairs")
        clock.wrap(stack, ranking, "train_ranker")
        began = time.process_time()
        model = MLGTClassifier(random_state=0, n_jobs=1).fit(X, Y)
        clock.spent["all"] = time.process_time() - began
    return model, clock


def lines_of(name):
    data = load(name)[0]
    X, Y = data.X, data.Y
    fit(X[::8], Y[::8])
    model, clock = fit(X, Y)
    (n, _), d, words = X.shape, Y.shape[1], X.nnz / X.shape[0]
    rate, spent = rates(X, d), clock.spent
    (classifiers,) = (result for *_, result in clock.calls["train"])
    sweeps = float(np.mean(classifiers.n_iter))
    visited = 2 * n * words * model.n_groups_ * sweeps
    arguments, _, pairs = clock.calls["candidate_pairs"][0]
    chosen = np.arange(n) if arguments[-1] is None else arguments[-1]
    centroids = model.fitted_model().centroids
    if centroids is None:
        each = model.fitted_model().groups.nnz
        candidates = f"{each:.0f} additions of groups", each, rate["tile"]
    elif centroids.matrix.size > centroids.indptr[-1]:
        each, rate["product"] = centroids.matrix.size, product_rate(*centroids.matrix.shape)
        candidates = f"{each} products with centroids", each, rate["product"]
    else:
        each = centroids.work(X)
        candidates = f"{each:.0f} additions of centroids", each, rate["scatter"]
    learnt = len(pairs.rows) * words * ranking.SWEEPS
    stages = [
        ("power and C", "tune", "", None),
        ("groups (NMF and drawing)", "draw_groups", "", None),
        ("group classifiers", "train", f"2 n w m, {sweeps:.0f} sweeps", visited * rate["tile"]),
        ("candidates", "candidate_pairs", f"{len(chosen)} rows, {candidates[0]}",
         len(chosen) * candidates[1] * candidates[2]),
        ("rankers", "train_ranker", f"{len(pairs.rows)} pairs, {ranking.SWEEPS} sweeps",
         learnt * rate["gather"]),
    ]  # fmt: skip
    lines = []
    for stage, key, work, floor in stages:
        least = "" if floor is None else f"{floor / 1e9:.2f}"
        share = "" if floor is None else f"{floor / 1e9 / spent[key]:.2f}"
        lines.append([name, stage, f"{spent[key]:.2f}", work, least, share])
    known = sum(spent[key] for _, key, *_ in stages)
    lines.append([name, "everything else", f"{spent['all'] - known:.2f}", "", "", ""])
    speeds = ", ".join(f"{loop} {value:.3f}" for loop, value in rate.items())
    print(*lines, speeds, sep="\n", flush=True)
    return lines, f"{name}: {speeds} ns per operation"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = [lines_of(name) for name in options.names or NAMES]
    header = ["data", "stage", "CPU s", "operations", "floor, s", "floor / measured"]
    text = f"{machine()}.\n\n{table(header, [line for lines, _ in found for line in lines])}\n\n"
    text += "".join(f"- {speeds}\n" for _, speeds in found)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
