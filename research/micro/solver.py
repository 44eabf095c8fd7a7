"""The solver beside a loop of scikit-learn's LinearSVC: EURLex-4K, 350 NMF groups, equal objective.

    MLGT_DATA=... python research/micro/solver.py [--groups 350] [--sample 35] [--out FILE]

CPU seconds are of one thread. LinearSVC runs at its default tolerance on every (groups / sample)-th
group and is scaled up; both its default (for more rows than features, the primal trust-region Newton
method) and dual=True (dual coordinate descent, as here) are shown. Ours stops at a relative duality
gap of 1e-3. GFlop/s counts 4 flops per non-zero of X, group and sweep (2 for the margin, 2 for the
update); the peak is that of a dense float32 matrix product per CPU second.
"""

import argparse
import resource
import time
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from common import machine, table
from mlgt.classifiers import solve
from mlgt.classifiers.solver import TILE
from mlgt.data.datasets import load
from mlgt.groups import nmf_groups, pool
from mlgt.labels.graph import cooccurrence
from mlgt.labels.symnmf import symmetric_nmf


def cpu(function):
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def objective(X, z, w, b):
    margin = np.where(z, 1.0, -1.0) * (X @ w + b)
    return (w @ w + b * b) / 2 + (np.maximum(0, 1 - margin) ** 2).sum()


def peak_gflops(size=2048):
    """Rate of a dense float32 product per CPU second, as near the machine's peak as library code comes."""
    A = np.ones((size, size), np.float32)
    seconds = min(cpu(lambda: A @ A)[0] for _ in range(5))
    return 2 * size**3 / seconds / 1e9


def main(groups, sample):
    train, _ = load("EURLex-4K")
    X = sp.csr_array(normalize(train.X))
    rng = np.random.default_rng(0)
    H = symmetric_nmf(cooccurrence(train.Y), groups, rng).H
    Z = pool(train.Y, nmf_groups(H, 16, rng))
    solve(X[:100], Z[:100], tol=1.0)  # compile
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours, found = min((cpu(lambda: solve(X, Z, n_jobs=1)) for _ in range(3)), key=lambda r: r[0])
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident) / 1024
    lanes = -(-groups // TILE) * TILE
    flops = 4 * X.nnz * lanes * found.n_iter.mean()
    gflops, peak = flops / ours / 1e9, peak_gflops()

    X64 = sp.csr_matrix(X, dtype=np.float64)
    columns = np.linspace(0, groups - 1, sample).astype(int)
    lines = [["mlgt.classifiers.solve", f"{ours:.2f}", "1", f"{found.gap.max():.1e} (certified)"]]
    for label, svc in (
        ("LinearSVC()", LinearSVC()),
        ("LinearSVC(dual=True)", LinearSVC(dual=True, max_iter=10_000)),
    ):
        seconds, worst = 0.0, -np.inf
        for j in columns:
            z = Z[:, [j]].toarray().ravel() > 0
            spent, _ = cpu(partial(svc.fit, X64, z))
            seconds += spent
            theirs = objective(X64, z, svc.coef_[0], svc.intercept_[0])
            worst = max(worst, found.objective[j] / theirs - 1)
        total = seconds * groups / sample
        lines.append(
            [label, f"{total:.1f}", f"{total / ours:.1f}", f"ours above it by at most {worst:.1e}"]
        )
    header = ["solver", "CPU s", "ratio to ours", "objective"]
    return (
        f"EURLex-4K, {groups} NMF groups, squared hinge, C = 1. {machine()}.\n\n{table(header, lines)}\n\n"
        f"{gflops:.1f} GFlop/s on one core, {100 * gflops / peak:.0f} % of a measured peak of {peak:.0f}; "
        f"{found.n_iter.mean():.0f} sweeps. Peak memory grew by {added:.0f} MB; the weights of {groups} "
        f"groups take {4e-6 * X.shape[1] * groups:.0f} MB, a tile {5e-6 * X.shape[0] * TILE:.0f} MB.\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=350)
    parser.add_argument("--sample", type=int, default=35)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.groups, options.sample)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
