"""Peak memory of each step of training and prediction.

    MLGT_DATA=... python research/micro/memory.py [--data EURLex-4K YSO-Finna-en] [--out FILE]

The peak of the process after each step, in MB, and by how much the step raised it: a lower bound of what
the step needs, since memory that earlier steps gave back is used again. One thread.
"""

import argparse
import ast
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import machine, table
from mlgt._core.rows import map_blocks, scale_rows
from mlgt._core.sparse import label_counts
from mlgt.classifiers.train import train
from mlgt.data.datasets import load
from mlgt.decoding import decode_soft, search
from mlgt.decoding.index import LabelIndex
from mlgt.groups import nmf_groups, pool
from mlgt.labels.graph import cooccurrence
from mlgt.labels.symnmf import symmetric_nmf
from mlgt.ranking import train_ranker, training_pairs
from mlgt.training.settings import auto_n_groups


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def steps(name):
    """Yield (what, peak MB) after each step; 16 groups per label, 100 candidates per row."""
    yield "importing", peak()
    data = load(name).train
    X, Y = scale_rows(data.X), data.Y
    n, d = Y.shape
    m = auto_n_groups(d, Y.nnz / n)
    yield f"reading {n} rows, {X.nnz / 1e6:.1f} M values", peak()
    rng = np.random.default_rng(0)
    H = symmetric_nmf(cooccurrence(Y), m, rng).H
    yield f"NMF, {d} x {m}", peak()
    A = nmf_groups(H, 16, rng)
    del H
    yield "drawing the groups", peak()
    classifiers = train(X, pool(Y, A), tol=1e-2, n_jobs=1)
    yield f"{m} classifiers, {X.shape[1]} x {m}", peak()
    decoder, index = decode_soft(A, label_counts(Y), prior=0.2), LabelIndex(A)

    def best(rows):
        return search(decoder.values(classifiers.margins(rows)), index, decoder, 100)[0]

    named = np.concatenate(map_blocks(best, X))
    yield f"100 candidates of {n} rows", peak()
    ranker = train_ranker(X, training_pairs(named, Y), n_jobs=1)
    yield f"{d} rankers, {ranker.weights.nnz / 1e6:.1f} M weights", peak()


def main(name):
    """In a process of its own, so that one data set does not stand on another's peak."""
    code = f"import memory; print(*memory.steps({name!r}), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines, before = [], 0.0
    for line in done.stdout.splitlines():
        what, high = ast.literal_eval(line)
        lines.append([what, f"{high:.0f}", f"{high - before:.0f}"])
        before = high
    return f"### {name}\n\n{table(['step', 'peak, MB', 'raised by'], lines)}\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["EURLex-4K", "YSO-Finna-en"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = f"{machine()}.\n\n" + "\n".join(main(name) for name in options.data)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
