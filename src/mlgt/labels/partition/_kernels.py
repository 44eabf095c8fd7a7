"""Compiled kernels of partitioning: label propagation, vertex cover, release, packing.

A graph is its CSR arrays: both directions of every edge, no diagonal, int64 weights. `part[v]` is the
part of vertex v, or -1: in no part.
"""

import heapq

import numpy as np

from ...compile.kernels import kernel


@kernel()
def propagate(indptr, indices, weights, mass, part, load, cap, order, sweeps):
    """Move each vertex to the part it is most heavily joined to, where `cap` has room; in place.

    `mass` (n,) is what a vertex adds to the `load` (k,) of its part. Ties go to the lighter part. A vertex
    leaves an overfull part for the next best, or else for the one with most room; a vertex in no part waits
    until a neighbour is in one. Stops early when a sweep over `order` moves at most one vertex in 1000.
    """
    towards = np.zeros(cap.shape[0], np.int64)
    seen = np.empty(cap.shape[0], np.int64)
    for _ in range(sweeps):
        moved = 0
        for v in order:
            own = part[v]
            n_seen = 0
            for e in range(indptr[v], indptr[v + 1]):
                p = part[indices[e]]
                if p >= 0:
                    if towards[p] == 0:
                        seen[n_seen] = p
                        n_seen += 1
                    towards[p] += weights[e]
            best = own
            most, lightest = np.int64(-1), np.int64(0)
            overfull = own >= 0 and load[own] > cap[own]
            if own >= 0 and not overfull:
                most, lightest = towards[own], load[own]
            for q in range(n_seen):
                p = seen[q]
                after = load[p] + mass[v]
                nearer = towards[p] > most or (towards[p] == most and after < lightest)
                if nearer and p != own and after <= cap[p]:
                    best, most, lightest = p, towards[p], after
            if overfull and best == own:
                p = np.argmax(cap - load)
                if load[p] + mass[v] <= cap[p]:
                    best = p
            for q in range(n_seen):
                towards[seen[q]] = 0
            if best != own:
                if own >= 0:
                    load[own] -= mass[v]
                load[best] += mass[v]
                part[v] = best
                moved += 1
        if 1000 * moved <= order.shape[0]:
            break


@kernel()
def cover(indptr, indices, weights, part, limit):
    """Greedy vertex cover of the edges between parts: take out (part = -1) the vertex that covers most
    weight, the lowest id among equals, until nothing is left to cover or `limit` are out; in place.

    Returns the number of vertices taken out.
    """
    n = part.shape[0]
    cut = np.zeros(n, np.int64)
    heap = [(cut[0], np.int64(0))]  # an entry for numba to infer the type
    heap.clear()
    for v in range(n):
        if part[v] >= 0:
            for e in range(indptr[v], indptr[v + 1]):
                p = part[indices[e]]
                if p >= 0 and p != part[v]:
                    cut[v] += weights[e]
            if cut[v] > 0:
                heap.append((-cut[v], np.int64(v)))
    heapq.heapify(heap)
    taken = 0
    while len(heap) > 0 and taken < limit:
        stored, top = heapq.heappop(heap)
        if -stored != cut[top]:  # outdated: neighbours have been taken out since
            if cut[top] > 0:
                heapq.heappush(heap, (-cut[top], top))
            continue
        for e in range(indptr[top], indptr[top + 1]):
            p = part[indices[e]]
            if p >= 0 and p != part[top]:
                cut[indices[e]] -= weights[e]
        part[top] = -1
        taken += 1
    return taken


@kernel()
def release(indptr, indices, part, load, cap, order):
    """One pass over the separator's vertices in `order`: put back those that it does not need; in place.

    A vertex whose neighbours outside the separator are all in one part joins that part (the one with most
    room, if it has no such neighbour). If a single neighbour is in another, larger part, the two change
    places. Returns the number of vertices put back.
    """
    back = 0
    for v in order:
        if part[v] >= 0:
            continue
        # Parts among the neighbours: number, neighbours in it, the last of them.
        first, n_first, at_first = np.int64(-1), 0, np.int64(-1)
        second, n_second, at_second = np.int64(-1), 0, np.int64(-1)
        held = False
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            p = part[u]
            if p < 0:
                continue
            if first < 0 or p == first:
                first, n_first, at_first = p, n_first + 1, u
            elif second < 0 or p == second:
                second, n_second, at_second = p, n_second + 1, u
            else:
                held = True
            if held or (n_first > 1 and n_second > 1):
                held = True
                break
        if held:
            continue
        if first < 0:
            first = np.argmax(cap - load)
        if n_second > n_first:
            first, second = second, first
            n_first, n_second = n_second, n_first
            at_first, at_second = at_second, at_first
        if load[first] >= cap[first]:
            continue
        if second < 0:
            back += 1
        elif load[second] > load[first]:
            part[at_second] = -1
            load[second] -= 1
        else:
            continue
        part[v] = first
        load[first] += 1
    return back


@kernel()
def pack(sizes, home, load, target):
    """Place whole components, in the order given: one without a home (-1) goes to the part with most room;
    one in a part above its target moves there if that part then exceeds its target by less; in place.

    `target` (k,) is the load each part should have.
    """
    for c in range(sizes.shape[0]):
        roomiest = np.argmax(target - load)
        own = home[c]
        if own < 0:
            home[c] = roomiest
            load[roomiest] += sizes[c]
        elif load[own] > target[own]:
            after = load[roomiest] + sizes[c] - target[roomiest]
            if after < load[own] - target[own]:
                home[c] = roomiest
                load[roomiest] += sizes[c]
                load[own] -= sizes[c]
