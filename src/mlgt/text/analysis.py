"""What counts as a word, in any language.

A text is brought to one form first (Unicode's NFKC, case folded), so that a letter with an accent is the
same whether it was typed as one sign or two. A word is a run of letters, digits and the marks that belong
to them: `\\w` alone would cut words of Hindi, Thai or Arabic in pieces; + and # may end it, as in C++ and
C#. There is no list of stop words: idf takes care of them in every language.
"""

import sys
import unicodedata
from functools import cache

JOINERS = "\u200c\u200d"  # inside words of Persian and of Indian languages


def normal_form(text):
    """One form of what reads the same; half characters, which cannot be stored, are dropped."""
    if text.isascii():
        return text.lower()
    text = text.encode("utf-8", "ignore").decode("utf-8")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@cache
def word_pattern():
    """The regular expression of a word."""
    return rf"\w[\w{JOINERS}{_marks()}]*[+#]*"


def _marks():
    """All combining marks as ranges of a character class."""
    points = [i for i in range(0x300, sys.maxunicode + 1) if unicodedata.category(chr(i))[0] == "M"]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
