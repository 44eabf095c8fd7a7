"""Compiled kernels of SAFFRON's decoders; `saffron` has the equations.

T is a `groups.saffron.Tables`. Six words hold the tests of a bin: for section s, words[b, s, 0] has the
digits that tested positive as 1 (b), and words[b, s, 1] those that tested positive as 0 (not b).
"""

import numpy as np
from numpy import int64, uint64

from ..compile.kernels import kernel
from ._search_kernels import insert


@kernel(error_model="numpy")
def label_at(T, b, address):
    """Return the label with this address in bin b, or -1: not every number is an address."""
    if T.local:
        at = T.bin_ptr[b] + address
        return int64(T.members[at]) if at < T.bin_ptr[b + 1] else int64(-1)
    if address < T.codes.shape[1]:
        for e in range(T.label_ptr[address], T.label_ptr[address + 1]):
            if T.label_bins[e] == b:
                return int64(address)
    return int64(-1)


@kernel(error_model="numpy")
def pack(tests, L, words):
    """Tests (m,) -> words (m1, 3, 2)."""
    at = 0
    for b in range(words.shape[0]):
        for s in range(3):
            for side in range(2):
                word = int64(0)
                for j in range(L):
                    word |= int64(tests[at]) << j
                    at += 1
                words[b, s, side] = word


@kernel(error_model="numpy")
def singleton(T, words):
    """Return the address that a bin with one present label shows; -1 if it shows none."""
    full = (int64(1) << T.n_bits) - 1
    address = words[0, 0]
    if address >= T.codes.shape[1]:
        return int64(-1)
    for s in range(3):
        if words[s, 0] != T.codes[s, address] or words[s, 1] != full ^ words[s, 0]:
            return int64(-1)
    return address


@kernel(error_model="numpy")
def doubleton(T, words, known):
    """Return the second address of a bin with two present labels, one of them known; -1 if none."""
    full = (int64(1) << T.n_bits) - 1
    address = int64(-1)
    for s in range(3):
        a = int64(T.codes[s, known])
        x = (words[s, 0] & ~a) | (a & ~words[s, 1])  # each digit from the word that a does not hide
        if words[s, 0] != a | x or words[s, 1] != full & ~(a & x):
            return int64(-1)
        if s == 0:
            if x >= T.codes.shape[1] or x == a:
                return int64(-1)
            address = x
        elif x != T.codes[s, address]:
            return int64(-1)
    return address


