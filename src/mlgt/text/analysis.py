"""Words of a text, in any language.

A text is normalised first (Unicode's NFKC, case folded), so that a letter with an accent is the same
whether it was typed as one character or two. A word is a run of letters, digits and their combining marks:
`\\w` alone would split words of Hindi, Thai or Arabic; + and # may end it, as in C++ and C#. There is no
list of stop words: idf gives them little weight in every language.
"""

import sys
import unicodedata
from functools import cache

JOINERS = "\u200c\u200d"  # zero-width characters inside words of Persian and Indian languages


def normal_form(text: str) -> str:
    """Normalise a text; unpaired surrogates, which cannot be encoded, are dropped."""
    if text.isascii():
        return text.lower()
    text = text.encode("utf-8", "ignore").decode("utf-8")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@cache
def word_pattern() -> str:
    """Return the regular expression of a word."""
    return rf"\w[\w{JOINERS}{_marks()}]*[+#]*"


def _marks():
    """Return all combining marks as ranges of a character class."""
    points = [i for i in range(0x300, sys.maxunicode + 1) if unicodedata.category(chr(i))[0] == "M"]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
