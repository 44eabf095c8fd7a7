"""Names as evidence (ours): how much of a label's name stands in the text of a row.

    name(l, x) = r_l max over the names of l of  |words in name and x|^2 / |words in name|             (1)

    |words| = sum of log((1 + n) / (1 + n_w)) + MIN_IDF,     r_l = 1 / (1 + log(1 + n_l))             (2)

for words w in n_w of the n training rows and a label with n_l of them: what a label is called matters most
where few rows show what it means. Beside (1), the blend has the *phrase*, (1) where the words of the name
follow each other in the text, else 0, and *unseen*, 1 for a label without any training row. The N_NAMED
labels of the best name scores join the candidates. Names are matched to the words of the text itself, not
to the terms of the features, among which the words of rare labels are missing.

A name also is a short text about its label. It joins the rows that make the centroid of the label,

    centroid_l ~ centroid_l + name_l / sqrt(1 + n_l),                                                (3)

both of length 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import (
    Arrays,
    Stored,
    array_names,
    check_finite,
    check_ids,
    check_pointers,
    check_shapes,
)
from .._core.csr import CSRBuilder
from .._core.memory import is_mapped
from .._core.rows import WordRows, as_csr, scale_rows
from .._core.space import minus_ones, zeros
from .._core.sparse import row_pieces
from ..text import FeatureWords
from . import _name_kernels as _kernels
from .centroids import unit_rows

MIN_IDF = 0.1
N_NAMED = 20
"""Candidates by name per row."""


@dataclass(frozen=True)
class NameIndex(Stored):
    """The names of d labels as sequences of words: name i is words[indptr[i] : indptr[i + 1]]."""

    indptr: np.ndarray  # (N + 1,) int64
    words: np.ndarray  # int32
    owner: np.ndarray  # (N,) int32, the label of each name, ascending
    idf: np.ndarray  # (q,) float32
    counts: np.ndarray  # (d,) int64, training rows of each label

    ARRAYS = array_names("indptr", "words", "owner", "idf")

    @classmethod
    def build(
        cls, names: Sequence[Sequence[Sequence[int]]], rows: WordRows, counts: np.ndarray
    ) -> "NameIndex":
        """An index of the names of each label, given as word ids, for training rows."""
        q = 1 + max((word for own in names for name in own for word in name), default=-1)
        n = len(rows.indptr) - 1
        idf = np.log((1 + n) / (1 + rows.row_counts(q))) + MIN_IDF
        return cls.of(names, idf, counts)

    @classmethod
    def of(
        cls, names: Sequence[Sequence[Sequence[int]]], idf: np.ndarray, counts: np.ndarray
    ) -> "NameIndex":
        """An index of the names of each label, given as ids of words with this idf (q,)."""
        flat = [(label, name) for label, own in enumerate(names) for name in own if len(name)]
        return cls(
            indptr=np.concatenate([[0], np.cumsum([len(name) for _, name in flat])]).astype(np.int64),
            words=np.array([word for _, name in flat for word in name], np.int32),
            owner=np.array([label for label, _ in flat], np.int32),
            idf=idf.astype(np.float32),
            counts=counts,
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays, counts: np.ndarray) -> "NameIndex":
        """Raise unless the arrays are names of labels with these counts."""
        check_finite(arrays, "idf")
        check_ids(arrays, "words", len(arrays["idf"]))
        check_ids(arrays, "owner", len(counts))
        check_pointers(arrays, "indptr", len(arrays["owner"]), len(arrays["words"]))
        check_shapes(arrays, owner=(len(arrays["indptr"]) - 1,))
        lengths, owner = np.diff(arrays["indptr"]), arrays["owner"]
        if not (lengths > 0).all() or (np.diff(owner) < 0).any() or not (arrays["idf"] > 0).all():
            raise ValueError("names are not words of positive idf, by label")
        return cls(arrays["indptr"], arrays["words"], owner, arrays["idf"], counts)

    @cached_property
    def facts(self) -> np.ndarray:
        """(2 N,) float32: of each name the idf of all its words, and r_l of eq. (2) of its label."""
        total = np.add.reduceat(self.idf[self.words], self.indptr[:-1])
        rarity = 1 / (1 + np.log1p(self.counts))
        return np.stack([total, rarity[self.owner]], axis=1).astype(np.float32).ravel()

    @cached_property
    def by_word(self) -> tuple[np.ndarray, np.ndarray]:
        """(indptr, names): the names with each word, as often as they have it."""
        name = np.repeat(np.arange(len(self.owner), dtype=np.int32), np.diff(self.indptr))
        lengths = np.bincount(self.words, minlength=len(self.idf))
        order = np.argsort(self.words, kind="stable")
        return np.concatenate([[0], np.cumsum(lengths)]), name[order]

    @cached_property
    def by_label(self) -> np.ndarray:
        """(d + 1,) int64: the names of label l are by_label[l] .. by_label[l + 1]."""
        return np.searchsorted(self.owner, np.arange(len(self.counts) + 1)).astype(np.int64)

    def best(self, rows: WordRows, count: int = N_NAMED) -> np.ndarray:
        """(n, count) labels of the largest name scores, eq. (1), best first; padded with -1."""
        labels = np.empty((len(rows.indptr) - 1, count), np.int64)
        _kernels.best_named(
            rows.indptr, rows.words, *self.by_word, self.idf, self.facts, self.owner,
            minus_ones(len(self.idf)), zeros(len(self.owner)), np.empty(len(self.owner) + 1, np.int32),
            np.empty(count, np.float32), labels,
        )  # fmt: skip
        return labels

    def scores(self, rows: WordRows, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(name, phrase), each (n, K) float32, of the labels (n, K); 0 where there is none (-1)."""
        name, phrase = np.empty(labels.shape, np.float32), np.empty(labels.shape, np.float32)
        _kernels.score_names(
            rows.indptr, rows.words, self.idf, self.facts, self.indptr, self.words, self.by_label,
            minus_ones(len(self.idf)), np.ascontiguousarray(labels), name, phrase,
        )  # fmt: skip
        return name, phrase

    def words_of(self, label: int) -> set[int]:
        """The words of all names of a label."""
        first, last = self.indptr[self.by_label[label]], self.indptr[self.by_label[label + 1]]
        return set(self.words[first:last].tolist())

    def unseen(self, labels: np.ndarray) -> np.ndarray:
        """(n, K) float32: 1 for labels without a training row."""
        return np.where(labels >= 0, self.counts[labels] == 0, False).astype(np.float32)


