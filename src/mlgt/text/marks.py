"""How much each word of a text counts.

    word(i) = sum over the terms t at word i of share_t / (places of t) / (words that the term covers)  (1)

so that the words of a text add up to the shares of all its terms.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence

Span = tuple[int, int, int]
"""First character, the one after the last, and the column of a known term."""
Mark = tuple[int, int, float]
"""First character of a word, the one after the last, and its share."""


def mark_words(
    words: Sequence[tuple[int, int]], found: Sequence[Span], shares: Mapping[int, float]
) -> list[Mark]:
    """Return the words of a text, given by their places, that have a share by eq. (1), given the places of
    terms and the shares of their columns."""
    starts, ends = [a for a, _ in words], [b for _, b in words]
    counts = Counter(column for _, _, column in found)
    totals: dict[tuple[int, int], float] = {}
    for a, b, column in found:
        own = words[bisect_right(ends, a) : bisect_left(starts, b)] or [(a, b)]
        for word in own:
            share = shares.get(column, 0.0) / counts[column] / len(own)
            totals[word] = totals.get(word, 0.0) + share
    return [(a, b, share) for (a, b), share in sorted(totals.items()) if share]
