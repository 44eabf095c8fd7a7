"""Texts to X (n, p): TF-IDF of words, of runs of words, and of runs of characters within words.

Words and characters are two parts, side by side in X, each with rows of length 1. A part holds a list of
terms and their idf; with hashing there is no list, and a term's column is its hash. Terms, counts and
hashed columns are those of scikit-learn's vectorisers; `tests/references/terms.py` compares them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import check_finite
from .._core.csr import CSRBuilder, make_csr
from .._core.errors import MLGTError
from .._core.rows import Rows, WordRows, with_words
from .._core.sparse import canonical, column_counts, row_pieces
from .._core.texts import TextsOnDisk
from . import _kernels
from .analysis import Stream, Words
from .analyzer import Analyzer
from .name_words import NameWords
from .runs import term_stream
from .spans import source_spans
from .table import KnownTerms, TermTable, pack_terms, unpack_terms
from .tfidf import smooth_idf, tf_idf, tf_idf_values

HASH_COLUMNS = 1 << 18
"""Default number of columns of a hashed part."""
_FIRST = np.zeros(1, np.int64)


@dataclass(frozen=True)
class Part:
    """One kind of term: n-grams of "words" or "characters", from `shortest` to `longest`."""

    of: str
    shortest: int
    longest: int
    terms: list[str] | None  # None if hashed
    idf: np.ndarray  # (p,) float64

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.idf)

    @property
    def of_words(self) -> bool:
        """True if terms are single words, and listed."""
        return self.of == "words" and self.longest == 1 and self.terms is not None

    def columns_of(self, words: list[str]) -> list[int]:
        """Return the column of each of a few words, if terms are `of_words`; -1 if it is unknown."""
        return self._table.columns_of(words)

    @cached_property
    def _table(self) -> KnownTerms:
        return KnownTerms(self.terms or ())

    def stream(self, words: Words) -> Stream:
        """Return the terms of texts, in order, with repetitions."""
        return term_stream(self.of, self.shortest, self.longest, words)

    def columns(self, stream: Stream) -> np.ndarray:
        """Return the column of each term of a stream; -1 if it is unknown."""
        if self.terms is not None:
            return self._table.columns(stream)
        return _hashed_columns(stream, self.n_columns)

    def rows(self, words: Words) -> sp.csr_array:
        """Return the TF-IDF rows of texts."""
        stream = self.stream(words)
        return tf_idf(_counts(stream.indptr, self.columns(stream), self.n_columns), self.idf)

    def row(self, found: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns and values of the row of one text, with a column for each of its terms."""
        counts = Counter(found)  # in a third of the time of np.unique
        del counts[-1]
        kept = sorted(counts)
        columns, own = np.array([kept, [counts[column] for column in kept]], np.int32)
        return columns, tf_idf_values(own, self.idf[columns], _FIRST, len(columns))

    def with_terms_of(self, topics: Iterable[Words], n_texts: int) -> "Part":
        """Return the part with the unknown terms of half of the texts of a topic, at least two, last.

        Their idf counts the `n_texts` of training as texts without them.
        """
        counts: dict[str, int] = {}
        for words in topics:
            table, stream = TermTable(), self.stream(words)
            columns = np.where(self.columns(stream) < 0, table.learn(stream), -1)
            found = _counts(stream.indptr, columns, len(table)).indices
            seen = np.bincount(found, minlength=len(table))
            shared = np.flatnonzero(seen >= max(2, len(words) / 2))
            for term, n in zip(table.strings(shared), seen[shared].tolist()):
                counts[term.decode("utf-8")] = max(n, counts.get(term.decode("utf-8"), 0))
        idf = 1 + np.log((1 + n_texts) / (1 + np.array([counts[term] for term in sorted(counts)])))
        return replace(self, terms=[*(self.terms or ()), *sorted(counts)], idf=np.append(self.idf, idf))


