"""Texts to words as a model uses them: the one pass that serves rows, label names and explanations.

    analyzer = Analyzer.of("en")                                # or that of a model: features.analyzer
    for words in analyzer.blocks(texts):                        # or analyzer.words(texts), all at once
        X = features.rows(words)                                # rows of these texts
        words.hashes[words.indptr[i] : words.indptr[i + 1]]     # the words of text i, in order
    names = analyzer.for_names().words(["cats", "care of dogs"])     # names by the same rules

`Words.hashes` are 64-bit hashes of stems, or of words without a language. They depend on nothing but the
stem: a name stands in a text where its hashes are a run of the text's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .analysis import Words, find_words, normal_form
from .languages import check_languages, find_language, guess_languages, stemmed

BLOCK_CHARACTERS = 1 << 18
"""Characters of texts that are analysed together, unless a single text has more. It bounds the memory."""
MAX_PLAIN = 1 << 11
"""Characters of a text up to which a pattern finds its words faster than the kernel, with its arrays."""
_WORD, _PLAIN = re.compile(r"\w+[+#]*"), re.compile("[\0-\u02ff\u2010-\u2027]*")
"""A word of letters without combining marks or joiners, and characters among which there are none."""


@dataclass(frozen=True)
class Analyzer:
    """Function from texts to words; `languages` are names, each text is stemmed by one of them."""

    languages: tuple[str, ...] = ()
    max_characters: int | None = None
    shares: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Shares of the training texts by language, if the languages were guessed."""

    @classmethod
    def of(
        cls, language: Any = None, max_characters: int | None = None, texts: Sequence[str] = ()
    ) -> "Analyzer":
        """Make the analyzer of a language (a name or a code), of a list of them, or of none.

        "auto" guesses the languages from `texts`. Only the first `max_characters` of each text are used.
        """
        if isinstance(language, str) and language == "auto":
            shares = guess_languages(texts)
            return cls(tuple(shares), max_characters, shares)
        return cls(check_languages(language), max_characters)

    def for_names(self, language: str | None = None) -> "Analyzer":
        """Return the analyzer of label names: all in `language` if texts may have it, else in the first."""
        own = language and find_language(language)
        return Analyzer((own,) if own in self.languages else self.languages[:1])

    def words(self, texts: Iterable[str]) -> Words:
        """Return the words of texts."""
        words = find_words(texts if self.max_characters is None else map(self.shortened, texts))
        return stemmed(words, self.languages) if self.languages else words

    def strings(self, text: str) -> list[str] | None:
        """Return the words of one text without making arrays, or None if that takes more than a pattern."""
        if self.languages or len(text) > MAX_PLAIN:
            return None
        text = normal_form(self.shortened(text))
        return _WORD.findall(text) if _PLAIN.fullmatch(text) else None

    def blocks(self, texts: Iterable[str]) -> Iterator[Words]:
        """Yield the words of texts, a few texts at a time."""
        block: list[str] = []
        size = 0
        for text in texts:
            block.append(text)
            size += len(text)
            if size >= BLOCK_CHARACTERS:
                yield self.words(block)
                block, size = [], 0
        if block:
            yield self.words(block)

    def shortened(self, text: str) -> str:
        """Return the part of a text that is used."""
        return text[: self.max_characters]

    def __str__(self) -> str:
        shares = {language: f" ({share:.0%} of the texts)" for language, share in self.shares.items()}
        found = [language + shares.get(language, "") for language in self.languages]
        return ", ".join(found) or "none, words are used as they are"

    def to_facts(self) -> dict[str, Any]:
        """Return what the header of a model folder states."""
        return {
            "languages": list(self.languages),
            "language_shares": dict(self.shares),
            "max_characters": self.max_characters,
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Analyzer":
        """Restore the analyzer from a header that was checked."""
        return cls(tuple(facts["languages"]), facts["max_characters"], facts["language_shares"])
