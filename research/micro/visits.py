"""The order in which classifiers visit rows: all at random, or mixed short runs (`classifiers.solver`).

    MLGT_DATA=... python research/micro/visits.py [NAME ...] [--repeats 5] [--sweeps 8] [--out FILE]

A tile of 64 groups, each of a thirty-second of the labels drawn at random, is trained with C = 1 by either
order. CPU time per visit of a row is that of a sweep, the first left out, orders taking turns: the median
(lowest to highest) of the repeats, and the ratio in the same repeat. The gap is the largest relative
duality gap of the 64 after the last sweep, mean (lowest to highest): how far the descent has come.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import machine, span, table
from mlgt._core.rows import scale_rows
from mlgt.classifiers import solver
from mlgt.data.datasets import load

NAMES = ("YSO-Finna-en", "WordNet-hypernyms", "Debian-debtags", "EURLex-4K")
SHARE = 1 / 32
ORDERS = {"all at random": lambda n, rng: rng.permutation(n), "mixed runs": solver._mixed}


def descend(X, Z, order, sweeps, seed):
    """(CPU nanoseconds per visit, largest gap)."""
    before, solver._mixed = solver._mixed, order
    kernel, laps = solver._kernels.sweep_squared_hinge, []

    def timed(*arguments):
        began = time.process_time()
        kernel(*arguments)
        laps.append(time.process_time() - began)

    solver._kernels.sweep_squared_hinge = timed
    try:
        found = solver.solve(X, Z, tol=1e-9, max_iter=sweeps, n_jobs=1, seed=seed)
    finally:
        solver._mixed, solver._kernels.sweep_squared_hinge = before, kernel
    return statistics.median(laps[1:]) / X.shape[0] * 1e9, float(found.gap.max())


def lines_of(name, repeats, sweeps):
    """The rows of the table for one data set."""
    train, _ = load(name)
    X, d = scale_rows(train.X, 1.0), train.Y.shape[1]
    found = {order: [] for order in ORDERS}
    for repeat in range(repeats):
        drawn = np.random.default_rng(repeat).random((d, solver.TILE)) < SHARE
        Z = sp.csr_array(train.Y @ sp.csr_array(drawn, dtype=np.float32)) > 0
        for order, function in ORDERS.items():
            found[order].append(descend(X, Z, function, sweeps, repeat))
    baseline = [visit for visit, _ in found["all at random"]]
    for order, runs in found.items():
        visits, gaps = zip(*runs)
        ratios = [own / other for own, other in zip(visits, baseline)]
        yield name, order, span(visits, 0), span(ratios, 2), span(gaps, 3, statistics.fmean)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=8)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    header = ["data", "order", "ns per visit", "ratio", f"gap after {options.sweeps} sweeps"]
    lines = [line for name in options.names for line in lines_of(name, options.repeats, options.sweeps)]
    text = f"Medians of {options.repeats} (lowest to highest). {machine()}.\n\n{table(header, lines)}\n"
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
