"""Kernels that draw rows. `mlgt.data.synth.model` has the equations that the numbers refer to.

Row i draws from its own stream, a splitmix64 generator that starts at a hash of the key and i: any block of
rows can be drawn alone, in any order and thread, with the same result. The words of a label are a hash too,
so that no table of them is kept.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compile.kernels import helper, kernel

# Passing the tables to a function counts references to each array, half the time of drawing a word.
inlined = helper(forceinline=True)

WORD_CLIMB = 0.35  # probability that a word belongs to the parent node
LABEL_CLIMB = 0.15  # probability that a label comes from the parent node, not the first label's topic
BACKGROUND = 0.45  # share of words that do not depend on the labels
BACKGROUND_SHIFT = 20.0  # Zipf-Mandelbrot shift of the background words, as without stop words
LENGTH_SPREAD = 0.5  # standard deviation of the logarithm of the words per row
WORDS_PER_LABEL = 16  # size of a label's vocabulary; a node of level h has 4**h times as many words
MAX_TRIES = 30  # draws per distinct label or word before a row gets fewer of them


class Tables(NamedTuple):
    """The model: d labels at positions 0, ..., d - 1 of the tree's lowest level, and p words."""

    key: np.uint64
    cumulative: np.ndarray  # float64 (d + 1,), share of the labels before a position, eq. (1)
    guide: np.ndarray  # int32 (d + 1,), position of the share b / d, where the search begins
    ids: np.ndarray  # int32 (d,), label id at a position
    bits: np.ndarray  # int64 (H,), 2**bits[h] labels are below a node of level h; bits[0] = 0
    idf: np.ndarray  # float64 (p,)
    labels_per_row: float
    words_per_row: float
    noise: float


# ---- random numbers ----


@kernel()
def mix(x):
    """Hash 64 bits: splitmix64's output function."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def start_stream(state, key, row):
    """Set the state to the start of a row's stream."""
    state[0] = mix(key + np.uint64(row) * np.uint64(0xD1342543DE82EF95))


@kernel()
def uniform(state):
    """Draw the next number of the stream, in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(mix(state[0]) >> np.uint64(11)) * 2.0**-53


@kernel()
def poisson(state, mean):
    """Draw a Poisson number by counting arrivals; e**-mean would underflow above 745."""
    count, time = 0, -math.log(1 - uniform(state))
    while time < mean:
        count += 1
        time -= math.log(1 - uniform(state))
    return count


@kernel()
def log_normal(state, mean):
    """Draw a log-normal number of this mean; its logarithm has the standard deviation LENGTH_SPREAD."""
    radius = math.sqrt(-2 * math.log(1 - uniform(state)))
    normal = radius * math.cos(2 * math.pi * uniform(state))
    return mean * math.exp(LENGTH_SPREAD * normal - LENGTH_SPREAD**2 / 2)


# ---- the tree ----


@kernel()
def climb(state, level, top, chance):
    """Climb from `level` with the given chance per step, eq. (2); `top` is above every node."""
    while level < top and uniform(state) < chance:
        level += 1
    return level


@inlined
def label_near(tables, state, position, level):
    """Draw a label below the node of `level` above `position`, by frequency, eq. (3)."""
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
    return min(WORDS_PER_LABEL << 2 * level, p)


@inlined
def node_word(tables, level, node, j):
    """Word j of a node, a hash; every second one is a sibling's, so that siblings are similar."""
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
    """Map u in [0, 1) to a rank: P(r) ~ the integral of 1 / (x + shift) over [r, r + 1]."""
    return min(int(shift * (math.exp(u * math.log((size + shift) / shift)) - 1)), size - 1)


@kernel()
def zipf_share(rank, size, shift):
    """P(rank) of `zipf`."""
    return math.log((rank + 1 + shift) / (rank + shift)) / math.log((size + shift) / shift)


