"""A partition of the labels: a tree with blocks at its leaves and separators above them.

    root separator S, beneath it S_1, S_2, ..., at the leaves the blocks C_1, ..., C_l.

Every label is in exactly one node. A block is trained together with all separators on its way to the root
(section 4 of the paper: S + C_i). Two labels that are in no such set together are *parted*. A strict
partition parts no two labels that occur together.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._core.arrays import Arrays, Stored, array_names, check_kind, check_pointers, check_shapes
from ..._core.errors import MLGTError

MAX_DEPTH = 1000
"""Levels of a partition in a model folder: paths to the root stay short."""
_BLOCK_ROWS = 65536  # rows of the graph per step of `lost_share`


@dataclass(frozen=True, eq=False)
class Partition(Stored):
    """Labels 0 .. d-1 in a tree of blocks and separators.

    The three arrays are the partition: `Partition(permutation, offsets, parents)` restores it. Nodes
    0 .. n_blocks - 1 are the blocks, the others separators, each after its children, the root last.
    """

    permutation: np.ndarray  # (d,) label ids, node after node, ascending within a node
    offsets: np.ndarray  # (nodes + 1,): node v holds permutation[offsets[v] : offsets[v + 1]]
    parents: np.ndarray  # (nodes,): the separator above, -1 for the root
    lost: float | None = None
    """Share of the co-occurrence (off the diagonal) between parted labels; None if not measured."""
    partitioner: str | None = None
    budget: float | None = None

    ARRAYS = array_names("permutation", "offsets", "parents")

    def __post_init__(self):
        _check(self.permutation, self.offsets, self.parents)

    @property
    def n_labels(self) -> int:
        return len(self.permutation)

    @property
    def n_nodes(self) -> int:
        return len(self.parents)

    @property
    def n_blocks(self) -> int:
        return self.n_nodes - len(np.unique(self.parents[self.parents >= 0]))

    def node(self, v: int) -> np.ndarray:
        """Labels of node v alone: a block C_i, or a separator."""
        return self.permutation[self.offsets[v] : self.offsets[v + 1]]

    def path(self, v: int) -> list[int]:
        """Nodes from v up to the root."""
        nodes = [v]
        while self.parents[nodes[-1]] >= 0:
            nodes.append(int(self.parents[nodes[-1]]))
        return nodes

    def labels(self, block: int) -> np.ndarray:
        """S + C_i: the labels of a block and of all separators above it, ascending."""
        return np.sort(np.concatenate([self.node(v) for v in self.path(block)]))

    @property
    def node_of(self) -> np.ndarray:
        """(d,) node of each label."""
        found = np.empty(self.n_labels, np.int64)
        found[self.permutation] = np.repeat(np.arange(self.n_nodes), np.diff(self.offsets))
        return found

    @property
    def separator(self) -> np.ndarray:
        """All labels in separators, ascending."""
        return np.sort(self.permutation[self.offsets[self.n_blocks] :])

    @property
    def levels(self) -> list[list[np.ndarray]]:
        """Separators by level, the root's first: a list of lists of label arrays."""
        found: list[list[np.ndarray]] = []
        for v in range(self.n_blocks, self.n_nodes):
            depth = len(self.path(v)) - 1
            found += [[] for _ in range(depth + 1 - len(found))]
            found[depth].append(self.node(v))
        return found

    @property
    def sizes(self) -> np.ndarray:
        """(n_blocks,) |S + C_i|, the number of labels that are trained together."""
        together = np.diff(self.offsets)
        for v in reversed(range(self.n_nodes - 1)):
            together[v] += together[self.parents[v]]
        return together[: self.n_blocks]

    @property
    def balance(self) -> float:
        """Size of the largest block over the mean, without separators: 1 is even."""
        own = np.diff(self.offsets[: self.n_blocks + 1])
        return float(own.max() / own.mean())

    def __str__(self):
        return "\n".join(_lines(self))

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, **facts: Any) -> "Partition":
        """Restore a partition of d labels; `facts` are its other fields."""
        for name in cls.ARRAYS:
            check_kind(arrays, name, np.int32, np.int64)
        check_shapes(arrays, permutation=(d,))
        if not len(arrays["parents"]):
            raise ValueError("parents is empty; expected at least one node")
        check_pointers(arrays, "offsets", len(arrays["parents"]), d)
        tree: dict[str, Any] = {name: np.asarray(arrays[name]) for name in cls.ARRAYS}
        partition = cls(**tree, **facts)
        if (deepest := _depths(partition.parents).max()) > MAX_DEPTH:
            raise ValueError(f"the partition has {deepest} levels; expected at most {MAX_DEPTH}")
        return partition


