"""Edge partition by multilevel, size-constrained label propagation: built in, without another library.

Meyerhenke, Sanders & Schulz, "Partitioning complex networks via size-constrained clustering" (2014). One
step does everything: a vertex joins the part it is most heavily joined to, if that part has room.

    coarsen   every vertex starts as its own part, parts hold at most n / (k CLUSTERS_PER_PART) vertices;
              each part becomes a vertex of the next, smaller graph P'AP
    start     on the smallest graph, k parts grow from random vertices; the best of N_STARTS
    refine    on each larger graph, the same step moves vertices between the k parts
"""

import numpy as np
import scipy.sparse as sp

from ..graph import cut_weight
from . import _kernels

CLUSTERS_PER_PART = 20
"""Smallest number of clusters per part on the coarsest graph."""
N_STARTS = 8
"""Random starts on the coarsest graph."""
SLACK = 0.03
"""Largest excess of a part over its share."""
_SWEEPS = 8


def partition_edges(A: sp.csr_array, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the part of each vertex, (n,) int64: few, light edges between parts, part p near shares[p] n.

    A (n, n) is a CSR array of int64 weights without a diagonal; `shares` (k,) add up to 1.
    """
    mass = np.ones(A.shape[0], np.int64)
    graphs = [(A, mass)]
    clusters = []
    smallest = 2 * CLUSTERS_PER_PART * len(shares)
    while A.shape[0] > smallest:
        cluster = _cluster(A, mass, CLUSTERS_PER_PART * len(shares), rng)
        count = cluster.max() + 1
        if count > 0.95 * A.shape[0]:
            break
        A, mass = _contract(A, cluster), np.bincount(cluster, mass, count).astype(np.int64)
        graphs.append((A, mass))
        clusters.append(cluster)
    part = _grow(A, mass, shares, rng)
    for (A, mass), cluster in zip(graphs[-2::-1], clusters[::-1]):
        part = part[cluster]
        _refine(A, mass, part, shares, rng)
    return part


def _cluster(A, mass, at_least, rng):
    """Return clusters 0 .. c-1 of the vertices, none heavier than total / `at_least`."""
    n = A.shape[0]
    part, load = np.arange(n, dtype=np.int64), mass.copy()
    cap = np.full(n, max(mass.sum() // at_least, 1), np.int64)
    _kernels.propagate(A.indptr, A.indices, A.data, mass, part, load, cap, rng.permutation(n), 3)
    return np.unique(part, return_inverse=True)[1].astype(np.int64)


def _contract(A, cluster):
    """P'AP without its diagonal: the weights between clusters."""
    n = len(cluster)
    P = sp.csr_array((np.ones(n, np.int64), cluster, np.arange(n + 1)), shape=(n, cluster.max() + 1))
    small = sp.csr_array(P.T @ (A @ P))
    small.setdiag(0)
    small.eliminate_zeros()
    return small


def _grow(A, mass, shares, rng):
    """Grow k parts from random vertices and refine them; returns the best of N_STARTS."""
    best, least = None, np.inf
    for _ in range(N_STARTS):
        part = np.full(A.shape[0], -1, np.int64)
        seeds = rng.choice(A.shape[0], min(len(shares), A.shape[0]), replace=False)
        part[seeds] = np.arange(len(seeds))
        _refine(A, mass, part, shares, rng)
        cut = cut_weight(A, part)
        if cut < least:
            best, least = part, cut
    return best


def _refine(A, mass, part, shares, rng):
    """Label propagation between the k parts, in place; unreached vertices go to the part with most room."""
    target = shares * mass.sum()
    cap = np.ceil((1 + SLACK) * target).astype(np.int64)
    inside = part >= 0
    load = np.bincount(part[inside], mass[inside], len(shares)).astype(np.int64)

    def sweep():
        order = rng.permutation(len(part))
        _kernels.propagate(A.indptr, A.indices, A.data, mass, part, load, cap, order, _SWEEPS)

    sweep()
    left = np.flatnonzero(part < 0)
    if len(left):
        left = left[np.argsort(-mass[left], kind="stable")]
        home = part[left]
        _kernels.pack(mass[left], home, load, target)
        part[left] = home
        sweep()
