"""Rows drawn from the model, compiled. `mlgt.synth.model` has the equations; numbers refer to them.

Row i draws from a stream of its own, a splitmix64 generator that starts at a hash of the key and i: any
block of rows can be drawn alone, in any order and thread, and is the same. The words of a label are a hash
too, so that no table of them is kept.
"""

import math
from typing import NamedTuple

import numpy as np

from ..._core.compile import kernel

# A call that hands over the tables counts references to each array: half the time of drawing a word.
inlined = kernel(inline="always")

CLIMB = 0.35  # the chance that a word is a parent node's
STRAY = 0.15  # the chance that a label is from a parent node, not the first label's topic
BACKGROUND = 0.45  # the share of words that say nothing about the labels
COMMON = 20.0  # Zipf-Mandelbrot shift of the background words: stop words are gone
SPREAD = 0.5  # standard deviation of the logarithm of the words a row
OWN_WORDS = 16  # of a label; a node of level h has 4**h times as many
TRIES = 30  # draws of one more distinct label or word before a row makes do with fewer


class Tables(NamedTuple):
    """What the rows are drawn from: d labels at positions 0, ..., d - 1 of the tree's lowest level."""

    key: np.uint64
    cumulative: np.ndarray  # float64 (d + 1,): share of the labels before a position, eq. (1)
    guide: np.ndarray  # int32 (d + 1,): the position where the share b / d falls, to search from
    ids: np.ndarray  # int32 (d,): the label id at a position
    bits: (
        np.ndarray
    )  # int64 (H,): 2**bits[h] labels are below a node of level h; bits[0] = 0, the label itself
    idf: np.ndarray  # float64 (p,)
    labels_per_row: float
    words_per_row: float
    noise: float


# ---- random numbers ----


@kernel()
def mix(x):
    """A hash of 64 bits: splitmix64's output function."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def begin(state, key, row):
    """Start the stream of a row."""
    state[0] = mix(key + np.uint64(row) * np.uint64(0xD1342543DE82EF95))


@kernel()
def uniform(state):
    """The next number of the stream, in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(mix(state[0]) >> np.uint64(11)) * 2.0**-53


@kernel()
def poisson(state, mean):
    """By counting arrivals; `mean` is small, or the time is: e**-mean would be 0 past 745."""
    count, time = 0, -math.log(1 - uniform(state))
    while time < mean:
        count += 1
        time -= math.log(1 - uniform(state))
    return count


@kernel()
def log_normal(state, mean):
    """Of this mean, the logarithm has the standard deviation SPREAD."""
    radius = math.sqrt(-2 * math.log(1 - uniform(state)))
    normal = radius * math.cos(2 * math.pi * uniform(state))
    return mean * math.exp(SPREAD * normal - SPREAD**2 / 2)


# ---- the tree ----


@kernel()
def climb(state, level, top, chance):
    """Up the tree while a coin says so, eq. (2); `top` is above every node."""
    while level < top and uniform(state) < chance:
        level += 1
    return level


@inlined
def label_near(tables, state, position, level):
    """A label below the node of `level` above `position`, by frequency, eq. (3)."""
    d, share = tables.ids.size, tables.cumulative
    low, high = 0, d
    if level < tables.bits.size:
        low = position >> tables.bits[level] << tables.bits[level]
        high = min(low + (1 << tables.bits[level]), d)
    target = share[low] + uniform(state) * (share[high] - share[low])
    bucket = min(int(target * d), d - 1)
    low, high = tables.guide[bucket], tables.guide[bucket + 1] + 1
    while high - low > 1:
        middle = (low + high) // 2
        if share[middle] <= target:
            low = middle
        else:
            high = middle
    return low


@kernel()
def n_words(level, p):
    return min(OWN_WORDS << 2 * level, p)


@inlined
def node_word(tables, level, node, j):
    """Word j of a node: a hash; every second is taken from a sibling, so that siblings look alike."""
    code = _hash(tables.key, level, node, j)
    if level + 1 < tables.bits.size and code & np.uint64(1):
        siblings = 1 << (tables.bits[level + 1] - tables.bits[level])
        code = _hash(tables.key, level, node ^ (np.int64(code >> np.uint64(32)) & (siblings - 1)), j)
    return np.int64(((code >> np.uint64(32)) * np.uint64(tables.idf.size)) >> np.uint64(32))


@kernel()
def _hash(key, level, node, j):
    place = np.uint64(node) * np.uint64(0x9FB21C651E98DF25) + np.uint64(j) * np.uint64(0xC2B2AE3D27D4EB4F)
    return mix(mix(key ^ np.uint64(level + 1)) + place)


@kernel()
def zipf(u, size, shift):
    """The rank where u in [0, 1) falls: P(r) ~ the integral of 1 / (x + shift) over [r, r + 1]."""
    return min(int(shift * (math.exp(u * math.log((size + shift) / shift)) - 1)), size - 1)


@kernel()
def zipf_share(rank, size, shift):
    """P(rank) of the above."""
    return math.log((rank + 1 + shift) / (rank + shift)) / math.log((size + shift) / shift)


