"""Where terms stand in a text as it was written, before it was normalised.

Normalising may join, split, expand or drop characters: e + U+0301 becomes é, ﬁ becomes fi. It works on
clusters: a character and those after it that may combine with it, marks and Hangul vowels. The normal form
of a text is that of its clusters, one after the other, so that every character of it has a cluster to point
to. A term that is part of a cluster, like the f of ﬁ, is given the whole cluster.
"""

import unicodedata
from functools import lru_cache

import numpy as np

from .analysis import Stream, Words, normal_form

HANGUL_FOLLOWERS = range(0x1160, 0x1200)
"""Vowels and final consonants, which join the consonant before them to one syllable."""


def source_of_characters(text: str) -> np.ndarray:
    """Return (start, end) in `text` of the cluster behind each character of its normal form, (n, 2)."""
    if text.isascii():
        starts = np.arange(len(text))
        return np.column_stack([starts, starts + 1])
    starts = np.array([i for i, char in enumerate(text) if i == 0 or _begins_cluster(char)])
    ends = np.append(starts[1:], len(text))
    lengths = [_normal_length(text[i:j]) for i, j in zip(starts.tolist(), ends.tolist())]
    return np.column_stack([np.repeat(starts, lengths), np.repeat(ends, lengths)])


def source_slices(of: str, words: Words, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    """Return where each run of "words" or "characters" begins and ends in `words.text`, without the blanks
    around it."""
    if of == "words":
        first = np.searchsorted(words.starts, stream.starts)
        last = np.searchsorted(words.ends, stream.ends)
        return words.text_starts[first], words.text_ends[last]
    chunks = words.chunks()
    chunk = np.searchsorted(chunks.starts, stream.starts + 1, "right") - 1
    shift = chunks.text_starts[chunk] - chunks.starts[chunk]
    starts = np.maximum(stream.starts, chunks.starts[chunk])
    return starts + shift, np.minimum(stream.ends, chunks.ends[chunk]) + shift


def source_spans(of: str, words: Words, stream: Stream, text: str) -> np.ndarray:
    """Return (start, end) in `text`, the only text of `words`, of each term of the stream, (terms, 2)."""
    source = source_of_characters(text)
    character = np.cumsum(words.text & 0xC0 != 0x80) - 1  # of each byte of the normal form
    starts, ends = source_slices(of, words, stream)
    last = np.minimum(character[np.maximum(ends - 1, 0)], len(source) - 1)
    first = np.minimum(character[starts], last)
    spans = np.column_stack([source[first, 0], source[last, 1]]) if len(source) else np.zeros((0, 2), int)
    return np.where((starts < ends)[:, None], spans, 0)


@lru_cache(maxsize=1 << 14)
def _begins_cluster(char):
    """True if a character never combines with the one before it."""
    first = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.category(first)[0] != "M" and ord(first) not in HANGUL_FOLLOWERS


@lru_cache(maxsize=1 << 14)
def _normal_length(cluster):
    return len(normal_form(cluster))
