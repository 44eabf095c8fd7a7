"""Texts -> X (n, p): TF-IDF of words, of runs of words, of runs of characters within words.

Words and characters are two parts, each with rows of length 1, side by side in X. What a part has learnt is
a list of terms and their idf; with hashing there is no list, a term's column is a hash of it. scikit-learn
counts the terms; nothing of it is kept, so that a model folder needs no pickle.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._core.errors import MLGTError
from .._core.sparse import canonical
from .analysis import normal_form, word_pattern
from .tfidf import smooth_idf, tf_idf

HASHED = 1 << 18
"""Columns of a hashed part, if not given."""


@dataclass(frozen=True)
class Part:
    """One kind of term: `of` is "words" or "characters", n-grams from `shortest` to `longest`."""

    of: str
    shortest: int
    longest: int
    terms: list[str] | None  # None: hashed
    idf: np.ndarray  # (p,) float64

    @property
    def n_columns(self):
        return len(self.idf)

    @cached_property
    def counter(self):
        return _counter(self.of, self.shortest, self.longest, self.n_columns, vocabulary=self.terms)

    @cached_property
    def analyse(self):
        """text -> its terms, in order, each as often as it occurs."""
        return self.counter.build_analyzer()

    def rows(self, texts):
        return tf_idf(canonical(self.counter.transform(texts)), self.idf)

    def columns(self, terms: Sequence[str]) -> np.ndarray:
        """The column of each term; -1 if it is unknown."""
        if self.terms is None:
            from sklearn.feature_extraction import FeatureHasher

            hasher = FeatureHasher(self.n_columns, input_type="string", alternate_sign=False)
            return hasher.transform([[term] for term in terms]).indices if terms else np.empty(0, int)
        return np.array([self.counter.vocabulary_.get(term, -1) for term in terms], int)


@dataclass(frozen=True)
class TextFeatures:
    """Makes rows of texts, as `learn_features` learnt it."""

    parts: Sequence[Part]

    @property
    def n_features(self):
        return sum(part.n_columns for part in self.parts)

    def __call__(self, texts: Iterable[str]) -> sp.csr_array:
        """X (n, p) float32; rows of texts without any known term are empty."""
        texts = texts if len(self.parts) == 1 else list(texts)
        return _side_by_side([part.rows(texts) for part in self.parts])

    def terms_of(self, text: str) -> dict[int, str]:
        """The terms of a text by their column, those that share a hashed one together."""
        found: dict[int, list[str]] = {}
        first = 0
        for part in self.parts:
            terms = list(dict.fromkeys(part.analyse(text)))
            for term, column in zip(terms, part.columns(terms).tolist()):
                if column >= 0:
                    found.setdefault(first + column, []).append(_shown(part, term))
            first += part.n_columns
        return {column: " / ".join(terms) for column, terms in found.items()}

    # What a model folder holds.

    def to_facts(self):
        kinds = ("of", "shortest", "longest")
        return [
            {name: getattr(part, name) for name in kinds} | {"hashed": part.terms is None}
            for part in self.parts
        ]

    def to_arrays(self):
        arrays = {}
        for part in self.parts:
            arrays[f"text/{part.of}_idf"] = part.idf
            if part.terms is not None:
                listed = json.dumps(part.terms, ensure_ascii=False).encode("utf-8")
                arrays[f"text/{part.of}"] = np.frombuffer(listed, np.uint8)
        return arrays

    @classmethod
    def from_arrays(cls, facts, arrays):
        """Of a model folder's header and arrays; raises when they do not fit together."""
        features = cls([_stored_part(told, arrays) for told in facts])
        if not features.parts:
            raise ValueError("there are no terms to make features of texts")
        return features


def _stored_part(told, arrays):
    of, idf, terms = told["of"], np.asarray(arrays[f"text/{told['of']}_idf"]), None
    if idf.ndim != 1 or idf.dtype != np.float64 or not np.isfinite(idf).all():
        raise ValueError(f"text/{of}_idf is not a list of finite numbers")
    if not told["hashed"]:
        terms = json.loads(arrays[f"text/{of}"].tobytes().decode("utf-8"))
        if len(terms) != len(idf) or len(set(terms)) != len(terms):
            raise ValueError(f"text/{of} is not {len(idf)} different terms")
    return Part(of, int(told["shortest"]), int(told["longest"]), terms, idf)


def learn_features(texts, *, words=1, characters=None, min_df=1, max_features=None, hashing=False):
    """(TextFeatures, X (n, p)) of training texts.

    words: the longest run of words that is a term, 0 for none. characters: (shortest, longest) run of
    characters within a word that is one, or None. Terms in fewer than `min_df` texts are left out, and all
    but the `max_features` most frequent of each part. hashing: True, or how many columns a part has.
    """
    asked = [("words", 1, words)] if words else []
    asked += [("characters", *characters)] if characters else []
    texts = texts if len(asked) == 1 else list(texts)
    parts, blocks = [], []
    for of, shortest, longest in asked:
        width = (HASHED if hashing is True else hashing) if hashing else None
        counter = _counter(of, shortest, longest, width, min_df=min_df, max_features=max_features)
        counts = canonical(_count(counter, texts, min_df))
        terms = None if hashing else counter.get_feature_names_out().tolist()
        parts.append(Part(of, shortest, longest, terms, smooth_idf(counts)))
        blocks.append(tf_idf(counts, parts[-1].idf))
    return TextFeatures(parts), _side_by_side(blocks)


_NO_TERMS = ("empty vocabulary", "no terms remain", "documents than min_df")
"""What scikit-learn says then."""


def _count(counter, texts, min_df):
    try:
        counts = counter.fit_transform(texts)
    except ValueError as error:
        if any(words in str(error) for words in _NO_TERMS):
            raise MLGTError(
                f"The texts hold no word that occurs in {min_df} or more of them; expected texts of words. "
                "Is it the right column? Pass a smaller min_df if there are few texts."
            ) from None
        raise
    if counts.nnz == 0:
        raise MLGTError("The texts hold no word; expected texts of words. Is it the right column?")
    return counts


def _counter(of, shortest, longest, width, *, vocabulary=None, min_df=1, max_features=None):
    """scikit-learn's vectoriser of counts: with a vocabulary given, to be learnt, or hashed to `width`."""
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
        counter._validate_vocabulary()  # once, not by every thread that comes first
        return counter
    return CountVectorizer(**options, min_df=min_df, max_features=max_features)


def _shown(part, term):
    """Characters in quotes: blanks at the ends of words are part of them."""
    return term if part.of == "words" else repr(term)


def _side_by_side(blocks):
    return blocks[0] if len(blocks) == 1 else canonical(sp.hstack(blocks), np.float32)
