"""A random left-and-right-regular bipartite graph, SAFFRON's G(c, r) (supplement, A.2).

Each of the d labels joins c of the m1 bins, each bin holds r = d c / m1 labels (sizes differ by one if this
is not a whole number). The d c ends on the left and the m1 r ends on the right are paired by a random
permutation. If that puts a label into the same bin twice, ends are swapped with random others, and a swap
is kept if it leaves fewer repetitions.

There is always such a swap. Let l have bin b twice and lack b'. A label that has b' and lacks b, or has b'
twice, can give b' for b. If there were none, all labels of b' would have it once and have b too, so that b
would have two ends more than b'; but sizes differ by one at most.
"""

import numpy as np
import scipy.sparse as sp


def regular_graph(m1: int, d: int, c: int, rng: np.random.Generator) -> sp.csr_array:
    """Draw T in {0,1}^(m1 x d), CSR of int8, with c ones in every column and d c / m1 in every row."""
    if not 1 <= c <= m1:
        raise ValueError(f"c={c}: every label joins c different bins of m1={m1}. Pass 1 <= c <= {m1}.")
    if 2 * c > m1:  # hardly any swap helps in a dense graph; most do in its complement
        bins = _simple_pairing(m1, d, m1 - c, rng)
        T = np.ones((m1, d), np.int8)
        T[bins, np.arange(d)[:, None]] = 0
        return sp.csr_array(T)
    bins = _simple_pairing(m1, d, c, rng)
    ones = np.ones(bins.size, np.int8)
    pointers = np.arange(0, bins.size + 1, c, dtype=np.int32 if bins.size < 2**31 else np.int64)
    return sp.csr_array(sp.csc_array((ones, bins.ravel(), pointers), shape=(m1, d)))


def _simple_pairing(m1, d, c, rng):
    """Return the bins of each label, (d, c) int32, ascending, without repetition."""
    edges = np.linspace(0, d * c, m1 + 1).astype(np.int64)
    ends = np.repeat(np.arange(m1, dtype=np.int32), np.diff(edges))  # every bin r times
    rng.shuffle(ends)
    bins = np.sort(ends.reshape(d, c), axis=1)
    faulty = np.flatnonzero(_repetitions(bins))
    while len(faulty):
        touched = np.union1d(faulty, _swap(bins, faulty, rng))
        faulty = touched[_repetitions(bins[touched]) > 0]
    return bins


def _swap(bins, faulty, rng):
    """One round: every faulty label swaps a repeated bin for a bin of a random label, if that helps;
    returns the random labels."""
    pairs = np.stack([rng.permutation(faulty), rng.integers(len(bins), size=len(faulty))], axis=1)
    _, first = np.unique(pairs, return_index=True)
    alone = np.zeros(pairs.size, bool)
    alone[first] = True
    pairs = pairs[alone.reshape(-1, 2).all(axis=1)]  # only the first pair of a label is used
    old, each = bins[pairs], np.arange(len(pairs))  # (pairs, 2, c)
    repeated = np.argmax(old[:, 0, 1:] == old[:, 0, :-1], axis=1)
    offered = rng.integers(bins.shape[1], size=len(pairs))
    new = old.copy()
    new[each, 0, repeated] = old[each, 1, offered]
    new[each, 1, offered] = old[each, 0, repeated]
    new.sort(axis=2)
    better = _repetitions(new).sum(axis=1) < _repetitions(old).sum(axis=1)
    bins[pairs[better]] = new[better]
    return pairs[:, 1]


def _repetitions(bins):
    """Return the number of repetitions in sorted lists of bins, the last axis."""
    return (bins[..., 1:] == bins[..., :-1]).sum(axis=-1)
