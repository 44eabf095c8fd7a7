"""The estimated cost of training, reported before it starts: memory, and time on a machine like ours.

With n rows of w of p features, k of d labels per row, and K candidates per row; a block has m groups for
the d_i of its labels that occur, and n_i rows (a flat model is one block of all rows); one thread:

    bytes     the larger of the NMF, 16 m (d_i + m), and the centroids, 16 n k w (two sparse copies of at
              most n k w entries); arrays by label, 64 d; weights being trained, 4 p m, and those kept; the
              tiles of the solver; rows with candidates, 17 n K (this and centroids are in files if X is)
    seconds   factors of the NMF, d_i m;  classifiers, n_i m and n_i w m;  candidates, n d up to
              MAX_SCANNED_LABELS;  rankers, n and n K w; each times a constant (SECONDS) fitted to runs of
              `research/micro/default.py` and `few_labels.py`

Factors and weights being trained are of as many blocks as there are threads. The time is right to within a
factor of about two on other data and machines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from .._core.memory import available_memory, check_memory, is_mapped, room_on_disk
from .._core.sparse import count_occurring, label_counts
from ..classifiers.solver import TILE
from ..tasks import expect

SECONDS = {
    "factors": 3.3e-7, "groups": 6e-8, "weights": 1e-9, "labels": 2.5e-9, "rows": 3e-5, "pairs": 2e-8,
}  # fmt: skip
MAX_SCANNED_LABELS = 100_000
"""Labels above which a row reads only some of them."""
ONE_VS_ALL_SWEEPS = 1.25
"""Sweeps of one-vs-all, whose tolerance is smaller, as a multiple of those of groups with a ranker."""
SPILL_SHARE = 8
"""The part of the free memory, as 1 / SPILL_SHARE, above which the weights of blocks go to disk."""


class BlockSize(NamedTuple):
    labels: int
    """Labels that occur."""
    groups: int
    rows: float


@dataclass(frozen=True)
class Workload:
    n: int
    w: float
    p: int
    k: float
    d: int
    n_candidates: int = 0
    """K; 0 without a ranker."""
    threads: int = 1
    factored: bool = True
    """True if the groups come from an NMF."""
    on_disk: bool = False
    """True if X is in a file."""

    def bytes(self, blocks: Sequence[BlockSize], kept: float = 0.0) -> float:
        """Peak memory beside X and Y; `kept` are the weights of blocks that stay in memory."""
        factors = [16.0 * b.groups * (b.labels + b.groups) if self.factored else 0.0 for b in blocks]
        weights = [4.0 * self.p * b.groups for b in blocks]
        in_memory = self.n_candidates if not self.on_disk else 0
        centroids = 16.0 * self.n * self.k * self.w if in_memory else 0.0
        tiles = self.threads * TILE * (5.0 * self.n + 4.0 * self.p)
        most_factors, most_weights = (sum(sorted(sizes)[-self.threads :]) for sizes in (factors, weights))
        by_label, pairs = 64.0 * self.d, 17.0 * self.n * in_memory
        return max(most_factors, centroids) + by_label + most_weights + kept + tiles + pairs

    def seconds(self, blocks: Sequence[BlockSize]) -> float:
        """Time with all threads at work."""
        pairs = float(self.n) * self.n_candidates * self.w
        rows = float(self.n) if self.n_candidates else 0.0
        work = {"labels": rows * min(self.d, MAX_SCANNED_LABELS), "rows": rows, "pairs": pairs}
        work["factors"] = sum(float(b.labels) * b.groups for b in blocks) if self.factored else 0.0
        work["groups"] = sum(float(b.rows) * b.groups for b in blocks)
        work["weights"] = self.w * work["groups"]
        return sum(SECONDS[name] * amount for name, amount in work.items()) / self.threads


def pooled_work(Y: sp.csr_array, m: int, w: float, n_candidates: int) -> float:
    """The work of m groups and rankers as a multiple of that of one classifier per label, for rows of w
    features with labels Y (n, d)."""
    n, d = Y.shape
    alone = Workload(n, w, 0, 0.0, d, factored=False)
    pooled = replace(alone, n_candidates=n_candidates, factored=True)
    work = ONE_VS_ALL_SWEEPS * alone.seconds([BlockSize(d, d, n)])
    return pooled.seconds([BlockSize(d, m, n)]) / work


def check_cost(settings: Any, X: sp.csr_array, Y: sp.csr_array) -> str:
    """Raise if training with these `Settings` does not fit in memory; returns its cost in words."""
    (n, p), d, blocks = X.shape, Y.shape[1], settings.blocks
    width = p if blocks is None or blocks.sketch is None else blocks.sketch
    ranked = settings.ranker is not None
    work = Workload(
        n, X.nnz / n, width, Y.nnz / n, d, settings.n_candidates if ranked else 0,
        effective_n_jobs(settings.n_jobs), settings.construction == "nmf", is_mapped(X.data),
    )  # fmt: skip
    if blocks is None:
        occur = count_occurring(Y)
        sizes, kept = [BlockSize(occur, settings.n_groups, n)], 0.0
        what = f"Training {settings.n_groups} groups of {d} labels ({occur} occur) on {p} features"
        advice = (
            "Drop columns that never occur, hash the features to fewer columns, or pass a smaller n_groups."
        )
    else:
        sizes = _block_sizes(blocks, Y)
        kept = 0.0 if spills(settings, width) else kept_bytes(settings, width)
        what = f"Training {settings.n_groups} groups in {len(sizes)} blocks on {width} features"
        advice = "Pass a smaller n_groups, or hash the features to fewer columns: sketch=10_000."
    needed = work.bytes(sizes, kept)
    check_memory(needed, what, advice)
    alone = replace(work, threads=1, n_candidates=0)  # what a task needs, beside mapped data
    expect(seconds := work.seconds(sizes), max(alone.bytes([size]) for size in sizes))
    return format_cost(needed, seconds)


def _block_sizes(blocks, Y):
    n, counts, sizes = Y.shape[0], label_counts(Y), []
    for i, m in enumerate(blocks.n_groups):
        labels = blocks.partition.labels(i)
        own = min(n, counts[labels].sum())
        rows = own + blocks.negatives * (n - own)
        sizes.append(BlockSize(int(np.count_nonzero(counts[labels])), m, rows))
    return sizes


def kept_bytes(settings: Any, width: int) -> float:
    """Size of the weights of all blocks."""
    return float(width) * settings.n_groups * (4 if settings.bits == 32 else 1)


def spills(settings: Any, width: int) -> bool:
    """True if the weights of blocks are to be written to disk as soon as they are trained."""
    free = available_memory()
    if settings.classifier is not None or free is None:
        return False
    return free / SPILL_SHARE < kept_bytes(settings, width) < room_on_disk()


def format_cost(needed: float, seconds: float) -> str:
    """The cost in words."""
    if seconds < 90:
        time = f"{max(1, round(seconds))} s"
    elif seconds < 5400:
        time = f"{seconds / 60:.0f} min"
    else:
        time = f"{seconds / 3600:.1f} h"
    return f"about {needed / 1e9:.1f} GB of memory beside the data, and some {time} of time"
