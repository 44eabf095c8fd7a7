"""Symmetric NMF beside a plain coordinate descent, and how many sweeps the groups need.

    MLGT_DATA=... python research/micro/nmf.py [--data YSO-Finna-en] [--groups 400] [--large] [--out FILE]

The plain descent (Vandaele et al. 2016, algorithm 4) is compiled too and takes the same exact steps, but
starts dense and computes every gradient entry by a product with a column of H'H: d m^2 a sweep. Both run
on one thread; CPU seconds to reach the objective that the plain one has after 6 sweeps, median of the
repeats. Then recall of the true labels among 100 candidates against sweeps, on a tenth of the training
rows held out; and a large graph (d = 40,000, m = 800) for time and memory.
"""

import argparse
import resource
import statistics
import time
from functools import partial
from pathlib import Path

import numba
import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from common import machine, table
from mlgt._core.sparse import label_counts
from mlgt.classifiers.train import train
from mlgt.data.datasets import load
from mlgt.decoding import decode_soft, search
from mlgt.decoding.index import LabelIndex
from mlgt.groups import nmf_groups, pool
from mlgt.labels._nmf_kernels import quartic_argmin, sweep
from mlgt.labels.graph import cooccurrence
from mlgt.labels.symnmf import objective, random_start, sweep_space, symmetric_nmf
from mlgt.metrics import precision_at, recall_at


@numba.njit
def plain_sweep(indptr, indices, data, V, C):
    """Every entry of V in turn, as the algorithm is written."""
    d, m = V.shape
    g = np.empty(m)
    change = 0.0
    for i in range(d):
        h = V[i]
        g[:] = 0.0
        diagonal = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] == i:
                diagonal = data[e]
            else:
                for j in range(m):
                    g[j] += data[e] * V[indices[e], j]
        for j in range(m):
            for k in range(m):
                C[j, k] -= h[j] * h[k]
        for j in range(m):
            product = 0.0
            norm = 0.0
            for k in range(m):
                product += C[j, k] * h[k]
                norm += h[k] * h[k]
            a = C[j, j] + norm - h[j] * h[j] - diagonal
            b = product - C[j, j] * h[j] - g[j]
            new, value = quartic_argmin(a, b)
            old = h[j]
            at_old = old * (b + old * (0.5 * a + 0.25 * old * old))
            if value < at_old:
                h[j] = new
                change += 4.0 * (value - at_old)
        for j in range(m):
            for k in range(m):
                C[j, k] += h[j] * h[k]
    return change


def our_sweep(indptr, indices, data, V, C):
    return sweep(indptr, indices, data, V, C, *sweep_space(*V.shape))


def sparse_start(G, m, rng):
    """`random_start` as a dense matrix."""
    return random_start(G, m, rng).toarray()


def dense_start(G, m, rng):
    V = rng.random((G.shape[0], m))
    V[np.diff(G.indptr) == 0] = 0.0
    return V * np.sqrt(((G @ V) * V).sum() / ((V.T @ V) ** 2).sum())


def cpu(function):
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def descend(G, sweep, start, target=None, sweeps=1000):
    """Sweep from start() until the objective is at `target`, or `sweeps` times; (objective, sweeps)."""
    V = start()
    C = V.T @ V
    reached = objective(G, V)
    done = 0
    while done < sweeps and (target is None or reached > target):
        done += 1
        reached += sweep(G.indptr, G.indices, G.data, V, C)
    return reached, done


