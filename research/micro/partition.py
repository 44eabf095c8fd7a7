"""Blocks and separators of label graphs: time, sizes, what is lost, beside the authors' reordering.

    MLGT_DATA=... python research/micro/partition.py [--large] [--out research/micro/results/partition.md]

Strict separators and budgets of 3, 5 and 10 % of the labels, by METIS and by the built-in label
propagation; nested (two parts at a time) and flat (one separator). Three seeds: sizes are means, seconds
the median, CPU time on one thread with the building of the co-occurrence graph. --large adds synthetic
label sets of 670,000 and 3,000,000 labels, each in a process of its own for its peak memory. The picture is
the co-occurrence of EURLex-4K in the order of its partition.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import machine, table
from mlgt.data.datasets import ENVIRONMENT, load
from mlgt.labels.graph import adjacency, cooccurrence
from mlgt.labels.partition import PARTITIONERS, lost_share, partition_labels, read_reordering
from mlgt.report import draw_partition

HEADER = [
    "separators",
    "partitioner",
    "split",
    "in separators",
    "largest S + C_i",
    "mean",
    "balance",
    "lost",
    "CPU s",
]
SETS = (("EURLex-4K", 4), ("EURLex-4K", 8), ("YSO-Finna-en", 12), ("WordNet-hypernyms", 5))
LARGE = (  # rows, labels, labels per row, blocks, partitioner
    (490_000, 670_000, 5.5, 22, "metis"),
    (490_000, 670_000, 5.5, 22, "propagation"),
    (2_500_000, 3_000_000, 6, 75, "metis"),
)


def figures(partitions):
    """|S|, largest and mean block with separators, balance, loss; means over the seeds."""
    rows = [
        (len(p.separator), p.sizes.max(), p.sizes.mean(), p.balance, p.lost if p.lost is not None else 0.0)
        for p in partitions
    ]
    s, largest, mean, balance, lost = np.mean(rows, axis=0)
    return [f"{s:.0f}", f"{largest:.0f}", f"{mean:.0f}", f"{balance:.2f}", f"{lost:.3f}"]


def measure(Y, n_blocks, seeds=3, **options):
    partitions, seconds = [], []
    for seed in range(seeds):
        began = time.process_time()
        G = cooccurrence(Y)
        partitions.append(partition_labels(G, np.random.default_rng(seed), n_blocks=n_blocks, **options))
        seconds.append(time.process_time() - began)
    return [*figures(partitions), f"{statistics.median(seconds):.2f}"]


def compare(name, n_blocks):
    """One table: all partitioners, budgets and ways to split, on one data set."""
    Y = load(name).train.Y
    for partitioner in PARTITIONERS:  # compile
        partition_labels(
            cooccurrence(Y[:200]), np.random.default_rng(0), n_blocks=2, partitioner=partitioner
        )
    lines = []
    for budget in (None, 0.03, 0.05, 0.1):
        for way, branching in (("nested", 2), ("flat", n_blocks)):
            for partitioner in PARTITIONERS:
                options = {"budget": budget, "partitioner": partitioner, "branching": branching}
                kind = "strict" if budget is None else f"{budget:.0%}"
                lines.append([kind, partitioner, way, *measure(Y, n_blocks, **options)])
    if (name, n_blocks) == ("EURLex-4K", 8):
        lines.append(["strict", "the authors' files", "nested", *authors(Y), "0.5 (theirs)"])
    seen = int((Y.sum(axis=0) > 0).sum())
    G = cooccurrence(Y)
    edges = adjacency(G).nnz // 2
    title = (
        f"### {name}: {Y.shape[1]} labels ({seen} occur, {edges} pairs occur together), {n_blocks} blocks"
    )
    return f"{title}\n\n{table(HEADER, lines)}\n"


def authors(Y):
    folder = Path(os.environ[ENVIRONMENT]) / "reorderings"
    partition = read_reordering(folder / "Eurlex-perm.txt", folder / "Eurlex-comm.txt")
    assert lost_share(adjacency(cooccurrence(Y)), partition) == 0
    return figures([partition])


def topic_labels(n, d, k, seed=0, leaf=40):
    """Y (n, d): each row has a topic and about k labels from it or, more rarely, from a topic above it;
    a topic holds eight narrower ones, the narrowest `leaf` labels; labels of a topic follow a power law."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(k - 1, n) + 1
    rows = np.repeat(np.arange(n), counts)
    topic = (d // leaf * rng.random(n) ** 1.5).astype(np.int64)
    levels = np.minimum(rng.geometric(0.75, len(rows)) - 1, 6)
    span = np.minimum(leaf * 8**levels, d)
    begin = topic[rows] * leaf // span * span
    within = np.minimum((rng.pareto(1.0, len(rows)) * span / 20).astype(np.int64), span - 1)
    labels = rng.permutation(d)[np.minimum(begin + within, d - 1)]
    Y = sp.csr_array((np.ones(len(rows), np.float32), (rows, labels)), shape=(n, d))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def large_run(n, d, k, n_blocks, partitioner, budget):
    """One partition of a synthetic graph; printed as JSON for the parent process."""
    Y = topic_labels(n, d, k)
    partition_labels(cooccurrence(Y[:2000]), np.random.default_rng(0), n_blocks=2, partitioner=partitioner)
    began = time.process_time()
    G = cooccurrence(Y)
    built = time.process_time() - began
    rng = np.random.default_rng(0)
    partition = partition_labels(G, rng, n_blocks=n_blocks, partitioner=partitioner, budget=budget)
    total = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = [f"{d:,}", f"{G.nnz / 2e6:.1f} M", n_blocks, "strict" if budget is None else f"{budget:.0%}"]
    print(
        json.dumps(
            [*line, partitioner, *figures([partition]), f"{built:.1f}", f"{total:.0f}", f"{peak:.1f}"]
        )
    )


def large():
    header = ["labels", "pairs", "blocks", "separators", HEADER[1], *HEADER[3:8]]
    lines = []
    for run in LARGE:
        code = f"import partition; partition.large_run(*{run}, None)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        lines.append(json.loads(done.stdout))
        print(lines[-1], file=sys.stderr, flush=True)
    return table([*header, "graph, CPU s", "all, CPU s", "peak, GB"], lines)


READ = """`lost` is the share of co-occurrence between labels that no block holds together; `balance` the
largest block over the mean, without separators. The paper names 0.5 s for partitioning EURLex, elsewhere.

Strict: nesting makes the blocks smaller, though all separators together hold more labels, since a block
holds only those on its way to the root. Budget: at equal budget a flat split loses less and has larger
blocks; at equal block size the two lose about the same, nested less where the blocks are many."""


def main(with_large):
    text = f"{machine()}, pymetis {version('pymetis')}.\n\n" + __doc__.split("\n\n")[2].strip()
    text += f"\n\n{READ}\n\n" + "\n".join(compare(name, n_blocks) for name, n_blocks in SETS)
    text += "\n![EURLex-4K, 8 blocks](partition.png)\n"
    if with_large:
        text += f"\n### Synthetic label sets, nested\n\n{large()}\n"
    return text


def picture(path):
    G = cooccurrence(load("EURLex-4K").train.Y)
    draw_partition(path, G, partition_labels(G, np.random.default_rng(0), n_blocks=8))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.large)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
        picture(options.out.with_suffix(".png"))