def separators_apart(partition: Partition) -> Partition:
    """Return the same blocks without their separators, which become one more block."""
    inner = partition.n_nodes - partition.n_blocks
    if inner == 0 or len(partition.separator) == 0:
        return partition
    begun = partition.offsets[: partition.n_blocks + 1]
    labels = np.concatenate([partition.permutation[: begun[-1]], partition.separator])
    n = partition.n_blocks + 1
    return replace(
        partition,
        permutation=labels,
        offsets=np.concatenate([begun, [len(labels)] * 2]),
        parents=np.append(np.full(n, n), -1),
        lost=None,
    )


def lost_share(A: sp.csr_array, partition: Partition) -> float:
    """Return the share of the weight of A (d, d), without diagonal, between parted labels."""
    first, last = _leaf_spans(partition)
    node = partition.node_of
    first, last = first[node], last[node]
    parted = 0.0
    for begin in range(0, A.shape[0], _BLOCK_ROWS):
        rows = slice(begin, begin + _BLOCK_ROWS)
        entries = slice(A.indptr[begin], A.indptr[min(begin + _BLOCK_ROWS, A.shape[0])])
        repeats = np.diff(A.indptr[begin : begin + _BLOCK_ROWS + 1])
        j = A.indices[entries]
        apart = (np.repeat(last[rows], repeats) < first[j]) | (np.repeat(first[rows], repeats) > last[j])
        parted += A.data[entries][apart].sum()
    total = A.data.sum()
    return float(parted / total) if total else 0.0


def _depths(parents):
    """Return the number of nodes above each node."""
    depths = np.zeros(len(parents), np.int64)
    for v in reversed(range(len(parents) - 1)):
        depths[v] = depths[parents[v]] + 1
    return depths


def _leaf_spans(partition):
    """Return the first and last leaf below each node, in tree order: disjoint for parted nodes."""
    n = partition.n_nodes
    leaves = (np.arange(n) < partition.n_blocks).astype(np.int64)
    for v in range(n - 1):
        leaves[partition.parents[v]] += leaves[v]
    first, free = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for v in reversed(range(n - 1)):
        parent = partition.parents[v]
        first[v] = free[v] = free[parent]
        free[parent] += leaves[v]
    return first, first + leaves - 1


def _lines(partition):
    """Yield the tree as text, one node per line, with its own size and that of its S + C_i."""
    sizes = np.diff(partition.offsets)
    children: dict[int, list[int]] = {v: [] for v in range(-1, partition.n_nodes)}
    for v in range(partition.n_nodes):
        children[int(partition.parents[v])].append(v)
    together = partition.sizes
    stack = [(v, 0) for v in reversed(children[-1])]
    while stack:
        v, depth = stack.pop()
        if v < partition.n_blocks:
            yield f"{'  ' * depth}block {v}: {sizes[v]} labels, {together[v]} with its separators"
        else:
            yield f"{'  ' * depth}separator: {sizes[v]} labels"
        stack += [(child, depth + 1) for child in reversed(children[v])]


def one_block(d: int) -> Partition:
    """The partition of d labels into one block."""
    return Partition(np.arange(d), np.array([0, d]), np.array([-1]), lost=0.0)


def _check(permutation, offsets, parents):
    """Raise unless the arrays are a partition."""
    d, n = len(permutation), len(parents)
    if not (np.sort(permutation) == np.arange(d)).all():
        raise MLGTError(f"the permutation of a partition must hold each of the labels 0 to {d - 1} once.")
    if len(offsets) != n + 1 or offsets[0] != 0 or offsets[-1] != d or (np.diff(offsets) < 0).any():
        raise MLGTError(
            f"the offsets of a partition must rise from 0 to {d}, one more than its {n} nodes; got "
            f"{len(offsets)} of them."
        )
    inner = np.unique(parents[parents >= 0])
    leaves_first = (inner == np.arange(n - len(inner), n)).all()
    if parents[-1] != -1 or not leaves_first or (parents[:-1] <= np.arange(n - 1)).any():
        raise MLGTError("the parents of a partition must come after their children, the root (-1) last.")