@kernel()
def word_distribution(tables):
    """(p,) share of each word among all words, eq. (5)."""
    p, d, top = tables.idf.size, tables.ids.size, tables.bits.size
    shares = np.zeros(p)
    climbing = 1 - BACKGROUND
    for level in range(top):
        size, total = 1 << tables.bits[level], n_words(level, p)
        weights = np.empty(total)
        for j in range(total):
            weights[j] = zipf_share(j, total, 1.0)
        for node in range((d + size - 1) // size):
            mass = tables.cumulative[min((node + 1) * size, d)] - tables.cumulative[node * size]
            for j in range(total):
                shares[node_word(tables, level, node, j)] += climbing * (1 - WORD_CLIMB) * mass * weights[j]
        climbing *= WORD_CLIMB
    for word in range(p):
        shares[word] += (BACKGROUND + climbing) * zipf_share(word, p, BACKGROUND_SHIFT)
    return shares


# ---- rows ----


@kernel()
def row_size(tables, state):
    """Draw the number of labels and of words of a row."""
    k = 1 + poisson(state, tables.labels_per_row - 1)
    w = log_normal(state, tables.words_per_row)
    return min(k, tables.ids.size), max(1, min(round(w), tables.idf.size))


@kernel()
def count_entries(tables, first, last):
    """Upper bounds of the labels and words in the rows first, ..., last - 1, and in one of them."""
    state = np.empty(1, np.uint64)
    labels = words = most_labels = most_words = 0
    for row in range(first, last):
        start_stream(state, tables.key, row)
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
    """Draw the positions of k distinct labels near the first; return how many were found."""
    top = tables.bits.size
    out[0] = label_near(tables, state, 0, top)
    found, level = 1, climb(state, 1, top, LABEL_CLIMB)
    for _ in range(MAX_TRIES * k):
        if found == k:
            break
        label = label_near(tables, state, out[0], level)
        if contains(out[:found], label):
            level = min(level + 1, top)  # the node may be exhausted
        else:
            out[found] = label
            found += 1
            level = climb(state, 1, top, LABEL_CLIMB)
    return found


@kernel()
def observe_labels(tables, state, labels, out):
    """Fill the observed label ids: with the chance `noise` another label of the topic replaces one."""
    top = tables.bits.size
    for i in range(labels.size):
        out[i] = tables.ids[labels[i]]
    for i in range(labels.size):
        if uniform(state) < tables.noise:
            level = climb(state, 1, top, LABEL_CLIMB)
            other = tables.ids[label_near(tables, state, labels[0], level)]
            if not contains(out, other):
                out[i] = other
    out.sort()


@inlined
def draw_word(tables, state, labels):
    """Draw one word of a row with these labels, eq. (4)."""
    p, top = tables.idf.size, tables.bits.size
    if uniform(state) >= BACKGROUND:
        label = labels[int(uniform(state) * labels.size)]
        if uniform(state) < tables.noise:
            label = label_near(tables, state, 0, top)
        level = climb(state, 0, top, WORD_CLIMB)
        if level < top:
            j = zipf(uniform(state), n_words(level, p), 1.0)
            return node_word(tables, level, label >> tables.bits[level], j)
    return zipf(uniform(state), p, BACKGROUND_SHIFT)


@kernel()
def draw_rows(tables, first, label_ptr, label_ids, word_ptr, words, values, most_labels, most_words):
    """Fill the CSR arrays of rows first, first + 1, ...; `count_entries` has the sizes to allocate."""
    state = np.empty(1, np.uint64)
    labels = np.empty(most_labels, np.int64)
    counts = np.zeros(tables.idf.size, np.int32)
    for i in range(label_ptr.size - 1):
        start_stream(state, tables.key, first + i)
        k, w = row_size(tables, state)
        at, start = label_ptr[i], word_ptr[i]
        k = draw_labels(tables, state, labels, k)
        observe_labels(tables, state, labels[:k], label_ids[at : at + k])
        end = start
        for _ in range(MAX_TRIES * w):
            if end - start == w:
                break
            word = draw_word(tables, state, labels[:k])
            if counts[word] == 0:
                words[end] = word
                end += 1
            counts[word] += 1
        words[start:end].sort()
        tf_idf_values(tables.idf, words[start:end], counts, values[start:end])
        label_ptr[i + 1], word_ptr[i + 1] = at + k, end


@kernel()
def tf_idf_values(idf, words, counts, values):
    """Fill (1 + ln count) idf, scaled to length 1, with 4 digits, eq. (6); counts are reset to 0."""
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


POWERS = 10.0 ** np.arange(23)  # exact: a quotient is rounded once, as by a reader of the text


@kernel()
def four_digits(value):
    """(mantissa, places): value ~ mantissa / 10**places with 4 significant digits, for 0 < value <= 1."""
    places = 3
    while value * POWERS[places] < 1000 and places < 22:
        places += 1
    return int(value * POWERS[places] + 0.5), places