@dataclass(frozen=True)
class TextFeatures:
    """Function from texts to rows, as learnt by `learn_features`."""

    parts: Sequence[Part]
    analyzer: Analyzer = field(default_factory=Analyzer)
    names: NameWords | None = None
    """The words of label names, if they are evidence."""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return sum(part.n_columns for part in self.parts)

    def __call__(self, texts: Iterable[str]) -> Any:
        """Return X (n, p) float32, with the words of names if they are evidence; rows of texts without any
        known term are empty."""
        if (names := self.names) is None:
            return self.parts_rows(texts)
        named = []

        def noted(blocks):
            for words in blocks:
                named.append(names.rows(words))
                yield words

        X = self._stacked_rows(noted(self.analyzer.blocks(texts)))
        return with_words(X, named[0] if len(named) == 1 else WordRows.stacked(named))

    def one(self, text: str) -> Any:
        """Return the same of one text, without the cost of a sparse array."""
        part, names = self.parts[0], self.names
        plain = self.analyzer.strings(text) if len(self.parts) == 1 and part.of_words else None
        if plain is not None:
            named = None if names is None else WordRows(np.array([0, len(plain)]), names.ids(plain))
            found = part.columns_of(plain)
        else:
            words = self.analyzer.words([text])
            named = None if names is None else names.rows(words)
            if len(self.parts) > 1:
                return with_words(self.rows(words), named)
            found = part.columns(part.stream(words)).tolist()
        columns, values = part.row(found)
        return Rows(np.array([0, len(columns)], np.int32), columns, values, (1, self.n_features), named)

    def parts_rows(self, texts: Iterable[str]) -> sp.csr_array:
        """Return X (n, p) float32 alone."""
        return self._stacked_rows(self.analyzer.blocks(texts))

    def _stacked_rows(self, blocks):
        rows = [self.rows(words) for words in blocks]
        return _stacked(rows) if rows else sp.csr_array((0, self.n_features), dtype=np.float32)

    def rows(self, words: Words) -> sp.csr_array:
        """Return X (n, p) float32 of texts whose words `analyzer` found already."""
        return _side_by_side([part.rows(words) for part in self.parts])

    def with_terms_of(self, topics: Iterable[Sequence[str]], n_texts: int) -> "TextFeatures":
        """Return the features with new terms of topics, each a list of texts, after `n_texts` of training;
        the same if terms are hashed or of two kinds, whose columns stand side by side."""
        if len(self.parts) > 1 or self.parts[0].terms is None:
            return self
        part = self.parts[0].with_terms_of(map(self.analyzer.words, topics), n_texts)
        return replace(self, parts=[part])

    def terms_of(self, text: str) -> dict[int, str]:
        """Return the terms of a text by their column; terms with the same hash are joined."""
        words = self.analyzer.words([text])
        found: dict[int, dict[str, None]] = {}
        first = 0
        for part in self.parts:
            stream = part.stream(words)
            for term, column in zip(stream.strings(), part.columns(stream).tolist()):
                if column >= 0:
                    found.setdefault(first + column, {})[_shown(part, term)] = None
            first += part.n_columns
        return {column: " / ".join(terms) for column, terms in found.items()}

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Return where known terms stand in a text: (start, end, column), in characters, in order."""
        text = self.analyzer.shortened(text)
        words = self.analyzer.words([text])
        found: list[tuple[int, int, int]] = []
        first = 0
        for part in self.parts:
            stream = part.stream(words)
            columns = part.columns(stream)
            known = columns >= 0
            spans = source_spans(part.of, words, stream, text)
            found += zip(*spans[known].T.tolist(), (first + columns[known]).tolist())
            first += part.n_columns
        return sorted(span for span in found if span[0] < span[1])

    def word_spans(self, text: str) -> list[tuple[int, int]]:
        """Return where words stand in a text, known or not: (start, end), in characters, in order."""
        words = self.analyzer.words([text])
        spans = source_spans("words", words, words, text).tolist()
        return sorted({(start, end) for start, end in spans if start < end})

    def name_spans(self, text: str) -> list[tuple[int, int, int]]:
        """Return where words of label names stand in a text: (start, end, word), in order."""
        if self.names is None:
            return []
        words = self.analyzer.words([text])
        places, found = source_spans("words", words, words, text).tolist(), self.names.rows(words).words
        return [(start, end, int(word)) for (start, end), word in zip(places, found) if word >= 0]

    # The contents of a model folder.

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of a model folder, by name."""
        arrays = {}
        for part in self.parts:
            arrays[f"text/{part.of}_idf"] = part.idf
            if part.terms is not None:
                arrays[f"text/{part.of}"] = pack_terms(part.terms)
        if self.names is not None:
            arrays["text/names"] = pack_terms(self.names.terms)
        return arrays

    def to_facts(self) -> dict[str, Any]:
        """Return what the header of a model folder states about the features."""
        kinds = ("of", "shortest", "longest")
        return {
            "parts": [
                {name: getattr(part, name) for name in kinds} | {"hashed": part.terms is None}
                for part in self.parts
            ],
            **self.analyzer.to_facts(),
        }

    @classmethod
    def from_arrays(cls, facts: Mapping[str, Any], arrays: Mapping[str, Any], p: int) -> "TextFeatures":
        """Restore the features; raises unless header and arrays have p terms."""
        names = NameWords(unpack_terms(arrays, "text/names")) if "text/names" in arrays else None
        parts = [_stored_part(part, arrays) for part in facts["parts"]]
        features = cls(parts, Analyzer.from_facts(facts), names)
        if not features.parts or features.n_features != p:
            raise ValueError(f"the texts have {features.n_features} terms, but the classifier expects {p}")
        return features


def _stored_part(facts, arrays):
    of, terms = facts["of"], None
    check_finite(arrays, f"text/{of}_idf", kind=np.float64)
    idf = np.asarray(arrays[f"text/{of}_idf"])
    if not facts["hashed"]:
        terms = unpack_terms(arrays, f"text/{of}")
        if len(terms) != len(idf):
            raise ValueError(f"text/{of} is not {len(idf)} different terms")
    if not len(idf):
        raise ValueError(f"text/{of}_idf is empty; expected at least one term")
    return Part(of, facts["shortest"], facts["longest"], terms, idf)


