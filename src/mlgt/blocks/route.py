"""Routing (ours): a block is itself a group, and is tested first.

Evaluating the groups of every block makes many blocks slow. A classifier per block estimates whether a row
has one of its labels, and only the R most likely blocks are evaluated:

    margins of block i   for the rows it is chosen for,    SKIPPED, a clear no, for all others.        (1)

Separators become one more block (`separators_apart`); inside every block, their labels would be scored by
blocks that are skipped. Group testing calls this adaptive: the second stage depends on the first. R is the
smallest number that leaves at most a given share of the labels of held-out rows without a chosen block
(`smallest_route`). The paper evaluates all blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays
from ..classifiers.train import LinearGroups
from ..labels.partition import Partition

SKIPPED = np.float32(-2.0)


@dataclass(frozen=True)
class Router:
    classifiers: Any
    """`margins(X)` -> (n, blocks)."""
    n_routes: int
    lost: float = 0.0
    """Share of the labels of held-out rows that are in no chosen block."""

    def choose(self, X: Any) -> np.ndarray:
        """(n, blocks) bool: the `n_routes` blocks to evaluate for each row; the first of equals."""
        ranks = block_ranks(self.classifiers.margins(X))
        return ranks < self.n_routes

    def to_arrays(self) -> dict[str, np.ndarray]:
        return self.classifiers.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Arrays, p: int, n_blocks: int, n_routes: int, lost: float) -> "Router":
        """Raise unless the arrays are a router of n_blocks blocks over p features."""
        classifiers = LinearGroups.from_arrays(arrays, p)
        if classifiers.n_groups != n_blocks or not 1 <= n_routes <= n_blocks:
            raise ValueError(f"the router is not one of {n_blocks} blocks")
        return cls(classifiers, int(n_routes), float(lost))


def block_ranks(margins: np.ndarray) -> np.ndarray:
    """(n, blocks): the rank of each block among those of its row, from 0."""
    order = np.argsort(-margins, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(margins.shape[1])[None], axis=1)
    return ranks


def block_targets(Y: sp.csr_array, partition: Partition) -> sp.csr_array:
    """(n, blocks) CSR of 0 and 1: whether the row has a label of the block itself, without separators."""
    labels = partition.permutation[: partition.offsets[partition.n_blocks]]
    ones = np.ones(len(labels), np.float32)
    shape = partition.n_labels, partition.n_blocks
    member = sp.csr_array((ones, (labels, partition.node_of[labels])), shape=shape)
    Z = sp.csr_array(Y @ member)
    Z.data[:] = 1
    return Z


def smallest_route(
    ranks: np.ndarray, Y: sp.csr_array, labels: Sequence[np.ndarray], loss: float
) -> tuple[int, float]:
    """(R, share lost): the smallest R that leaves at most a share `loss` of the labels of Y (n, d) outside
    the first R blocks of their row by `ranks` (n, blocks); `labels` are those of each block."""
    n_blocks, rows = ranks.shape[1], np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    first = np.full(Y.nnz, n_blocks)  # of each label of a row: the best rank of a block that holds it
    held = np.zeros(Y.shape[1], bool)
    for block, own in enumerate(labels):
        held[own] = True
        here = np.flatnonzero(held[Y.indices])
        first[here] = np.minimum(first[here], ranks[rows[here], block])
        held[own] = False
    inside = np.cumsum(np.bincount(first, minlength=n_blocks)) / Y.nnz
    routes = int(np.count_nonzero(inside < 1 - loss - 1e-12)) + 1
    return routes, float(1 - inside[routes - 1])
