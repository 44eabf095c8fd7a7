"""Words of label names, and where they stand in texts or rows.

A text becomes the sequence of its words as ids, -1 for a word that no name has. Words are compared as the
analyzer finds them, without a plural s; which helps as much as stemming does, and harms no language.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays, Stored, array_names, check_kind, check_pointers
from .._core.rows import WordRows
from .analysis import Stream, Words
from .analyzer import Analyzer
from .table import KnownTerms, TermTable, is_few

MIN_PLURAL = 4
"""Bytes of the shortest word that may lose its s."""


def singular(words: Stream) -> Stream:
    """The words without a plural s: not of short ones, and not of those that end in ss."""
    starts, ends, data = words.starts, words.ends, words.data
    plural = (ends - starts >= MIN_PLURAL) & (data[ends - 1] == ord("s")) & (data[ends - 2] != ord("s"))
    return Stream(words.indptr, starts, ends - plural, data)


def _singular(word):
    """The same for one word."""
    if word[-1] != "s" or word[-2:] == "ss" or len(word.encode("utf-8")) < MIN_PLURAL:
        return word
    return word[:-1]


@dataclass(frozen=True)
class NameWords:
    """The words of all names; the id of a word is its place."""

    terms: list[str]

    @classmethod
    def learn(
        cls, names: Sequence[Sequence[str]], analyzer: Analyzer, known: Sequence[str] = ()
    ) -> tuple["NameWords", list[list[list[int]]]]:
        """(words, the names of each label as their ids); words that are `known` keep their ids."""
        table, ids, ends = TermTable.of(known), [], [0]
        for block in analyzer.blocks(name for own in names for name in own):
            ids += table.learn(singular(block)).tolist()
            ends += (ends[-1] + block.indptr[1:]).tolist()
        every = iter([ids[first:last] for first, last in pairwise(ends)])
        sequences = [[next(every) for _ in own] for own in names]
        terms = [term.decode("utf-8") for term in table.strings(np.arange(len(table)))]
        return cls(terms), sequences

    @cached_property
    def _table(self):
        return KnownTerms(self.terms)

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """The ids of a few words."""
        return np.array(self._table.columns_of(map(_singular, words)), np.int32)

    def rows(self, words: Words) -> WordRows:
        """The words of texts that `analyzer` found, as ids."""
        if is_few(words):
            return WordRows(words.indptr, self.ids(words.strings()))
        return WordRows(words.indptr, self._table.columns(singular(words)))


@dataclass(frozen=True)
class FeatureWords(Stored):
    """Name words of features that have names: those of feature j are words[indptr[j] : indptr[j + 1]]."""

    indptr: np.ndarray  # (p + 1,) int64
    words: np.ndarray  # int32, -1 for a word of no name

    ARRAYS = array_names("indptr", "words")

    @classmethod
    def learn(cls, feature_names: Sequence[str], names: NameWords, analyzer: Analyzer) -> "FeatureWords":
        """The words of feature names; a feature without any has one that no name has."""
        pieces = [names.rows(block) for block in analyzer.blocks(feature_names)]
        lengths = np.concatenate([np.diff(piece.indptr) for piece in pieces])
        words = np.concatenate([piece.words for piece in pieces])
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return cls(indptr, words)

    @classmethod
    def from_arrays(cls, arrays: Arrays, p: int, n_words: int) -> "FeatureWords":
        """Raise unless the arrays are words of p features."""
        check_kind(arrays, "words", np.int32)
        check_pointers(arrays, "indptr", p, len(arrays["words"]))
        words = arrays["words"]
        if len(words) and not -1 <= words.min() <= words.max() < n_words:
            raise ValueError(f"words has ids outside -1 .. {n_words - 1}")
        return cls(arrays["indptr"], words)

    @property
    def matched(self) -> bool:
        """True if some feature has a word of a name."""
        return bool(self.words.max(initial=-1) >= 0)

    def rows(self, X: sp.csr_array) -> WordRows:
        """The words of the features of each row of X (n, p), those of different features apart."""
        lengths = np.diff(self.indptr)[X.indices] + 1
        starts = np.concatenate([[0], np.cumsum(lengths)])
        words = np.full(starts[-1], -1, np.int32)
        inside = np.ones(starts[-1], bool)
        inside[starts[1:] - 1] = False  # a gap after each feature
        first = np.repeat(self.indptr[:-1][X.indices] - starts[:-1], lengths)[inside]
        words[inside] = self.words[first + np.flatnonzero(inside)]
        return WordRows(starts[X.indptr], words)
