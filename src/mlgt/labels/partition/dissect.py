"""Nested dissection: split the label graph, then its parts, until the blocks are many or small enough.

A node with k blocks to come is split by `separate` into `branching` parts with about k / branching
blocks each. Two parts at a time is best for strict separators: a block then holds only the separators on
its way to the root, not all of them (EURLex-4K, 8 blocks: 1,438 labels in the largest instead of 1,620).

A budget is the share of labels that separators may hold. A node may spend what it was given divided by
the levels still below it; the rest goes to its parts, by size.
"""

import numbers
from importlib import import_module
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._core.errors import MLGTError, NoSeparatorError
from .. import PARTITIONERS
from ..graph import adjacency
from .separator import separate
from .tree import Partition


class _Part(NamedTuple):
    """A part of the graph that waits to be split."""

    A: sp.csr_array
    labels: np.ndarray
    above: int  # number of its parent among the separators, -1 at the root
    path: int  # labels in the separators above
    blocks: int | None  # blocks to come out of it
    allowance: int | None  # labels that separators may take from it


def partition_labels(
    G,
    rng,
    *,
    n_blocks=None,
    max_block_labels=None,
    budget=None,
    partitioner="metis",
    branching=2,
    progress=None,
):
    """Partition the labels of the co-occurrence graph G (d, d) into blocks and separators.

    Give the number of blocks, or the most labels that may be trained together, |S + C_i|. With
    budget=None no two labels that occur together are parted; a budget of 0.05 lets separators hold at
    most 5 % of the labels, and the partition says how much co-occurrence that loses. The same `rng` state
    gives the same partition; another partitioner gives another one. progress(done, total) counts labels.

    Raises `NoSeparatorError` where the graph cannot be split so.
    """
    if partitioner not in PARTITIONERS:
        raise MLGTError(f"partitioner={partitioner!r} is unknown; choose one of {', '.join(PARTITIONERS)}.")
    partition_edges = import_module(f".{partitioner}", __package__).partition_edges
    A = adjacency(G)
    d = A.shape[0]
    _check_sizes(d, n_blocks, max_block_labels, branching, budget)
    if A.nnz == 0:
        raise NoSeparatorError(
            f"no two of the {d} labels occur together: the label graph has no edges, and any partition of "
            "it would be arbitrary. Train without blocks."
        )
    allowance = None if budget is None else int(budget * d)
    waiting = [_Part(A, np.arange(d), -1, 0, n_blocks, allowance)]
    leaves, separators, lost, done = [], [], 0, 0
    while waiting:  # the last one first: leaves come in the order of the tree
        part = waiting.pop()
        n, k = len(part.labels), _blocks_to_come(part, max_block_labels)
        split = None
        if k > 1:
            blocks = [len(share) for share in np.array_split(np.arange(k), min(branching, k))]
            limit = None if part.allowance is None else part.allowance // _levels(k, branching)
            split = separate(part.A, blocks, limit, partition_edges, rng)
        if split is None:
            leaves.append((part.labels, part.above))
            done += n
        else:
            taken = np.flatnonzero(split.part < 0)
            separators.append((part.labels[taken], part.above))
            lost += split.lost
            done += len(taken)
            for i in reversed(range(len(blocks))):
                own = np.flatnonzero(split.part == i)
                if len(own):
                    waiting.append(_below(part, own, len(separators) - 1, len(taken), blocks[i]))
        if progress is not None:
            progress(done, d)
    share = 2 * lost / int(A.data.sum())
    partition = _assemble(leaves, separators, lost=share, partitioner=partitioner, budget=budget)
    _check_result(partition, n_blocks, max_block_labels)
    return partition


def _below(part, own, above, taken, blocks):
    """The part of a split part that holds its vertices `own`."""
    allowance = part.allowance
    if allowance is not None:
        allowance = (allowance - taken) * len(own) // (len(part.labels) - taken)
    return _Part(
        part.A[own][:, own],
        part.labels[own],
        above,
        part.path + taken,
        None if part.blocks is None else min(blocks, len(own)),
        allowance,
    )


def _blocks_to_come(part, max_block_labels):
    """How many blocks a part has to yield: as planned, or as many as its size asks for."""
    if part.blocks is not None:
        return part.blocks
    room = max_block_labels - part.path
    return -(-len(part.labels) // room) if room > 0 else 1


def _levels(k, branching):
    """Levels of splits that lead to k blocks."""
    levels, reached = 1, branching
    while reached < k:
        levels, reached = levels + 1, reached * branching
    return levels


def _assemble(leaves, separators, **facts):
    """The partition of (labels, parent) pairs, parents before children; here the deepest come first."""
    depth: dict[int, int] = {-1: -1}
    for s, (_, above) in enumerate(separators):
        depth[s] = depth[above] + 1
    order = sorted(range(len(separators)), key=lambda s: -depth[s])
    node_of = {s: len(leaves) + place for place, s in enumerate(order)} | {-1: -1}
    nodes = leaves + [separators[s] for s in order]
    return Partition(
        np.concatenate([labels for labels, _ in nodes]),
        np.concatenate([[0], np.cumsum([len(labels) for labels, _ in nodes])]),
        np.array([node_of[above] for _, above in nodes]),
        **facts,
    )


def _check_sizes(d, n_blocks, max_block_labels, branching, budget):
    if (n_blocks is None) == (max_block_labels is None):
        raise MLGTError("give either n_blocks or max_block_labels: the one follows from the other.")
    _check_whole("n_blocks", n_blocks, 2)
    _check_whole("max_block_labels", max_block_labels, 1)
    check_split(branching, budget)
    if n_blocks is not None and n_blocks > d:
        raise MLGTError(f"n_blocks={n_blocks} exceeds the {d} labels. Pass n_blocks<={d}.")


def check_split(branching, budget):
    """Raise unless a graph can be split into so many parts at a time, with such a budget for separators."""
    _check_whole("branching", branching, 2)
    if budget is not None and not (isinstance(budget, int | float | np.floating) and 0 <= budget < 1):
        raise MLGTError(
            f"budget={budget!r} must be a share of the labels, at least 0 and below 1 (0.05 for 5 %), or "
            "None for strict separators."
        )


def _check_whole(name, value, least):
    if value is not None and (not isinstance(value, numbers.Integral) or value < least):
        raise MLGTError(f"{name}={value!r} must be a whole number of at least {least}.")


def _check_result(partition, n_blocks, max_block_labels):
    """Raise unless the partition is what was asked for."""
    largest, reached = int(partition.sizes.max()), partition.n_blocks
    kept = partition if reached > 1 else None
    mend = "Train without blocks, or let separators be incomplete: budget=0.05."
    if kept is None and (n_blocks is not None or largest > max_block_labels):
        raise NoSeparatorError(
            f"the label graph has no separator: nearly all of its {partition.n_labels} labels occur "
            f"together with each other. {mend}"
        )
    if n_blocks is not None and reached < n_blocks:
        raise NoSeparatorError(
            f"separators split the labels into {reached} blocks, not into n_blocks={n_blocks}: what is "
            f"left in a block all occurs together. Pass n_blocks<={reached}. Or: {mend}",
            kept,
        )
    if max_block_labels is not None and largest > max_block_labels:
        raise NoSeparatorError(
            f"the largest block has {largest} labels with its separators, not max_block_labels="
            f"{max_block_labels}: the separators leave no room. Pass a larger max_block_labels. Or: {mend}",
            kept,
        )
