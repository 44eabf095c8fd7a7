"""Model of an extreme multilabel text collection. docs/synth.md says how it differs from real data.

Labels are on the lowest level of a tree, level 0. A node of level h covers 2**bits[h] neighbouring labels.

    share of the label of rank r      pi(r) ~ 1 / (r + shift), r = 1, ..., d                             (1)
    climbing                          from a node to its parent with a given chance, and so on           (2)
    labels of a row                   the first ~ pi; each further one ~ pi among the labels below the
                                      node that a climb from the first one's topic, of level 1, ends at  (3)
    a word of a row                   with the chance BACKGROUND, a Zipf-distributed background word;
                                      else climb from a random label of the row, from level 0, and take
                                      a Zipf-distributed one of the node's words; past the root,
                                      a background word again                                            (4)
    share of a word, over all rows    q(w), the sum of (4) over the tree, exactly                        (5)
    value of a word in a row          (1 + ln count) idf(w), rows of length 1, 4 significant digits      (6)

By (3) every label of a row is distributed as pi: the tree keeps the power law, except that the labels of a
row are distinct. Related labels are similarly frequent: ranks are those of sums of normal numbers, one for
each node above a label. With the chance `noise` a label is replaced by another, drawn by (3), and a word is
drawn for another label, drawn from pi. Half of the words of a node are a sibling's.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._core.csr import make_csr
from .. import Dataset
from ..datasets import Split
from . import _kernels
from .shape import Shape, make_shape

TOPIC_SIZE = 4  # labels per topic (the lowest node above labels), relative to labels per row
FANOUT_BITS = 4  # logarithm of the topics below a node of level 2, and so on
WORDS_PER_BLOCK = 1 << 18  # words drawn at a time, a few MB


class Collection:
    """The rows of a synthetic data set, drawn on demand: `rows` of training, then `test_rows`.

    The same shape and seed give the same rows, in any blocks and threads.
    """

    def __init__(self, shape: Shape, seed: int = 0):
        self.shape = shape
        rng = np.random.default_rng(seed)
        bits = _bits(shape)
        cumulative = _cumulative(shape, bits, rng)
        self._tables = _kernels.Tables(
            key=np.uint64(rng.integers(2**63)),
            cumulative=cumulative,
            guide=_guide(cumulative),
            ids=rng.permutation(shape.labels).astype(np.int32),
            bits=bits,
            idf=np.zeros(shape.features),
            labels_per_row=float(shape.labels_per_row),
            words_per_row=float(shape.words_per_row),
            noise=float(shape.noise),
        )
        self._tables.idf[:] = _idf(_kernels.word_distribution(self._tables), shape)

    def draw(self, first: int, last: int) -> Dataset:
        """Draw the rows first, ..., last - 1; test rows follow the training rows."""
        n = last - first
        n_labels, n_words, *largest = _kernels.count_entries(self._tables, first, last)
        label_ptr, labels = np.zeros(n + 1, np.int64), np.empty(n_labels, np.int32)
        word_ptr, words = np.zeros(n + 1, np.int64), np.empty(n_words, np.int32)
        values = np.empty(n_words, np.float32)
        _kernels.draw_rows(self._tables, first, label_ptr, labels, word_ptr, words, values, *largest)
        ones = np.ones(label_ptr[-1], np.float32)
        return Dataset(
            X=make_csr(values[: word_ptr[-1]], words[: word_ptr[-1]], word_ptr, self.shape.features),
            Y=make_csr(ones, labels[: label_ptr[-1]], label_ptr, self.shape.labels),
        )

    def blocks(self, first: int, last: int, size: int | None = None) -> Iterator[Dataset]:
        """Draw the same rows, `size` at a time; by default as many as need a few MB."""
        size = size or max(1, int(WORDS_PER_BLOCK / self.shape.words_per_row))
        for begin in range(first, last, size):
            yield self.draw(begin, min(begin + size, last))


def make(preset: str | None = None, *, scale: float = 1.0, seed: int = 0, **changes: Any) -> Split:
    """Make a synthetic data set in memory: `train, test = make("wiki10", scale=0.1)`, or
    `make(rows=2000, features=5000, labels=500)`; further settings are those of `Shape`."""
    collection = Collection(make_shape(preset, scale, **changes), seed)
    n, total = collection.shape.rows, collection.shape.rows + collection.shape.test_rows
    return Split(collection.draw(0, n), collection.draw(n, total))


def _cumulative(shape, bits, rng):
    """(d + 1,) share of the labels before each position, eq. (1)."""
    d = shape.labels
    popularity = np.zeros(d)
    for b in bits:
        popularity += rng.standard_normal((d - 1 >> b) + 1)[np.arange(d) >> b]
    shares = np.zeros(d + 1)
    shares[1 + np.argsort(-popularity)] = 1 / (np.arange(1, d + 1) + shape.shift)
    shares = np.cumsum(shares)
    return shares / shares[-1]


def _guide(cumulative):
    """(d + 1,) position of the share b / d, b = 0, ..., d."""
    d = cumulative.size - 1
    places = np.searchsorted(cumulative, np.arange(d + 1) / d, side="right") - 1
    return np.minimum(places, d - 1).astype(np.int32)


def _bits(shape):
    """(H,) logarithms of the labels below a node of level 0, 1, ..., without the root."""
    topic = max(3, round(math.log2(TOPIC_SIZE * shape.labels_per_row)))
    return np.array([0, *range(topic, (shape.labels - 1).bit_length(), FANOUT_BITS)], np.int64)


def _idf(shares, shape):
    """1 + ln((1 + n) / (1 + n_w)), where n_w is the expected number of the n training rows with word w.

    A row of T draws from eq. (5) has w with the chance 1 - e^(-T q(w)); T is chosen so that it has
    `words_per_row` distinct words.
    """

    def has_word(draws):
        return -np.expm1(-draws * shares)

    low, high = 0.0, float(shape.words_per_row)
    while has_word(high).sum() < shape.words_per_row and high < 1e9:
        high *= 2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if has_word(middle).sum() < shape.words_per_row else (low, middle)
    return 1 + np.log((1 + shape.rows) / (1 + shape.rows * has_word(high)))