@kernel(error_model="numpy")
def count_ones(word):
    x = uint64(word)
    x -= (x >> uint64(1)) & uint64(0x5555555555555555)
    x = (x & uint64(0x3333333333333333)) + ((x >> uint64(2)) & uint64(0x3333333333333333))
    x = (x + (x >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return int64((x * uint64(0x0101010101010101)) >> uint64(56))


@kernel(error_model="numpy")
def support(T, words, label):
    """Return the share of a label's tests, over all its bins, that are positive."""
    full = (int64(1) << T.n_bits) - 1
    begin, end = T.label_ptr[label], T.label_ptr[label + 1]
    positive = int64(0)
    for e in range(begin, end):
        for s in range(3):
            a = int64(T.codes[s, T.label_addresses[e]])
            shown = words[T.label_bins[e], s]
            positive += count_ones(shown[0] & a) + count_ones(shown[1] & (full ^ a))
    return positive / ((end - begin) * 3 * T.n_bits)


@kernel(error_model="numpy")
def peel(T, tests, min_support, labels, scores, operations):
    """Bins -> labels for every row of tests (n, m); see `saffron.decode_peeling`."""
    m1 = T.bin_ptr.shape[0] - 1
    words = np.empty((m1, 3, 2), np.int64)
    n_known = np.empty(m1, np.int64)  # known labels of each bin
    found = np.empty(2 * m1, np.int64)  # P, then D: a bin names at most two labels
    for i in range(tests.shape[0]):
        ids, top, count = labels[i], scores[i], operations[i : i + 1]
        pack(tests[i], T.n_bits, words)
        count[0] = tests.shape[1]
        n_known[:] = 0
        n_found = n_peeled = 0
        for b in range(m1):
            if n_known[b] == 0:
                label = named(T, words, b, int64(-1), min_support, ids, top, count)
                n_found = learn(T, label, n_known, found, n_found)
        while n_peeled < n_found:
            label, n_peeled = found[n_peeled], n_peeled + 1
            for e in range(T.label_ptr[label], T.label_ptr[label + 1]):
                b = T.label_bins[e]
                if n_known[b] == 1:
                    known = int64(T.label_addresses[e])
                    other = named(T, words, b, known, min_support, ids, top, count)
                    n_found = learn(T, other, n_known, found, n_found)


@kernel(error_model="numpy")
def named(T, words, b, known, min_support, ids, top, operations):
    """Put the label that bin b names on the list of results and return it, or -1; `known` may be -1."""
    operations[0] += 6
    address = singleton(T, words[b]) if known < 0 else doubleton(T, words[b], known)
    label = label_at(T, b, address) if address >= 0 else int64(-1)
    if label >= 0:
        operations[0] += 6 * (T.label_ptr[label + 1] - T.label_ptr[label])
        share = support(T, words, label)
        if share < min_support:
            return int64(-1)
        insert(ids, top, label, np.float32(share))
    return label


@kernel(error_model="numpy")
def learn(T, label, n_known, found, n_found):
    """Add a new label to D and mark it as known in all its bins, so that none names it again."""
    if label < 0:
        return n_found
    for e in range(T.label_ptr[label], T.label_ptr[label + 1]):
        n_known[T.label_bins[e]] += 1
    found[n_found] = label
    return n_found + 1


@kernel(error_model="numpy")
def read_digits(margins, first, L, known, cost):
    """Return the most likely code that a section shows, and the cost of reading each digit otherwise.

    Without a known label (-1), a digit is the better of the two complementary groups; with one (its code),
    it is read from the group that the known label is not in, which is positive if the other label is.
    """
    code = int64(0)
    for j in range(L):
        if known < 0:
            lead = margins[first + j] - margins[first + L + j]
        elif known >> j & 1:
            lead = -margins[first + L + j]
        else:
            lead = margins[first + j]
        code |= int64(lead > 0) << j
        cost[j] = abs(lead)
    return code


@kernel(error_model="numpy")
def cheapest(cost, places):
    """Find the places of the smallest costs, the lower place first among equals; these costs become inf."""
    for q in range(places.shape[0]):
        best = 0
        for j in range(1, cost.shape[0]):
            if cost[j] < cost[best]:
                best = j
        places[q] = best
        cost[best] = np.inf


@kernel(error_model="numpy")
def edge_score(T, values, b, address):
    """Return the sum of the group values of an address in bin b."""
    total = 0.0
    for s in range(3):
        code, first = T.codes[s, address], (b * 3 + s) * 2 * T.n_bits
        for j in range(T.n_bits):
            total += values[first + j] if code >> j & 1 else values[first + T.n_bits + j]
    return total


@kernel(error_model="numpy")
def label_score(T, values, offset, label):
    """Return the mean group value of a label over all its bins, plus its offset; `offset` may be empty."""
    begin, end = T.label_ptr[label], T.label_ptr[label + 1]
    total = 0.0
    for e in range(begin, end):
        total += edge_score(T, values, T.label_bins[e], T.label_addresses[e])
    mean = np.float32(total / ((end - begin) * 3 * T.n_bits))
    return mean + offset[label] if offset.shape[0] else mean


@kernel(error_model="numpy")
def propose(T, margins, values, b, known, places, cost, operations):
    """Return the best label of bin b by its groups there, among those that its three sections give with
    len(places) doubtful digits read both ways; -1 if there is none. `known` is -1 or a known address."""
    best, best_score = int64(-1), -np.inf
    operations[0] += 6 * T.n_bits
    for s in range(3):
        code = int64(-1) if known < 0 else int64(T.codes[s, known])
        likely = read_digits(margins, (b * 3 + s) * 2 * T.n_bits, T.n_bits, code, cost)
        cheapest(cost, places)
        for subset in range(1 << places.shape[0]):
            code = likely
            for q in range(places.shape[0]):
                code ^= int64(subset >> q & 1) << places[q]
            if code >= T.codes.shape[1]:
                continue
            address = int64(T.addresses[s, code])
            label = label_at(T, b, address)
            if label >= 0 and address != known and label != best:
                score = edge_score(T, values, b, address)
                operations[0] += 3 * T.n_bits
                if score > best_score or (score == best_score and label < best):
                    best, best_score = label, score
    return best


@kernel(error_model="numpy")
def contains(ids, label):
    found = False
    for at in range(ids.shape[0]):
        found |= ids[at] == label
    return found


@kernel(error_model="numpy")
def rank(T, values, offset, label, ids, top, peeled, operations):
    """Put a proposed label on the list by its score over all its bins."""
    if label < 0 or contains(ids, label):
        return
    operations[0] += 3 * T.n_bits * (T.label_ptr[label + 1] - T.label_ptr[label])
    place = insert(ids, top, label, label_score(T, values, offset, label))
    for at in range(peeled.shape[0] - 1, place, -1):
        peeled[at] = peeled[at - 1]
    if place < peeled.shape[0]:
        peeled[place] = False


@kernel(error_model="numpy")
def soft_peel(T, margins, values, offset, reach, n_doubtful, labels, scores, operations):
    """Bins -> candidates -> the best by all their bins, for every row; see `saffron.decode_noisy`.

    `reach` (n, m1) bounds the scores of a bin's labels; a bin is skipped if none of them can enter the
    list.
    """
    places, cost = np.empty(min(n_doubtful, T.n_bits), np.int64), np.empty(T.n_bits, np.float32)
    peeled = np.empty(labels.shape[1], np.bool_)
    for i in range(margins.shape[0]):
        ids, top, m, v, count = labels[i], scores[i], margins[i], values[i], operations[i : i + 1]
        count[0] = margins.shape[1]
        peeled[:] = False
        for b in range(reach.shape[1]):
            if reach[i, b] >= top[-1]:
                label = propose(T, m, v, b, int64(-1), places, cost, count)
                rank(T, v, offset, label, ids, top, peeled, count)
        at = 0
        while at < peeled.shape[0] and ids[at] >= 0:
            if peeled[at]:
                at += 1
                continue
            peeled[at] = True
            known = ids[at]
            for e in range(T.label_ptr[known], T.label_ptr[known + 1]):
                b = T.label_bins[e]
                if reach[i, b] >= top[-1]:
                    label = propose(T, m, v, b, int64(T.label_addresses[e]), places, cost, count)
                    rank(T, v, offset, label, ids, top, peeled, count)
            at = 0  # a label that entered above is next
