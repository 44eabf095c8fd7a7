"""Nested dissection: split the label graph, then its parts, until the blocks are many or small enough.

A node that is to become k blocks is split by `separate` into `branching` parts with about k / branching
blocks each. Two parts at a time are best for strict separators: a block then holds only the separators on
its way to the root, not all of them (EURLex-4K, 8 blocks: 1,438 labels in the largest instead of 1,620).

A budget is the share of labels that separators may hold. A node may use its allowance divided by the number
of levels still below it; the rest is divided among its parts by size.
"""

import numbers
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._core.errors import MLGTError, NoSeparatorError
from ..._core.progress import Progress
from ..graph import adjacency
from .separator import separate
from .tree import Partition

PARTITIONERS = {"metis": "by the package pymetis; the default", "propagation": "built in"}
"""Names and descriptions of the partitioners. Their modules are imported when they are used."""


class _Part(NamedTuple):
    """A part of the graph that is still to be split."""

    A: sp.csr_array
    labels: np.ndarray
    above: int  # number of its parent among the separators, -1 at the root
    path: int  # number of labels in the separators above
    blocks: int | None  # number of blocks it is to become
    allowance: int | None  # number of its labels that separators may hold


def partition_labels(
    G: sp.csr_array,
    rng: np.random.Generator,
    *,
    n_blocks: int | None = None,
    max_block_labels: int | None = None,
    budget: float | None = None,
    partitioner: str = "metis",
    branching: int = 2,
    progress: Progress | None = None,
) -> Partition:
    """Partition the labels of the co-occurrence graph G (d, d) into blocks and separators.

    Pass the number of blocks, or the largest number of labels to train together, |S + C_i|. With no budget
    no two labels that occur together are parted; with a budget of 0.05 separators hold at most 5 % of the
    labels, and the partition reports how much co-occurrence is lost. `partitioner` is a key of
    PARTITIONERS. progress(done, total) counts labels.

    Raises `NoSeparatorError` if the graph cannot be split so.
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
    while waiting:  # last in, first out, so that leaves come in the order of the tree
        part = waiting.pop()
        n, k = len(part.labels), _n_blocks(part, max_block_labels)
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
                    waiting.append(_subpart(part, own, len(separators) - 1, len(taken), blocks[i]))
        if progress is not None:
            progress(done, d)
    share = 2 * lost / int(A.data.sum())
    partition = _assemble(leaves, separators, lost=share, partitioner=partitioner, budget=budget)
    _check_result(partition, n_blocks, max_block_labels)
    return partition


def _subpart(part, own, above, taken, blocks):
    """Return the part that consists of the vertices `own` of a part that was split."""
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


def _n_blocks(part, max_block_labels):
    """Return the number of blocks a part is to become: as planned, or as its size requires."""
    if part.blocks is not None:
        return part.blocks
    room = max_block_labels - part.path
    return -(-len(part.labels) // room) if room > 0 else 1


def _levels(k, branching):
    """Return the number of levels of splits that lead to k blocks."""
    levels, reached = 1, branching
    while reached < k:
        levels, reached = levels + 1, reached * branching
    return levels


def _assemble(leaves, separators, **facts):
    """Return the partition of (labels, parent) pairs, parents first; its nodes are the deepest first."""
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
        raise MLGTError("pass either n_blocks or max_block_labels: one follows from the other.")
    _check_whole("n_blocks", n_blocks, 2)
    _check_whole("max_block_labels", max_block_labels, 1)
    check_split(branching, budget)
    if n_blocks is not None and n_blocks > d:
        raise MLGTError(f"n_blocks={n_blocks} exceeds the {d} labels. Pass n_blocks<={d}.")


def check_split(branching: Any, budget: Any) -> None:
    """Raise unless these are valid values of `partition_labels`."""
    _check_whole("branching", branching, 2)
    if budget is not None and not (isinstance(budget, int | float | np.floating) and 0 <= budget < 1):
        raise MLGTError(
            f"budget={budget!r} must be a share of the labels, at least 0 and below 1 (0.05 for 5 %), or "
            "None for strict separators."
        )


def _check_whole(name, value, at_least):
    if value is not None and (not isinstance(value, numbers.Integral) or value < at_least):
        raise MLGTError(f"{name}={value!r} must be a whole number of at least {at_least}.")


def _check_result(partition, n_blocks, max_block_labels):
    """Raise unless the partition has the requested blocks."""
    largest, reached = int(partition.sizes.max()), partition.n_blocks
    kept = partition if reached > 1 else None
    advice = "Train without blocks, or let separators be incomplete: budget=0.05."
    if kept is None and (n_blocks is not None or largest > max_block_labels):
        raise NoSeparatorError(
            f"the label graph has no separator: nearly all of its {partition.n_labels} labels occur "
            f"together with each other. {advice}"
        )
    if n_blocks is not None and reached < n_blocks:
        raise NoSeparatorError(
            f"separators split the labels into {reached} blocks, not into n_blocks={n_blocks}: the "
            f"labels left in a block all occur together. Pass n_blocks<={reached}. Or: {advice}",
            kept,
        )
    if max_block_labels is not None and largest > max_block_labels:
        raise NoSeparatorError(
            f"the largest block has {largest} labels with its separators, not max_block_labels="
            f"{max_block_labels}: the separators leave no room. Pass a larger value. Or: {advice}",
            kept,
        )
