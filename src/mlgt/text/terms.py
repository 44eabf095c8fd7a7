"""Texts to X (n, p): TF-IDF of words, of runs of words, and of runs of characters within words.

Words and characters are two parts, side by side in X, each with rows of length 1. A part holds a list of
terms and their idf; with hashing there is no list, and a term's column is its hash. scikit-learn counts the
terms, but none of its objects are stored, so that a model folder needs no pickle.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import check_finite, check_kind
from .._core.errors import MLGTError
from .._core.sparse import canonical
from .._core.validation import check_count, check_unused
from .analysis import normal_form, word_pattern
from .tfidf import smooth_idf, tf_idf

HASH_COLUMNS = 1 << 18
"""Default number of columns of a hashed part."""
NO_TERMS = ("empty vocabulary", "no terms remain", "documents than min_df")
"""Parts of scikit-learn's messages when no term is left."""


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

    @cached_property
    def counter(self) -> Any:
        """scikit-learn's vectoriser that counts the terms."""
        return _make_counter(self.of, self.shortest, self.longest, self.n_columns, vocabulary=self.terms)

    @cached_property
    def analyse(self) -> Callable[[str], list[str]]:
        """Function that returns the terms of a text, in order, with repetitions."""
        return self.counter.build_analyzer()

    def rows(self, texts: Iterable[str]) -> sp.csr_array:
        """Return the TF-IDF rows of texts."""
        return tf_idf(canonical(self.counter.transform(texts)), self.idf)

    def with_terms_of(self, topics: Iterable[Sequence[str]], n_texts: int) -> "Part":
        """Return the part with the unknown terms of half of the texts of a topic, at least two, last.

        Their idf counts the `n_texts` of training as texts without them.
        """
        known, counts = self.counter.vocabulary_, dict[str, int]()
        for texts in topics:
            found = Counter(term for text in texts for term in {*self.analyse(text)} if term not in known)
            shared = {term: n for term, n in found.items() if n >= max(2, len(texts) / 2)}
            counts |= {term: max(n, counts.get(term, 0)) for term, n in shared.items()}
        idf = 1 + np.log((1 + n_texts) / (1 + np.array([counts[term] for term in sorted(counts)])))
        return replace(self, terms=[*(self.terms or ()), *sorted(counts)], idf=np.append(self.idf, idf))

    def columns(self, terms: Sequence[str]) -> np.ndarray:
        """Return the column of each term; -1 if it is unknown."""
        if self.terms is None:
            from sklearn.feature_extraction import FeatureHasher

            hasher = FeatureHasher(self.n_columns, input_type="string", alternate_sign=False)
            return hasher.transform([[term] for term in terms]).indices if terms else np.empty(0, int)
        return np.array([self.counter.vocabulary_.get(term, -1) for term in terms], int)


