"""Terms of texts as runs of words, or of characters within words, without copying any of them."""

import numpy as np

from . import _kernels
from .analysis import Stream, Words


def term_stream(of: str, shortest: int, longest: int, words: Words) -> Stream:
    """Return the runs of "words" or "characters" of texts, in order, with repetitions."""
    if of == "words" and longest == 1:
        return words
    runs = _word_runs if of == "words" else _character_runs
    return runs(words, shortest, longest)


def _word_runs(words, shortest, longest):
    """Runs of words: slices of `data`, where one blank stands between two words."""
    counts = np.diff(words.indptr)
    lengths = np.arange(shortest, min(longest, counts.max(initial=0)) + 1)
    last = np.arange(len(words.starts))[:, None] + (lengths - 1)  # (words, lengths)
    inside = last < np.repeat(words.indptr[1:], counts)[:, None]
    indptr = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])[words.indptr]
    starts = np.repeat(words.starts, len(lengths)).reshape(last.shape)[inside]
    return Stream(indptr, starts, words.ends[last[inside]], words.data)


def _character_runs(words, shortest, longest):
    """Runs of characters of what blanks separate, with a blank on both sides."""
    chunks = words.chunks()
    firsts = len(chunks.starts) + len(chunks.data)  # where a run may begin: blanks belong to two chunks
    indptr = np.zeros(len(words.indptr), np.int64)
    longest = min(longest, 2 + int((chunks.ends - chunks.starts).max(initial=0)))
    starts, ends = np.empty((2, firsts * max(longest - shortest + 1, 1)), np.int64)
    count = _kernels.character_runs(
        chunks.data, chunks.indptr, chunks.starts, chunks.ends, shortest, longest, indptr, starts, ends
    )
    return Stream(indptr, starts[:count], ends[:count], chunks.data)
