"""Stems of words by the Snowball algorithms, and the language of a text by its function words.

A language is given by its name or its code in ISO 639-1: "english" or "en". With several languages each
text is stemmed by the one that it looks like: that whose function words it has most of, a word of several
languages counting for less. A text without any has the first language.

Only the Python package snowballstemmer is used, never PyStemmer, whose release might differ: a model must
find the same stems on every machine.
"""

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import MLGTError
from .analysis import Words, find_words
from .function_words import FUNCTION_WORDS

CODES = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech", "da": "danish",
    "nl": "dutch", "en": "english", "eo": "esperanto", "et": "estonian", "fi": "finnish", "fr": "french",
    "de": "german", "el": "greek", "hi": "hindi", "hu": "hungarian", "id": "indonesian", "ga": "irish",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "no": "norwegian", "fa": "persian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho",
    "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
OTHER_CODES = {"nb": "norwegian", "nn": "norwegian"}
LANGUAGES = tuple(CODES.values())
MAX_STEMS = 1 << 20
"""Stems of a language that are kept in memory, so that a frequent word is stemmed once."""
GUESS_TEXTS, GUESS_CHARACTERS = 2000, 2000
"""Training texts, and characters of each, from which their languages are guessed."""
MIN_SHARE = 0.05
"""Share of the texts that a guessed language must have."""


def check_languages(language: Any, name: str = "language") -> tuple[str, ...]:
    """Return the names of the languages: of None none, of a name or code one, of a list several."""
    given = () if language is None else (language,) if isinstance(language, str) else language
    try:
        found = tuple(dict.fromkeys(_language_name(one, name) for one in given))
    except TypeError:
        found = ()
    if not found and language is not None:
        raise ValueError(
            f'{name}={language!r} must be a language, as "en", a list of them, "auto" or None.'
        )
    return found


def _language_name(language, name):
    if not isinstance(language, str) or (found := find_language(language)) is None:
        raise ValueError(
            f'{name}={language!r} has no stemmer; expected "auto" or one of '
            + ", ".join(f"{code} ({own})" for code, own in CODES.items())
            + ". Leave it out for other languages: words are then used as they are."
        )
    return found


def find_language(language: str) -> str | None:
    """Return the name of a language with a stemmer, given its name or code ("en", "en-GB"), else None."""
    known = {**CODES, **OTHER_CODES} | {own: own for own in LANGUAGES}
    return known.get(re.split("[-_]", language.strip().lower())[0])


def stemmer(language: str) -> Callable[[str], str]:
    """Return the function from a word in normal form to its stem; any thread may call it."""
    return _stems_of(check_languages(language)[0]).stem


def stemmed(words: Words, languages: Sequence[str]) -> Words:
    """Return stems in the place of words; `languages` are names."""
    own = guess(words, languages) if len(languages) > 1 else np.zeros(len(words), int)
    language = np.repeat(np.maximum(own, 0), np.diff(words.indptr))  # of each word
    stems: list[bytes] = []
    stem = np.empty(len(language), np.int64)
    for i in np.unique(language).tolist():
        members = np.flatnonzero(language == i)
        _, first, inverse = np.unique(words.hashes[members], return_index=True, return_inverse=True)
        stem[members] = len(stems) + inverse
        stems += _stems_of(languages[i])(words, members[first])
    lengths = np.array([len(one) for one in stems], np.int64)[stem]
    data = bytearray(b" ".join([b"", *map(stems.__getitem__, stem.tolist()), b""]))
    ends = np.cumsum(lengths + 1)
    return replace(words, starts=ends - lengths, ends=ends, data=np.frombuffer(data, np.uint8))


class _Stems:
    """Stems of one language; those of words that were met are kept."""

    def __init__(self, language):
        try:
            module = import_module(f"snowballstemmer.{language}_stemmer")
        except ImportError as error:
            raise MLGTError(
                f"The stemmer of {language} cannot be imported ({error}); expected the package "
                "snowballstemmer with it: pip install --upgrade snowballstemmer."
            ) from error
        name = "".join(map(str.title, language.split("_"))) + "Stemmer"
        self._snowball, self._lock = getattr(module, name)(), threading.Lock()
        self._known: dict[bytes, bytes] = {}

    def stem(self, word: str) -> str:
        with self._lock:  # Snowball's object holds the word that it works on
            return self._snowball.stemWord(word) or word

    def __call__(self, words, positions):
        """Return the stems of the words at `positions`, in UTF-8."""
        data, known = words.data.tobytes(), self._known
        found = []
        starts, ends = words.starts[positions].tolist(), words.ends[positions].tolist()
        for start, end in zip(starts, ends):
            word = data[start:end]
            if (stem := known.get(word)) is None:
                stem = self.stem(word.decode("utf-8")).encode("utf-8")
                if len(known) < MAX_STEMS:
                    known[word] = stem
            found.append(stem)
        return found


_stems_of = cache(_Stems)


# The language of a text.


@cache
def _evidence(languages):
    """(Hashes of function words, sorted; their weights (words, languages))."""
    listed = {one: sorted({*find_words([FUNCTION_WORDS[one]]).hashes.tolist()}) for one in languages}
    hashes = np.unique(np.concatenate([np.array(own, np.uint64) for own in listed.values()]))
    weights = np.zeros((len(hashes), len(languages)))
    for i, own in enumerate(listed.values()):
        weights[np.searchsorted(hashes, np.array(own, np.uint64)), i] = 1
    return hashes, weights / weights.sum(axis=1, keepdims=True)


def guess(words: Words, languages: Sequence[str]) -> np.ndarray:
    """Return the position in `languages` of each text's most likely one; -1 without any function word.

    `words` are not stemmed. The first of equally likely languages is returned.
    """
    scores = _scores(words, languages)
    return np.where(scores.any(axis=1), scores.argmax(axis=1), -1)


def _scores(words, languages):
    """Return (texts, languages) sums of weights."""
    hashes, weights = _evidence(tuple(languages))
    place = np.minimum(np.searchsorted(hashes, words.hashes), len(hashes) - 1)
    hit = (hashes[place] == words.hashes).astype(np.float64)
    return sp.csr_array((hit, place, words.indptr), shape=(len(words), len(hashes))) @ weights


def guess_languages(texts: Sequence[str]) -> dict[str, float]:
    """Return the languages of texts with their shares, the most frequent first; rare ones are left out.

    Texts that look like several languages alike are shared among them first, and then given to the most
    frequent of them.
    """
    sample = [text[:GUESS_CHARACTERS] for text in texts[:: -(-len(texts) // GUESS_TEXTS) or 1]]
    words = find_words(sample)
    scores = _scores(words, LANGUAGES)
    best = (scores == scores.max(axis=1, keepdims=True)) & (scores > 0)
    counts = (best / np.maximum(best.sum(axis=1, keepdims=True), 1)).sum(axis=0)
    ranked = [LANGUAGES[i] for i in np.argsort(-counts, kind="stable")]
    found = guess(words, ranked)
    counts = np.bincount(found[found >= 0], minlength=len(ranked))
    shares = {ranked[i]: counts[i] / max(len(sample), 1) for i in np.argsort(-counts, kind="stable")}
    return {language: float(share) for language, share in shares.items() if share >= MIN_SHARE}