@dataclass(frozen=True)
class TextFeatures:
    """Function from texts to rows, as learnt by `learn_features`."""

    parts: Sequence[Part]

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return sum(part.n_columns for part in self.parts)

    def __call__(self, texts: Iterable[str]) -> sp.csr_array:
        """Return X (n, p) float32; rows of texts without any known term are empty."""
        texts = texts if len(self.parts) == 1 else list(texts)
        return _side_by_side([part.rows(texts) for part in self.parts])

    def with_terms_of(self, topics: Iterable[Sequence[str]], n_texts: int) -> "TextFeatures":
        """Return the features with new terms of topics, each a list of texts, after `n_texts` of training;
        the same if terms are hashed or of two kinds, whose columns stand side by side."""
        if len(self.parts) > 1 or self.parts[0].terms is None:
            return self
        return TextFeatures([self.parts[0].with_terms_of(topics, n_texts)])

    def terms_of(self, text: str) -> dict[int, str]:
        """Return the terms of a text by their column; terms with the same hash are joined."""
        found: dict[int, list[str]] = {}
        first = 0
        for part in self.parts:
            terms = list(dict.fromkeys(part.analyse(text)))
            for term, column in zip(terms, part.columns(terms).tolist()):
                if column >= 0:
                    found.setdefault(first + column, []).append(_shown(part, term))
            first += part.n_columns
        return {column: " / ".join(terms) for column, terms in found.items()}

    # The contents of a model folder.

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of a model folder, by name."""
        arrays = {}
        for part in self.parts:
            arrays[f"text/{part.of}_idf"] = part.idf
            if part.terms is not None:
                listed = json.dumps(part.terms, ensure_ascii=False).encode("utf-8")
                arrays[f"text/{part.of}"] = np.frombuffer(listed, np.uint8)
        return arrays

    @classmethod
    def from_arrays(cls, facts: list[dict[str, Any]], arrays: Mapping[str, Any], p: int) -> "TextFeatures":
        """Restore the features; raises unless header and arrays have p terms."""
        features = cls([_stored_part(part, arrays) for part in facts])
        if not features.parts or features.n_features != p:
            raise ValueError(f"the texts have {features.n_features} terms, but the classifier expects {p}")
        return features


def _stored_part(facts, arrays):
    of, terms = facts["of"], None
    check_finite(arrays, f"text/{of}_idf", kind=np.float64)
    idf = np.asarray(arrays[f"text/{of}_idf"])
    if not facts["hashed"]:
        check_kind(arrays, f"text/{of}", np.uint8)
        terms = _stored_terms(arrays[f"text/{of}"].tobytes())
        if terms is None or len(terms) != len(idf) or len(set(terms)) != len(terms):
            raise ValueError(f"text/{of} is not {len(idf)} different terms")
    if not len(idf):
        raise ValueError(f"text/{of}_idf is empty; expected at least one term")
    return Part(of, facts["shortest"], facts["longest"], terms, idf)


def _stored_terms(listed):
    """Return the terms of a JSON list of texts that can be encoded again, or None if it is none."""
    try:
        terms = json.loads(listed.decode("utf-8"))
    except RecursionError:
        return None
    if not isinstance(terms, list) or not all(type(term) is str for term in terms):
        return None
    "".join(terms).encode("utf-8")  # raises on half of a surrogate pair
    return terms


def check_term_options(words: Any, characters: Any, min_df: Any, max_features: Any, hashing: Any) -> None:
    """Raise unless the options of `learn_features` are right and go together; `min_df` may be "auto"."""
    if words != 0:
        check_count("words", words)
    if min_df != "auto":
        check_count("min_df", min_df)
    if max_features is not None:
        check_count("max_features", max_features)
    if characters is not None:
        try:
            shortest, longest = (check_count("characters", length) for length in characters)
            if shortest > longest:
                raise ValueError
        except (TypeError, ValueError):
            raise ValueError(
                f"characters={characters!r} must be two whole numbers, the shortest and the longest run, "
                "like (3, 5); or None."
            ) from None
    if not words and characters is None:
        raise ValueError("words=0 and characters=None leave no terms; give one of them.")
    if not isinstance(hashing, (bool, np.bool_)):
        check_count("hashing", hashing)
    if hashing:
        check_unused("with hashing", min_df=min_df, max_features=max_features)


def learn_features(
    texts: Iterable[str],
    *,
    words: int = 1,
    characters: tuple[int, int] | None = None,
    min_df: int = 1,
    max_features: int | None = None,
    hashing: bool | int = False,
) -> tuple[TextFeatures, sp.csr_array]:
    """Learn features from training texts; return them and X (n, p).

    `words` is the longest run of words that is a term, 0 for none; `characters` the (shortest, longest) run
    of characters within a word. Terms in fewer than `min_df` texts are dropped, and all but the
    `max_features` most frequent of each part. `hashing` is True or the number of columns of a part.
    """
    kinds = [("words", 1, words)] if words else []
    kinds += [("characters", *characters)] if characters else []
    texts = texts if len(kinds) == 1 else list(texts)
    parts, blocks = [], []
    for of, shortest, longest in kinds:
        width = (HASH_COLUMNS if hashing is True else hashing) if hashing else None
        counter = _make_counter(of, shortest, longest, width, min_df=min_df, max_features=max_features)
        counts = canonical(_count(counter, texts, min_df))
        terms = None if hashing else counter.get_feature_names_out().tolist()
        parts.append(Part(of, shortest, longest, terms, smooth_idf(counts)))
        blocks.append(tf_idf(counts, parts[-1].idf))
    return TextFeatures(parts), _side_by_side(blocks)


def _count(counter, texts, min_df):
    try:
        counts = counter.fit_transform(texts)
    except ValueError as error:
        if any(words in str(error) for words in NO_TERMS):
            raise MLGTError(
                f"The texts hold no word that occurs in {min_df} or more of them; expected texts of words. "
                "Is it the right column? Pass a smaller min_df if there are few texts."
            ) from None
        raise
    if counts.nnz == 0:
        raise MLGTError("The texts hold no word; expected texts of words. Is it the right column?")
    return counts


def _make_counter(of, shortest, longest, width, *, vocabulary=None, min_df=1, max_features=None):
    """Make scikit-learn's vectoriser of counts: hashed to `width`, with a vocabulary, or to learn one."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    options = {
        "preprocessor": normal_form,
        "token_pattern": word_pattern() if of == "words" else None,
        "analyzer": "word" if of == "words" else "char_wb",
        "ngram_range": (shortest, longest),
    }
    if vocabulary is None and width is not None:
        return HashingVectorizer(**options, n_features=width, alternate_sign=False, norm=None)
    if vocabulary is not None:
        counter = CountVectorizer(**options, vocabulary=vocabulary)
        counter._validate_vocabulary()  # now, so that threads do not do it at the same time
        return counter
    return CountVectorizer(**options, min_df=min_df, max_features=max_features)


def _shown(part, term):
    """Quote runs of characters, which may begin or end with a blank."""
    return term if part.of == "words" else repr(term)


def _side_by_side(blocks):
    return blocks[0] if len(blocks) == 1 else canonical(sp.hstack(blocks), np.float32)
