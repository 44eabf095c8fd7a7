"""Vertex separators: split a graph into parts that no edge joins, by taking few vertices out.

    V = S + C_1 + ... + C_k,     no edge between C_i and C_j.                                        (1)

An edge partition (METIS, label propagation) comes first; its cut edges are then covered by vertices:

    cover      greedily take out the vertex that covers most of the weight that is still cut
    release    put back every vertex that (1) does not need, in a few passes
    pack       move whole components of V - S from parts too large to parts too small

Hubs end up in S anyway, and blur the partition of the rest: each split is tried with and without the 2 % of
highest degree taken out first, and with two edge weights: all equal, and low next to a hub, whose edges one
vertex covers together. The best of these four is kept; if whole components fit, no vertex is taken out.

Strict separators of real label graphs hold a third of the labels. With a `limit`, at most that many
vertices are taken out, those that cover most co-occurrence, and the edges still cut are lost:

    lost = sum of G_ij over i in C_a, j in C_b, a != b.                                              (2)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..graph import cut_weight
from . import _kernels

HUB_SHARES = (0.0, 0.02)
"""Shares of the vertices, those of highest degree, that are taken out before the edge partition."""
SLACK = 0.01
"""Largest excess of a part over its share when an edge partition is refined."""
_RELEASE_SLACK = 0.1  # the same while vertices are put back; S ends smaller, and packing balances the parts
_MAX_RELEASE_PASSES = 20
_SWEEPS = 8


@dataclass(frozen=True, eq=False)
class Split:
    """The part (n,) of each vertex, -1 in the separator, and the weight of the edges still cut, eq. (2)."""

    part: np.ndarray
    lost: int


def separate(
    A: sp.csr_array,
    n_blocks: list[int],
    limit: int | None,
    partition_edges: Callable[[sp.csr_array, np.ndarray, np.random.Generator], np.ndarray],
    rng: np.random.Generator,
) -> Split | None:
    """Split the graph A (n, n), int64 weights, into len(n_blocks) parts; None if that is impossible.

    Part i is to become n_blocks[i] blocks later, and gets its share of the vertices. With `limit`, at most
    that many vertices enter the separator; with None, the separator is strict.
    """
    blocks = np.asarray(n_blocks)
    shares = blocks / blocks.sum()
    n = A.shape[0]
    whole = _pack(np.full(n, -1, np.int64), _components(A), shares)
    even = n / len(shares)
    if not _too_small(whole, blocks) and _largest(whole, shares) <= max(np.ceil(even), (1 + SLACK) * even):
        return Split(whole, 0)
    found = [whole] if limit is None else []
    for part in _edge_partitions(A, shares, partition_edges, rng):
        split = _strict(A, part, shares, rng)
        if limit is not None and _separator_size(split) > limit:
            split = _limited(A, part, shares, limit, rng)
        found.append(split)
    if limit is not None:
        found.append(_consecutive_parts(n, blocks))
    best = min(found, key=lambda part: _rank(A, part, blocks))
    if len(np.unique(best[best >= 0])) < 2:
        return None
    return Split(best, cut_weight(A, best))


def _rank(A, part, blocks):
    """Sort key, the best first: enough vertices for all blocks, less lost, smaller parts."""
    return _too_small(part, blocks), cut_weight(A, part), _largest(part, blocks / blocks.sum())


def _too_small(part, blocks):
    """Return whether a part has fewer vertices than it is to have blocks."""
    return (np.bincount(part[part >= 0], minlength=len(blocks)) < blocks).any()


def _largest(part, shares):
    """Return |S| plus the largest part, max |S + C_i|; unequal parts are compared by their shares."""
    sizes = np.bincount(part[part >= 0], minlength=len(shares))
    return _separator_size(part) + (sizes / shares).max() / len(shares)


def _separator_size(part):
    return int((part < 0).sum())


def _edge_partitions(A, shares, partition_edges, rng):
    """Yield edge partitions of A to start from; hubs and vertices without edges are in no part (-1)."""
    degree = np.diff(A.indptr).astype(np.int64)
    joined = np.flatnonzero(degree)
    by_degree = joined[np.argsort(-degree[joined], kind="stable")]
    for share in HUB_SHARES:
        kept = np.sort(by_degree[int(share * len(joined)) :])
        if len(kept) < len(shares):
            continue
        B = A[kept][:, kept]
        ends = np.maximum(np.repeat(degree[kept], np.diff(B.indptr)), degree[kept][B.indices])
        for weights in (np.ones_like(B.data), np.maximum(1000 // ends, 1)):
            part = np.full(A.shape[0], -1, np.int64)
            part[kept] = partition_edges(sp.csr_array((weights, B.indices, B.indptr), B.shape), shares, rng)
            yield part


def _strict(A, part, shares, rng):
    """Return the strict separator, eq. (1), of an edge partition."""
    part = part.copy()
    _kernels.cover(A.indptr, A.indices, np.ones_like(A.data), part, len(part))
    alone = np.diff(A.indptr) == 0
    for _ in range(_MAX_RELEASE_PASSES):
        load = np.bincount(part[part >= 0], minlength=len(shares))
        cap = np.ceil((1 + _RELEASE_SLACK) * shares * load.sum()).astype(np.int64)
        separator = rng.permutation(np.flatnonzero((part < 0) & ~alone))
        if _kernels.release(A.indptr, A.indices, part, load, cap, separator) == 0:
            break
    unit = np.full(len(part), -1, np.int64)
    kept = np.flatnonzero((part >= 0) | alone)
    unit[kept] = _components(A[kept][:, kept])
    return _pack(part, unit, shares)


def _limited(A, part, shares, limit, rng):
    """Return the parts after at most `limit` vertices are taken out, those that cover most weight."""
    part = part.copy()
    joined = np.diff(A.indptr) > 0
    _refine(A, part, shares, rng.permutation(np.flatnonzero(joined)))  # hubs join a part, too
    part = _pack(part, _single_units(joined & (part < 0)), shares)
    _kernels.cover(A.indptr, A.indices, A.data, part, limit)
    _refine(A, part, shares, rng.permutation(np.flatnonzero(part >= 0)))
    return _pack(part, _single_units(~joined), shares)


def _refine(A, part, shares, order):
    n = len(part)
    load = np.bincount(part[part >= 0], minlength=len(shares))
    target = shares * len(order)
    cap = np.maximum(np.ceil(target), (1 + SLACK) * target).astype(np.int64)
    _kernels.propagate(A.indptr, A.indices, A.data, np.ones(n, np.int64), part, load, cap, order, _SWEEPS)


def _pack(part, unit, shares):
    """Place or move whole units, large ones first, so that parts come near their shares; returns `part`.

    `unit` (n,) is the unit of each vertex; vertices of unit -1 stay where they are.
    """
    part = part.copy()
    movable = np.flatnonzero(unit >= 0)
    if len(movable) == 0:
        return part
    sizes = np.bincount(unit[movable])
    home = np.full(len(sizes), -1, np.int64)
    home[unit[movable]] = part[movable]
    order = np.argsort(-sizes, kind="stable")
    placed = home[order]
    load = np.bincount(part[part >= 0], minlength=len(shares))
    _kernels.pack(sizes[order], placed, load, shares * ((part >= 0) | (unit >= 0)).sum())
    home[order] = placed
    part[movable] = home[unit[movable]]
    return part


def _single_units(mask):
    """Return units of one vertex each for the vertices of the mask."""
    return np.where(mask, np.cumsum(mask) - 1, -1)


def _consecutive_parts(n, blocks):
    """Return parts of consecutive vertices, the fallback for a graph too small for anything better."""
    ends = n * np.cumsum(blocks) // np.sum(blocks)
    return np.searchsorted(ends, np.arange(n), side="right")


def _components(A):
    """The component of each vertex."""
    from scipy.sparse.csgraph import connected_components  # slow to import, and not needed to predict

    return connected_components(A, connection="strong")[1]