@kernel()
def word_distribution(tables):
    """(p,) the share of each word among all words that are written, eq. (5)."""
    p, d, top = tables.idf.size, tables.ids.size, tables.bits.size
    shares = np.zeros(p)
    climbing = 1 - BACKGROUND
    for level in range(top):
        size, total = 1 << tables.bits[level], n_words(level, p)
        weights = np.array([zipf_share(j, total, 1.0) for j in range(total)])
        for node in range((d + size - 1) // size):
            mass = tables.cumulative[min((node + 1) * size, d)] - tables.cumulative[node * size]
            for j in range(total):
                shares[node_word(tables, level, node, j)] += climbing * (1 - CLIMB) * mass * weights[j]
        climbing *= CLIMB
    for word in range(p):
        shares[word] += (BACKGROUND + climbing) * zipf_share(word, p, COMMON)
    return shares


# ---- rows ----


@kernel()
def row_size(tables, state):
    """How many labels and words a row asks for."""
    k = 1 + poisson(state, tables.labels_per_row - 1)
    w = log_normal(state, tables.words_per_row)
    return min(k, tables.ids.size), max(1, min(round(w), tables.idf.size))


@kernel()
def most_entries(tables, first, last):
    """At most so many labels and words are in the rows first, ..., last - 1; and in one of them."""
    state = np.empty(1, np.uint64)
    labels = words = most_labels = most_words = 0
    for row in range(first, last):
        begin(state, tables.key, row)
        k, w = row_size(tables, state)
        labels, words = labels + k, words + w
        most_labels, most_words = max(most_labels, k), max(most_words, w)
    return labels, words, most_labels, most_words


@kernel()
def contains(labels, label):
    for other in labels:  # noqa: SIM110, numba compiles no generators
        if other == label:
            return True
    return False


@kernel()
def draw_labels(tables, state, out, k):
    """Positions of k distinct labels near the first; returns how many were found."""
    top = tables.bits.size
    out[0] = label_near(tables, state, 0, top)
    found, level = 1, climb(state, 1, top, STRAY)
    for _ in range(TRIES * k):
        if found == k:
            break
        label = label_near(tables, state, out[0], level)
        if contains(out[:found], label):
            level = min(level + 1, top)  # this node is exhausted, or nearly: look further
        else:
            out[found] = label
            found += 1
            level = climb(state, 1, top, STRAY)
    return found


@kernel()
def blur_labels(tables, state, labels, out):
    """The label ids that are told: with the chance `noise` another of its topic in place of a label."""
    top = tables.bits.size
    for i in range(labels.size):
        out[i] = tables.ids[labels[i]]
    for i in range(labels.size):
        if uniform(state) < tables.noise:
            level = climb(state, 1, top, STRAY)
            other = tables.ids[label_near(tables, state, labels[0], level)]
            if not contains(out, other):
                out[i] = other
    out.sort()


@inlined
def draw_word(tables, state, labels):
    """One word of a row with these labels, eq. (4)."""
    p, top = tables.idf.size, tables.bits.size
    if uniform(state) >= BACKGROUND:
        label = labels[int(uniform(state) * labels.size)]
        if uniform(state) < tables.noise:
            label = label_near(tables, state, 0, top)
        level = climb(state, 0, top, CLIMB)
        if level < top:
            j = zipf(uniform(state), n_words(level, p), 1.0)
            return node_word(tables, level, label >> tables.bits[level], j)
    return zipf(uniform(state), p, COMMON)


@kernel()
def draw_rows(tables, first, label_ptr, label_ids, word_ptr, words, values, most_labels, most_words):
    """Fill the CSR arrays of rows first, first + 1, ...; the arrays are as large as `most_entries` says."""
    state = np.empty(1, np.uint64)
    labels = np.empty(most_labels, np.int64)
    counts = np.zeros(tables.idf.size, np.int32)
    for i in range(label_ptr.size - 1):
        begin(state, tables.key, first + i)
        k, w = row_size(tables, state)
        at, start = label_ptr[i], word_ptr[i]
        k = draw_labels(tables, state, labels, k)
        blur_labels(tables, state, labels[:k], label_ids[at : at + k])
        end = start
        for _ in range(TRIES * w):
            if end - start == w:
                break
            word = draw_word(tables, state, labels[:k])
            if counts[word] == 0:
                words[end] = word
                end += 1
            counts[word] += 1
        words[start:end].sort()
        weigh(tables.idf, words[start:end], counts, values[start:end])
        label_ptr[i + 1], word_ptr[i + 1] = at + k, end


@kernel()
def weigh(idf, words, counts, values):
    """(1 + ln count) idf, scaled to length 1, of 4 digits, eq. (6); counts are set back to 0."""
    total = 0.0
    for i in range(words.size):
        value = (1 + math.log(counts[words[i]])) * idf[words[i]]
        values[i] = value
        total += value * value
        counts[words[i]] = 0
    norm = math.sqrt(total)
    for i in range(words.size):
        mantissa, places = four_digits(values[i] / norm)
        values[i] = mantissa / POWERS[places]


POWERS = 10.0 ** np.arange(23)  # exact, so that a quotient is rounded once, as a reader of the text does


@kernel()
def four_digits(value):
    """(mantissa, places): value ~ mantissa / 10**places of 4 significant digits, for 0 < value <= 1."""
    places = 3
    while value * POWERS[places] < 1000 and places < 22:
        places += 1
    return int(value * POWERS[places] + 0.5), places
