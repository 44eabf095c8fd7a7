"""`mlgt.labels.partition._kernels`: propagation, cover, release and packing."""

import numpy as np


def propagate(indptr, indices, weights, mass, part, load, cap, order, sweeps):
    for _ in range(sweeps):
        moved = 0
        for v in order:
            own = part[v]
            edges = slice(indptr[v], indptr[v + 1])
            near = part[indices[edges]]
            towards = np.bincount(near[near >= 0], weights[edges][near >= 0], len(cap))
            stays = own >= 0 and load[own] <= cap[own]
            best = own
            key = (towards[own], -load[own]) if stays else (-1, 0)
            for p in dict.fromkeys(near[near >= 0]):
                after = load[p] + mass[v]
                if p != own and after <= cap[p] and (towards[p], -after) > key:
                    best, key = p, (towards[p], -after)
            if own >= 0 and not stays and best == own:
                p = np.argmax(cap - load)
                best = p if load[p] + mass[v] <= cap[p] else own
            if best != own:
                if own >= 0:
                    load[own] -= mass[v]
                load[best] += mass[v]
                part[v] = best
                moved += 1
        if 1000 * moved <= len(order):
            break


def cover(indptr, indices, weights, part, limit):
    for taken in range(limit):
        rows = np.repeat(np.arange(len(part)), np.diff(indptr))
        ends, others = part[rows], part[indices]
        is_cut = (ends >= 0) & (others >= 0) & (ends != others)
        cut = np.bincount(rows[is_cut], weights[is_cut], len(part))
        if not cut.any():
            return taken
        part[np.argmax(cut)] = -1
    return limit


def release(indptr, indices, part, load, cap, order):
    back = 0
    for v in order:
        near = indices[indptr[v] : indptr[v + 1]]
        near = near[part[near] >= 0]
        met = list(dict.fromkeys(part[near]))  # in the order of the neighbours
        if part[v] >= 0 or len(met) > 2:
            continue
        met.sort(key=lambda p: -(part[near] == p).sum())
        objecting = near[part[near] == met[1]] if len(met) == 2 else []
        home = met[0] if met else np.argmax(cap - load)
        if len(objecting) > 1 or load[home] >= cap[home]:
            continue
        if len(objecting) == 0:
            back += 1
        elif load[met[1]] > load[home]:
            part[objecting] = -1
            load[met[1]] -= 1
        else:
            continue
        part[v] = home
        load[home] += 1
    return back


def pack(sizes, home, load, target):
    for c, size in enumerate(sizes):
        own, roomiest = home[c], np.argmax(target - load)
        if own >= 0:
            excess = load[own] - target[own]
            if excess <= 0 or load[roomiest] + size - target[roomiest] >= excess:
                continue
            load[own] -= size
        load[roomiest] += size
        home[c] = roomiest