def learn_features(
    texts: Iterable[str],
    *,
    words: int = 1,
    characters: tuple[int, int] | None = None,
    min_df: int = 1,
    max_features: int | None = None,
    hashing: bool | int = False,
    analyzer: Analyzer | None = None,
    names: NameWords | None = None,
) -> tuple[TextFeatures, Any]:
    """Learn features from training texts; return them and X (n, p), with the words of `names` if given.

    `words` is the longest run of words that is a term, 0 for none; `characters` the (shortest, longest) run
    of characters within a word. Terms in fewer than `min_df` texts are dropped, and all but the
    `max_features` most frequent of each part. `hashing` is True or the number of columns of a part.
    `analyzer` finds the words; it may replace them by stems.
    """
    kinds = [("words", 1, words)] if words else []
    kinds += [("characters", *characters)] if characters else []
    width, on_disk = (HASH_COLUMNS if hashing is True else hashing) or None, isinstance(texts, TextsOnDisk)
    counters = [_Counter(*kind, width, on_disk) for kind in kinds]
    analyzer = analyzer or Analyzer()

    def named():
        for block in analyzer.blocks(texts):
            for counter in counters:
                counter.add(block)
            if names is not None:
                yield names.rows(block)

    found = WordRows.stacked(named(), on_disk)
    for counter in counters:
        counter.finish(min_df, max_features)
    features = TextFeatures([counter.part for counter in counters], analyzer, names)
    X = CSRBuilder(on_disk, n_columns=features.n_features)
    for rows in row_pieces(counters[0].counts.indptr):
        X.append(_side_by_side([counter.rows(rows) for counter in counters]))
    return features, with_words(X.build(), None if names is None else found)


class _Counter:
    """Counts of the terms of training texts, a block of texts at a time."""

    def __init__(self, of, shortest, longest, width, on_disk):
        self.kind, self.width = (of, shortest, longest), width
        self.table, self.blocks = TermTable(), CSRBuilder(on_disk, np.int32, width or 0)

    def add(self, words):
        stream = term_stream(*self.kind, words)
        columns = _hashed_columns(stream, self.width) if self.width else self.table.learn(stream)
        self.blocks.append(_counts(stream.indptr, columns, self.width or len(self.table)))

    def finish(self, min_df, max_features):
        """Choose the terms, after all texts: `part`, and the `counts` (n, all terms)."""
        self.counts = self.blocks.build()
        if self.counts.nnz == 0:
            raise MLGTError("The texts hold no word; expected texts of words. Is it the right column?")
        self.kept, terms = slice(None), None
        if not self.width:
            self.kept = kept = self._choose(min_df, max_features)
            terms = [term.decode("utf-8") for term in self.table.strings(kept)]
        self.part = Part(*self.kind, terms, smooth_idf(self.counts, self.kept))

    def _choose(self, min_df, max_features):
        """The columns of the terms, in the order of the terms."""
        kept = np.flatnonzero(column_counts(self.counts) >= min_df)
        terms = self.table.strings(kept)
        order = sorted(range(len(terms)), key=terms.__getitem__)  # bytes sort as code points do
        kept = kept[order]
        if max_features is not None:
            totals = np.bincount(self.counts.indices, self.counts.data)[kept]
            kept = kept[np.sort(np.argsort(-totals, kind="stable")[:max_features])]
        if not len(kept):
            raise MLGTError(
                f"The texts hold no word that occurs in {min_df} or more of them; expected texts of words. "
                "Is it the right column? Pass a smaller min_df if there are few texts."
            )
        return kept

    def rows(self, rows):
        """The rows of X of a slice of the texts."""
        counts = self.counts[rows]
        return tf_idf(counts if self.width else _select(counts, self.kept), self.part.idf)


def _select(counts, kept):
    """Return the columns `kept` in their order, sorted."""
    places = np.full(counts.shape[1], -1, np.int32)
    places[kept] = np.arange(len(kept))
    return _sorted(counts.indptr, places[counts.indices], counts.data, len(kept))


def _hashed_columns(stream, width):
    columns = np.empty(len(stream.starts), np.int32)
    _kernels.hashed_columns(stream.data, stream.starts, stream.ends, width, columns)
    return columns


def _counts(indptr, columns, width):
    """Return how often each column occurs per text, (n, width) canonical; -1 is none."""
    return _sorted(indptr, columns, np.ones(len(columns), np.int32), width)


def _sorted(indptr, columns, values, width):
    """Return rows in canonical form, without columns of -1."""
    known = np.flatnonzero(columns >= 0)
    if len(known) < len(columns):
        indptr, columns, values = np.searchsorted(known, indptr), columns[known], values[known]
    rows = make_csr(values, columns, indptr, width)
    rows.sum_duplicates()  # in place
    return rows


def _stacked(blocks):
    return blocks[0] if len(blocks) == 1 else sp.csr_array(sp.vstack(blocks, format="csr"))


def _shown(part, term):
    """Quote runs of characters, which may begin or end with a blank."""
    return term if part.of == "words" else repr(term)


def _side_by_side(blocks):
    return blocks[0] if len(blocks) == 1 else canonical(sp.hstack(blocks), np.float32)