def compare(G, m, repeats=3, sweeps=6):
    """CPU seconds of both to the same objective: (plain, ours) pairs, and our sweeps."""
    small = cooccurrence(np.eye(5) + np.eye(5)[::-1])
    for function in (plain_sweep, our_sweep):  # compile
        descend(small, function, lambda: np.ones((5, 2)), sweeps=1)
    pairs, needed = [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        begin_plain, begin = partial(dense_start, G, m, rng), partial(sparse_start, G, m, rng)
        plain, (target, _) = cpu(partial(descend, G, plain_sweep, begin_plain, sweeps=sweeps))
        ours, (_, done) = cpu(partial(descend, G, our_sweep, begin, target))
        pairs.append((plain, ours))
        needed.append(done)
    return pairs, statistics.fmean(needed)


def sweeps_and_recall(name, m, c=16, seed=0):
    """Recall@100 and P@1 on held-out training rows after 1, 2, ... sweeps."""
    data = load(name).train
    rng = np.random.default_rng(seed)
    rows = rng.permutation(data.X.shape[0])
    held, kept = np.sort(rows[: len(rows) // 10]), np.sort(rows[len(rows) // 10 :])
    X = sp.csr_array(normalize(data.X))
    Y, truth = data.Y[kept], data.Y[held]
    G, counts = cooccurrence(Y), label_counts(Y)
    lines, found, done = [], None, 0
    for sweeps in (1, 2, 3, 5, 10, 20, 40):
        found = symmetric_nmf(
            G, m, rng, max_sweeps=sweeps - done, tol=0, start=None if found is None else found.H.T
        )
        done = sweeps
        A = nmf_groups(found.H, c, np.random.default_rng(seed))
        classifiers = train(X[kept], pool(Y, A), tol=1e-2, n_jobs=-1)
        decoder, index = decode_soft(A, counts), LabelIndex(A)
        blocks = []
        for first in range(0, len(held), 256):
            margins = classifiers.margins(X[held[first : first + 256]])
            blocks.append(search(decoder.values(margins), index, decoder, 100)[0])
        labels = np.concatenate(blocks)
        lines.append(
            [
                sweeps,
                f"{found.objective:.4g}",
                f"{recall_at(truth, labels, 100):.4f}",
                f"{precision_at(truth, labels, 1):.4f}",
                f"{precision_at(truth, labels, 5):.4f}",
            ]
        )
    return table(["sweeps", "objective", "recall@100", "P@1", "P@5"], lines)


def large(d=40_000, m=800, sweeps=10, seed=0):
    """Time and memory on a graph of d labels from power-law label sets in topics."""
    rng = np.random.default_rng(seed)
    n, k = 100_000, 5
    topic = rng.integers(500, size=n)
    base = topic[:, None] * (d // 500)
    within = np.minimum((rng.pareto(1.1, size=(n, k)) * 4).astype(int), d // 500 - 1)
    labels = np.where(rng.random((n, k)) < 0.8, base + within, rng.integers(d, size=(n, k)))
    Y = sp.csr_array((np.ones(n * k), (np.repeat(np.arange(n), k), labels.ravel())), shape=(n, d))
    Y.data[:] = 1
    G = cooccurrence(Y > 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, _ = cpu(lambda: symmetric_nmf(G, m, rng, max_sweeps=sweeps, tol=0))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"Synthetic graph, d = {d}, {G.nnz} entries, m = {m}: {sweeps} sweeps in {seconds:.0f} CPU s; peak "
        f"memory of the process {peak / 2**20:.2f} GB, {(peak - before) / 2**20:.2f} GB of it here."
    )


def main(name, m, repeats, with_large):
    G = cooccurrence(load(name).train.Y)
    pairs, sweeps = compare(G, m, repeats)
    ratios = sorted(plain / ours for plain, ours in pairs)
    plain, ours = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    text = (
        f"{name}, d = {G.shape[0]}, m = {m}. {machine()}.\n\n"
        f"To the objective of 6 plain sweeps: ours is {statistics.median(ratios):.1f} times faster "
        f"({ratios[0]:.1f} to {ratios[-1]:.1f}; {plain:.1f} against {ours:.1f} CPU s, {sweeps:.1f} sweeps "
        "of ours), one thread each.\n"
    )
    if with_large:
        text += f"\n{large()}\n"
    for data, groups in (("EURLex-4K", 350), (name, m)):
        text += f"\n{data}, m = {groups}, c = 16, soft decoding, held-out training rows:\n\n"
        text += sweeps_and_recall(data, groups) + "\n"
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="YSO-Finna-en")
    parser.add_argument("--groups", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.data, options.groups, options.repeats, options.large)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
