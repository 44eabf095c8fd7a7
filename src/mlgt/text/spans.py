"""Where the terms of a text stand in it, and how much each of its words counts.

    word(i) = sum over the terms t at word i of share_t / (places of t) / (words that the term covers)  (1)

so that the words of a text add up to the shares of all its terms.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from .analysis import normal_form, word_pattern
from .terms import Part, TextFeatures

Span = tuple[int, int, int]
"""First character, the one after the last, and the column of a known term."""
Mark = tuple[int, int, float]
"""First character of a word, the one after the last, and its share."""


def spans(features: TextFeatures, text: str) -> list[Span]:
    """Return where the known terms of a text stand in it, in the order of the text."""
    found, first = [], 0
    for part in features.parts:
        places = _word_places(part, text) if part.of == "words" else _character_places(part, text)
        columns = part.columns([term for _, _, term in places]).tolist()
        found += [(a, b, first + column) for (a, b, _), column in zip(places, columns) if column >= 0]
        first += part.n_columns
    return sorted(found)


def mark_words(text: str, found: Sequence[Span], shares: Mapping[int, float]) -> list[Mark]:
    """Return the words of a text that have a share by eq. (1), given the shares of columns."""
    words = [match.span() for match in _word().finditer(text)]
    starts, ends = [a for a, _ in words], [b for _, b in words]
    counts = Counter(column for _, _, column in found)
    totals: dict[tuple[int, int], float] = {}
    for a, b, column in found:
        own = words[bisect_right(ends, a) : bisect_left(starts, b)] or [(a, b)]
        for word in own:
            share = shares.get(column, 0.0) / counts[column] / len(own)
            totals[word] = totals.get(word, 0.0) + share
    return [(a, b, share) for (a, b), share in sorted(totals.items()) if share]


@cache
def _word():
    return re.compile(word_pattern())


def _words(text):
    """[(first character, the one after the last, word in its normal form)]."""
    return [
        (*match.span(), word)
        for match in _word().finditer(text)
        for word in _word().findall(normal_form(match[0]))
    ]


def _word_places(part: Part, text: str):
    words = _words(text)
    return [
        (words[i][0], words[i + length - 1][1], " ".join(word for _, _, word in words[i : i + length]))
        for length in range(part.shortest, part.longest + 1)
        for i in range(len(words) - length + 1)
    ]


def _character_places(part: Part, text: str):
    """Runs of characters within words, which begin and end with a blank."""
    places = []
    for match in re.finditer(r"\S+", text):
        (a, b), padded = match.span(), f" {normal_form(match[0])} "
        exact = len(padded) == b - a + 2  # else a place is the whole word
        for length in range(part.shortest, part.longest + 1):
            last = max(len(padded) - length, 0)
            for i in range(last + 1):
                place = (min(max(a, a + i - 1), b - 1), max(min(b, a + i - 1 + length), a + 1))
                places.append((*(place if exact else (a, b)), padded[i : i + length]))
            if not last:  # the word is as short as the run: longer ones are the same
                break
    return places
