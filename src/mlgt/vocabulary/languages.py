"""Names in several languages: the preferred one, and which of the others are used."""

import re
from collections.abc import Sequence

FALLBACK = "en"
Tagged = tuple[str, str]
"""A name and its language, "" if it has none."""


def languages_of(given: str | None) -> list[str]:
    """Return the languages of a list such as "fi" or "fi,sv", in lower case."""
    if given is None:
        return []
    codes = [code.strip().lower() for code in given.split(",")]
    for code in codes:
        if not re.fullmatch("[a-z]{2,8}([-_][a-z0-9]{1,8})*", code):
            raise ValueError(
                f"language={given!r} is no language code; expected one such as fi, or several: fi,sv."
            )
    return codes


def choose_names(
    preferred: Sequence[Tagged], further: Sequence[Tagged], languages: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return (name, further names) of one concept.

    The name is the first preferred one in the first of `languages` that has one, else without language,
    else in English, else the first of all. Further names are those of all `languages`, those in the
    language of the name, and those without language; also preferred names that were not chosen.
    """
    if not preferred:
        return "", tuple(name for name, _ in further)
    place = min(range(len(preferred)), key=lambda i: (_rank(preferred[i][1], languages), i))
    name, language = preferred[place]
    used = {_base(code) for code in (*languages, language, "")}
    more = [other for other, code in (*preferred, *further) if _base(code) in used and other != name]
    return name, tuple(dict.fromkeys(more))


def _rank(language, languages):
    """The place of a language in the order of choice; exact codes come before regional ones."""
    language = language.lower().replace("_", "-")
    for i, code in enumerate(languages):
        code = code.replace("_", "-")
        if language == code:
            return i, 0
        if language and _base(language) == _base(code):
            return i, 1
    if not language:
        return len(languages), 0
    return len(languages) + (1 if _base(language) == FALLBACK else 2), 0


def _base(language):
    return language.lower().replace("_", "-").partition("-")[0]
