"""Rows of a file that is larger than the memory: microseconds per row by order, sweeps by order, and what
rankers lose that learn from fewer rows.

    python research/micro/ahead.py rows --group /sys/fs/cgroup/NAME    # with a limit of 300 MB
    python research/micro/ahead.py sweeps FILE                         # a training file such as EURLex-4K's
    python research/micro/ahead.py limit FILE

`rows` reads a mapped matrix of 150,000 rows of 400 numbers, 480 MB with their columns. `sweeps` solves 64
random groups to a relative duality gap of 0.1 and 0.01, with rows in any order, and in mixed blocks whose
shares of the data are those of 2^27 entries and more; rows as they are, and sorted by their first label.
`limit` trains on four fifths of the rows, without and with the limit of entries per label, as shares of
the data that are those of 2^27 and 2^28 entries, and measures on the others.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import mlgt
from common import machine, table
from mlgt._core.memory import empty_on_disk
from mlgt._core.rows import scale_rows
from mlgt.classifiers import solver
from mlgt.data import read_xmc
from mlgt.metrics import ndcg_at, precision_at
from mlgt.ranking import pairs
from mlgt.tasks import ahead


def rows(group):
    """Wall and CPU time per row, by order."""
    Path(group, "cgroup.procs").write_text(str(os.getpid()))
    n, w, rng, found = 150_000, 400, np.random.default_rng(0), []
    arrays = [empty_on_disk((n * w,), dtype) for dtype in (np.float32, np.int32)]
    for array in arrays:
        for first in range(0, n * w, 1 << 20):
            array[first : first + (1 << 20)] = 1
    X = sp.csr_array((*arrays, np.arange(0, n * w + 1, w, dtype=np.int32)), shape=(n, w))

    def visit(name, pieces):
        cpu, wall, count = time.process_time(), time.perf_counter(), 0
        for piece, own in pieces:
            some = own[piece]
            count += len(piece) + 0 * int(some.indices[-1])
        spent = time.perf_counter() - wall, time.process_time() - cpu
        found.append([name, *(f"{seconds / count * 1e6:.1f}" for seconds in spent)])

    order = rng.permutation(n)
    visit("mapped, in the order of the file", ((rows, X) for rows in np.split(np.arange(n), 100)))
    visit("mapped, random", ((rows, X) for rows in np.split(order[:1500], 10)))
    visit("read, random", ahead.read_ahead(X, np.array_split(order[:30_000], 6)))
    solver.LARGE_ENTRIES = 0
    visit("read, mixed blocks", solver._visits(X, np.arange(n), rng))
    return table(["", "us per row", "CPU us per row"], found)


def sweeps(file):
    """Sweeps and duality gap by order."""
    data, rng, found = read_xmc(file), np.random.default_rng(0), []
    X, Y = scale_rows(data.X, 1.0, True), data.Y
    A = sp.csr_array((rng.random((Y.shape[1], solver.TILE)) < 0.01).astype(np.float32))
    Z, first = sp.csr_array(Y @ A), np.append(Y.indices, -1)[Y.indptr[:-1]]
    share = X.nnz / solver.LARGE_ENTRIES
    names = ("BLOCK_ENTRIES", "MIXED_ENTRIES")
    mixed = {name: max(1, int(getattr(solver, name) * share)) for name in names}
    orders = {"as they are": np.arange(len(first)), "by label": np.argsort(first, kind="stable")}
    for rows_are, order in orders.items():
        own = sp.csr_array(X[order]), sp.csr_array(Z[order])
        before = [solver.solve(*own, tol=tol) for tol in (0.1, 0.01)]
        settings = vars(solver).copy()
        vars(solver).update(mixed, LARGE_ENTRIES=0)
        after = [solver.solve(*own, tol=tol) for tol in (0.1, 0.01)]
        vars(solver).update(settings)
        for name, solutions in (("any order", before), ("mixed blocks", after)):
            figures = [f"{one.n_iter.max()} ({one.gap.max():.3f})" for one in solutions]
            found.append([rows_are, name, *figures])
    return table(["rows", "order", "sweeps (gap) to 0.1", "to 0.01"], found)


def limit(file):
    """Precision and nDCG@5 on held-out rows."""
    data, found = read_xmc(file), []
    order = np.random.default_rng(0).permutation(data.X.shape[0])
    tested, trained = np.sort(order[: len(order) // 5]), np.sort(order[len(order) // 5 :])
    X, Y = data.X[trained], data.Y[trained]
    most, large = pairs.MAX_LABEL_ENTRIES, pairs.LARGE_ENTRIES
    for share in (None, most / large, most / large / 2):
        pairs.LARGE_ENTRIES = X.nnz + 1 if share is None else 0
        pairs.MAX_LABEL_ENTRIES = int(X.nnz * (share or 1))
        model = mlgt.MLGTClassifier(random_state=0, n_jobs=1).fit(X, Y)
        top, _ = model.predict_topk(data.X[tested], 5)
        figures = [precision_at(data.Y[tested], top, k) for k in (1, 3, 5)]
        figures.append(ndcg_at(data.Y[tested], top, 5))
        rows = "all" if share is None else f"{pairs.MAX_LABEL_ENTRIES * X.shape[0] / X.nnz:.0f}"
        found.append([rows, *(f"{figure:.3f}" for figure in figures)])
    return table(["most rows of a label", "P@1", "P@3", "P@5", "nDCG@5"], found)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("rows", "sweeps", "limit"))
    parser.add_argument("file", nargs="?")
    parser.add_argument("--group", help="of `rows`: a control group, for its limit of memory")
    given = parser.parse_args()
    found = rows(given.group) if given.what == "rows" else globals()[given.what](given.file)
    print(f"{given.what}: {machine()}\n\n{found}\n")


if __name__ == "__main__":
    main()
