"""Texts to words as a model uses them: the one pass that serves rows, label names and explanations.

    analyzer = Analyzer.of(language="en", max_characters=None)     # or that of a model: features.analyzer
    for words in analyzer.blocks(texts):                           # or analyzer.words(texts), all at once
        X = features.rows(words)                                   # rows of these texts
        words.hashes[words.indptr[i] : words.indptr[i + 1]]        # the words of text i, in order
    learn_features(texts, on_words=function)                       # the same blocks while a model is learnt
    names = Analyzer.of(language="fi").words(["kissat", "koirien hoito"])     # names by the same rules

`Words.hashes` are 64-bit hashes of stems, or of words without a language. They depend on nothing but the
stem: a name stands in a text where its hashes are a run of the text's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .analysis import Words, find_words
from .languages import check_languages, stemmed

BLOCK_CHARACTERS = 1 << 18
"""Characters of texts that are analysed together, unless a single text has more. It bounds the memory."""


@dataclass(frozen=True)
class Analyzer:
    """Function from texts to words; `languages` are names, each text is stemmed by one of them."""

    languages: tuple[str, ...] = ()
    max_characters: int | None = None

    @classmethod
    def of(cls, language: Any = None, max_characters: int | None = None) -> "Analyzer":
        """Make the analyzer of a language (a name or a code), of a list of them, or of none."""
        return cls(check_languages(language), max_characters)

    def words(self, texts: Iterable[str]) -> Words:
        """Return the words of texts."""
        words = find_words(texts if self.max_characters is None else map(self.shortened, texts))
        return stemmed(words, self.languages) if self.languages else words

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
