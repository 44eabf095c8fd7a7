"""Routing (ours): a block is itself a group, and is tested first.

To ask every group of every block is what makes many blocks slow. A classifier per block tells how likely a
row has one of its labels, and only the R blocks that look best are asked:

    margins of block i   for the rows it is chosen for,       AWAY, a clear no, for all others.        (1)

Separators are one more block (`separators_apart`): in every block, their labels would be judged by blocks
that are not asked. Group testing calls this adaptive: the second stage depends on the first. R is the least
that leaves at most a given share of the labels of held-out rows without a chosen block (`enough_routes`).
The paper asks all blocks.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

AWAY = np.float32(-2.0)


@dataclass(frozen=True)
class Router:
    classifiers: Any
    """`margins(X)` -> (n, blocks)."""
    n_routes: int
    lost: float = 0.0
    """Share of the labels of held-out rows that are in no chosen block."""

    def choose(self, X):
        """(n, blocks) bool: the `n_routes` blocks of each row to ask; the first of equals."""
        ranks = ranked(self.classifiers.margins(X))
        return ranks < self.n_routes


def ranked(margins):
    """(n, blocks): the place of each block among those of its row, from 0."""
    order = np.argsort(-margins, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(margins.shape[1])[None], axis=1)
    return ranks


def block_targets(Y, partition):
    """(n, blocks) CSR of 0 and 1: has the row a label of the block itself? Separators are in all below."""
    labels = partition.permutation[: partition.offsets[partition.n_blocks]]
    ones = np.ones(len(labels), np.float32)
    shape = partition.n_labels, partition.n_blocks
    member = sp.csr_array((ones, (labels, partition.node_of[labels])), shape=shape)
    Z = sp.csr_array(Y @ member)
    Z.data[:] = 1
    return Z


def enough_routes(ranks, Y, labels, loss):
    """(R, share left out): the least R that leaves at most a share `loss` of the labels of Y (n, d) outside
    the first R blocks of their row by `ranks` (n, blocks); `labels` are those of each block."""
    n_blocks, d = ranks.shape[1], Y.shape[1]
    blocks = np.repeat(np.arange(n_blocks), [len(own) for own in labels])
    where = np.ones(len(blocks), bool), (np.concatenate(labels), blocks)
    member = sp.csr_array(where, shape=(d, n_blocks))
    rows, found = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)), Y.indices
    counts = np.diff(member.indptr)[found]
    pairs = np.repeat(member.indptr[found] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    pairs += np.arange(counts.sum())
    each = ranks[np.repeat(rows, counts), member.indices[pairs]]
    first = np.minimum.reduceat(each, np.concatenate([[0], np.cumsum(counts)[:-1]]))
    inside = np.cumsum(np.bincount(first, minlength=n_blocks)) / len(found)
    routes = int(np.count_nonzero(inside < 1 - loss - 1e-12)) + 1
    return routes, float(1 - inside[routes - 1])
