"""Vertex separators: split a graph into parts that no edge joins, by taking few vertices out.

    V = S + C_1 + ... + C_k,     no edge between C_i and C_j.                                        (1)

An edge partition (METIS, label propagation) comes first; its cut edges are then covered by vertices:

    cover      greedily take out the vertex that covers most of what is still cut
    release    put back every vertex that (1) does without, in a few passes
    pack       move whole components of V - S from parts too large to parts too small

Hubs force themselves into S anyway, and blur the partition of the rest: each split is tried with and
without the 2 % of highest degree taken out first, and with two edge weights: all equal, and low next to a
hub, whose edges one vertex covers together. The best of these four is kept; where whole components fit,
no vertex is taken out at all.

Strict separators of real label graphs hold a third of the labels. With a `limit`, at most so many
vertices are taken out, those that cover most co-occurrence, and what is still cut is lost:

    lost = sum of G_ij over i in C_a, j in C_b, a != b.                                              (2)
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..graph import cut_weight
from . import _kernels

HUBS = (0.0, 0.02)
"""Shares of the vertices, those of highest degree, that are taken out before the edge partition."""
SLACK = 0.01
"""A part may exceed its share by this much when an edge partition is refined."""
_RELEASE_SLACK = 0.1  # while vertices return; packing restores the balance, and S ends smaller for it
_PASSES = 20
_SWEEPS = 8


@dataclass(frozen=True, eq=False)
class Split:
    """`part` (n,) of each vertex, -1 in the separator, and the weight of the edges still cut, eq. (2)."""

    part: np.ndarray
    lost: int


def separate(A, blocks, limit, partition_edges, rng):
    """Split the graph A (n, n), int64 weights, into len(blocks) parts; None if there is no way.

    Part i is to be cut into blocks[i] blocks later on, and gets its share of the vertices. With `limit`
    at most so many vertices enter the separator; without, the separator is strict.
    """
    blocks = np.asarray(blocks)
    shares = blocks / blocks.sum()
    n = A.shape[0]
    whole = _pack(np.full(n, -1, np.int64), connected_components(A, connection="strong")[1], shares)
    even = n / len(shares)
    if not _short(whole, blocks) and _largest(whole, shares) <= max(np.ceil(even), (1 + SLACK) * even):
        return Split(whole, 0)
    found = [whole] if limit is None else []
    for part in _edge_partitions(A, shares, partition_edges, rng):
        split = _strict(A, part, shares, rng)
        if limit is not None and _separator_size(split) > limit:
            split = _limited(A, part, shares, limit, rng)
        found.append(split)
    if limit is not None:
        found.append(_in_order(n, blocks))
    best = min(found, key=lambda part: _rank(A, part, blocks))
    if len(np.unique(best[best >= 0])) < 2:
        return None
    return Split(best, cut_weight(A, best))


def _rank(A, part, blocks):
    """What is better comes first: enough vertices for all blocks, less lost, smaller parts."""
    return _short(part, blocks), cut_weight(A, part), _largest(part, blocks / blocks.sum())


def _short(part, blocks):
    """Has a part fewer vertices than it shall have blocks?"""
    return (np.bincount(part[part >= 0], minlength=len(blocks)) < blocks).any()


def _largest(part, shares):
    """|S| and the largest part, max |S + C_i|; parts that should be unequal are compared by their share."""
    sizes = np.bincount(part[part >= 0], minlength=len(shares))
    return _separator_size(part) + (sizes / shares).max() / len(shares)


def _separator_size(part):
    return int((part < 0).sum())


def _edge_partitions(A, shares, partition_edges, rng):
    """Edge partitions of A to start from; hubs and vertices without edges are in no part (-1)."""
    degree = np.diff(A.indptr).astype(np.int64)
    joined = np.flatnonzero(degree)
    by_degree = joined[np.argsort(-degree[joined], kind="stable")]
    for share in HUBS:
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
    """The strict separator, eq. (1), that an edge partition leads to."""
    part = part.copy()
    _kernels.cover(A.indptr, A.indices, np.ones_like(A.data), part, len(part))
    alone = np.diff(A.indptr) == 0
    for _ in range(_PASSES):
        load = np.bincount(part[part >= 0], minlength=len(shares))
        cap = np.ceil((1 + _RELEASE_SLACK) * shares * load.sum()).astype(np.int64)
        separator = rng.permutation(np.flatnonzero((part < 0) & ~alone))
        if _kernels.release(A.indptr, A.indices, part, load, cap, separator) == 0:
            break
    unit = np.full(len(part), -1, np.int64)
    kept = np.flatnonzero((part >= 0) | alone)
    unit[kept] = connected_components(A[kept][:, kept], connection="strong")[1]
    return _pack(part, unit, shares)


def _limited(A, part, shares, limit, rng):
    """The parts after at most `limit` vertices are taken out, those that cover most weight."""
    part = part.copy()
    joined = np.diff(A.indptr) > 0
    _refine(A, part, shares, rng.permutation(np.flatnonzero(joined)))  # the hubs find their part, too
    part = _pack(part, _units(joined & (part < 0)), shares)
    _kernels.cover(A.indptr, A.indices, A.data, part, limit)
    _refine(A, part, shares, rng.permutation(np.flatnonzero(part >= 0)))
    return _pack(part, _units(~joined), shares)


def _refine(A, part, shares, order):
    n = len(part)
    load = np.bincount(part[part >= 0], minlength=len(shares))
    target = shares * len(order)
    cap = np.maximum(np.ceil(target), (1 + SLACK) * target).astype(np.int64)
    _kernels.propagate(A.indptr, A.indices, A.data, np.ones(n, np.int64), part, load, cap, order, _SWEEPS)


def _pack(part, unit, shares):
    """Place or move whole units, large ones first, so that parts come near their shares; a new `part`.

    `unit` (n,) numbers the unit of each vertex; -1 stays where it is.
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


def _units(mask):
    """Every vertex of the mask is a unit of its own."""
    return np.where(mask, np.cumsum(mask) - 1, -1)


def _in_order(n, blocks):
    """Parts of consecutive vertices: what is left when a graph is too small for anything better."""
    ends = n * np.cumsum(blocks) // np.sum(blocks)
    return np.searchsorted(ends, np.arange(n), side="right")