@dataclass(frozen=True)
class LabelNames:
    """What training knows of names."""

    names: Sequence[Sequence[Sequence[int]]]
    """The names of each label as word ids."""
    rows: WordRows
    """The words of the training rows."""
    vectors: sp.csr_array  # (d, p), the names as rows of features

    def scaled(self, power: float, unit: bool) -> "LabelNames":
        """The same names, as rows that are scaled like those of training."""
        return replace(self, vectors=scale_rows(self.vectors, power, unit))

    def index(self, counts: np.ndarray) -> NameIndex:
        """The index of labels with these numbers of training rows."""
        return NameIndex.build(self.names, self.rows, counts)


def matched_words(X: Any, index: NameIndex | None, features: FeatureWords | None) -> WordRows | None:
    """The words of names in rows as callers have them: their own, or those of their features; None if names
    are no evidence."""
    if index is None or features is None:
        return None if index is None else getattr(X, "words", None)
    return features.rows(as_csr(X))


def name_centroids(centroids: sp.csr_array, names: sp.csr_array, counts: np.ndarray) -> sp.csr_array:
    """Eq. (3) for centroids and names (d, p), CSR, rows of length 1 or empty."""
    share = sp.diags_array((1 / np.sqrt(1 + counts)).astype(np.float32)) @ names
    built = CSRBuilder(is_mapped(centroids.data), n_columns=centroids.shape[1])
    for labels in row_pieces(centroids.indptr):
        built.append(unit_rows(sp.csr_array(centroids[labels] + share[labels])))
    return built.build()
