"""Words of texts, in any language: one pass that serves features, label names and explanations.

A text is normalised first (Unicode's NFKC, case folded), so that a letter with an accent is the same
whether it was typed as one character or two. A word is a run of letters, digits and their combining marks:
`\\w` alone would split words of Hindi, Thai or Arabic; + and # may end it, as in C++ and C#. There is no
list of stop words: idf gives them little weight in every language.

    words = find_words(["Cats and dogs", "C++"])
    words.indptr         # [0, 3, 4]: text i has the words indptr[i] to indptr[i + 1], in order
    words.hashes         # (4,) uint64: equal words have equal hashes, in every call and process
    words.string(3)      # "c++"

`analyzer.Analyzer` does this as a model wants it, with stems.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate

import numpy as np

from . import _kernels

JOINERS = "\u200c\u200d"  # zero-width characters inside words of Persian and Indian languages
MARK_PLANES = (range(0x40000), range(0xE0000, 0xF0000))
"""Code points among which Unicode has combining marks; the others are unassigned or private."""


def normal_form(text: str) -> str:
    """Normalise a text; unpaired surrogates, which cannot be encoded, are dropped."""
    if text.isascii():
        return text.lower()
    text = text.encode("utf-8", "ignore").decode("utf-8")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@dataclass(frozen=True)
class Stream:
    """Terms of n texts in order: those of text i are indptr[i] to indptr[i + 1].

    Term t is data[starts[t] : ends[t]], in UTF-8.
    """

    indptr: np.ndarray  # (n + 1,) int64
    starts: np.ndarray  # (terms,) int64
    ends: np.ndarray  # (terms,) int64
    data: np.ndarray  # (bytes,) uint8

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def hashes(self) -> np.ndarray:
        """Hash of each term, (terms,) uint64: of its bytes alone, so that equal terms have equal hashes."""
        hashes = np.empty(len(self.starts), np.uint64)
        _kernels.hash_terms(self.data, self.starts, self.ends, hashes)
        return hashes

    def string(self, t: int) -> str:
        """Return term t."""
        return self.data[self.starts[t] : self.ends[t]].tobytes().decode("utf-8")

    def strings(self) -> list[str]:
        """Return all terms in order."""
        return self._strings

    @cached_property
    def _strings(self):
        data, (starts, ends) = self.data.tobytes(), (self.starts.tolist(), self.ends.tolist())
        if data.isascii():
            text = data.decode("ascii")
            return [text[i:j] for i, j in zip(starts, ends)]
        return [data[i:j].decode("utf-8") for i, j in zip(starts, ends)]


@dataclass(frozen=True)
class Words(Stream):
    """Words of n texts, as the model knows them.

    In `data` single blanks stand before the first word and after each, so that a run of words of a text is
    one slice of it. `text` holds the normalised texts, text i from bounds[i] to bounds[i + 1]; word t was
    found there, from text_starts[t] to text_ends[t].
    """

    text_starts: np.ndarray  # (terms,) int64
    text_ends: np.ndarray  # (terms,) int64
    text: np.ndarray  # (bytes,) uint8
    bounds: np.ndarray  # (n + 1,) int64

    def chunks(self) -> "Words":
        """Return what blanks separate in the normalised texts, in the same form as words."""
        return _find_tokens(self.text, self.bounds, _CHUNKS)


def find_words(texts: Iterable[str]) -> Words:
    """Return the words of texts as they are, in normal form."""
    encoded = [normal_form(text).encode("utf-8") for text in texts]
    bounds = np.array([0, *accumulate(map(len, encoded))], np.int64)
    return _find_tokens(np.frombuffer(b"".join(encoded) + b" ", np.uint8), bounds, _WORDS)


def _find_tokens(text, bounds, kind):
    """Find the tokens of normalised texts."""
    wide = not text.tobytes().isascii()
    most = len(text) // 2 + len(bounds)  # tokens have a byte at least, and another between them
    data = np.empty(len(text) + most + 1, np.uint8)
    starts, ends, places = np.empty((3, most), np.int64)
    indptr = np.zeros(len(bounds), np.int64)
    classes = character_classes(kind, sys.maxunicode + 1 if wide else 0x80)
    count = _kernels.find_tokens(text, bounds, classes, data, starts, ends, places, indptr)
    used = int(ends[count - 1]) + 1 if count else 1
    starts, ends, places = starts[:count], ends[:count], places[:count]
    return Words(indptr, starts, ends, data[:used], places, places + (ends - starts), text, bounds)


_WORDS, _CHUNKS = "words", "chunks"


@cache
def character_classes(kind: str, size: int) -> np.ndarray:
    """Return the class of the first `size` code points, (size,) uint8; see `_kernels`."""
    points = np.arange(size, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    classes = np.zeros(size, np.uint8)
    for run in re.finditer(r"\w+" if kind == _WORDS else r"\S+", points):
        classes[run.start() : run.end()] = _kernels.START | _kernels.CONTINUE
    if kind == _WORDS:
        classes[[ord(mark) for mark in "+#"]] = _kernels.TAIL
        for plane in MARK_PLANES if size > 0x80 else ():
            others = plane.start + np.flatnonzero(classes[plane.start : plane.stop] == 0)
            marks = [point for point in others.tolist() if unicodedata.category(points[point])[0] == "M"]
            classes[marks] = _kernels.CONTINUE
        classes[[ord(joiner) for joiner in JOINERS if ord(joiner) < size]] = _kernels.CONTINUE
    return classes
