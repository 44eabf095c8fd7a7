"""What an explanation calls the features of a row: the terms of its text, or the names of columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._core.ids import KnownIds
from .._core.markup import Marks
from ..text import TextFeatures, mark_words


@dataclass(frozen=True)
class Wording:
    """Names of the features of one row, and where they stand in its text if it has one."""

    names: Mapping[int, str]
    """By column of the rows that callers give."""
    known: KnownIds | None = None
    """The columns that the model kept, if it leaves some out."""
    text: str | None = None
    spans: Sequence[tuple[int, int, int]] = ()
    """(start, end, column) of the known terms of the text."""
    word_spans: Sequence[tuple[int, int]] = ()
    """(start, end) of all words of the text."""
    name_spans: Sequence[tuple[int, int, int]] = ()
    """(start, end, word) of the words of label names in the text."""

    @classmethod
    def of_columns(cls, names: Sequence[str], known: KnownIds | None = None) -> "Wording":
        """The names of columns, in their order; there may be none."""
        return cls({j: str(name) for j, name in enumerate(names)}, known)

    @classmethod
    def of_text(cls, text: str, features: TextFeatures, known: KnownIds | None = None) -> "Wording":
        """The terms of a text."""
        return cls(
            features.terms_of(text), known, text,
            features.spans(text), features.word_spans(text), features.name_spans(text),
        )  # fmt: skip

    def _column(self, feature):
        return feature if self.known is None else int(self.known.ids[feature])

    def name(self, feature: int) -> str:
        """Name a feature of the model."""
        column = self._column(feature)
        return self.names.get(column, f"feature {column}")

    def marks(self, shares: Mapping[int, float]) -> Marks:
        """Turn shares of features into marks of the words of the text."""
        if self.text is None:
            return ()
        by_column = {self._column(feature): share for feature, share in shares.items()}
        return mark_words(self.word_spans, self.spans, by_column)

    def named_spans(self) -> list[tuple[int, int, str]]:
        """Return (start, end, term) of the known terms of the text."""
        return [(start, end, self.names[column]) for start, end, column in self.spans]
