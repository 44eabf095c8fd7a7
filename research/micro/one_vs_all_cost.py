"""Estimate the training time of one-vs-all systems from a part of the labels.

    MLGT_DATA=... python research/micro/one_vs_all_cost.py [--data YSO-Finna-en] [--out FILE]

Each system trains two random sets of labels on all training rows, and the line through both gives the CPU
seconds of all labels. The benchmarks leave out systems that would take hours, for this reason.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np

from mlgt.data import read_xmc, write_xmc
from mlgt_research.bench import title_of
from mlgt_research.bench.run import run_systems

SYSTEMS = ("pecos-ova", "napkinxc-ova", "libmultilabel-ovr")
SIZES = (50, 150)


def train_part(folder, rows, labels, system):
    """Return the CPU seconds that a system trains a part of the labels."""
    paths = folder / "train.txt", folder / "test.txt"
    write_xmc(paths[0], rows.X, rows.Y[:, labels])
    write_xmc(paths[1], rows.X[:50], rows.Y[:50][:, labels])
    (run,) = run_systems(*paths, {system: {}}, repeats=1, resamples=0)
    (seconds,) = run.figures("train CPU")
    return seconds


def main(data, out):
    rows = read_xmc(Path(os.environ["MLGT_DATA"]) / data / "train.txt.gz")
    d = rows.Y.shape[1]
    order = np.random.default_rng(0).permutation(d)
    lines = [f"# One-vs-all on {data}, {d:,} labels: CPU seconds of training", ""]
    lines += [f"    python research/micro/one_vs_all_cost.py --data {data}", ""]
    few, more = SIZES
    lines += [f"| system | {few} labels | {more} labels | all, estimated |", "|---|---|---|---|"]
    for system in SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            a, b = (train_part(Path(folder), rows, np.sort(order[:n]), system) for n in SIZES)
        whole = a + (b - a) / (more - few) * (d - few)
        lines.append(f"| {title_of(system)} | {a:.1f} | {b:.1f} | {whole:,.0f} |")
        print(lines[-1], flush=True)
    if out:
        with Path(out).open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="YSO-Finna-en")
    parser.add_argument("--out", help="a file that the table is added to")
    options = parser.parse_args()
    main(options.data, options.out)
