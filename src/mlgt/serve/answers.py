"""Labels that were found, in the three shapes of answers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.sigmoid import sigmoid

MAX_WORDS = 50
"""Words for and against a label in an answer, the strongest."""


class Found(NamedTuple):
    """One label of a text."""

    label: str | int
    """Its name, or its number if the model has no names."""
    id: str | None
    """Its id in the vocabulary."""
    value: float
    column: int
    words: Sequence[tuple[str, float]] | None = None
    marks: Sequence[tuple[int, int, float]] = ()

    def because(self, words: Sequence, marks: Sequence) -> "Found":
        """Return the label with the words behind it."""
        return self._replace(words=words, marks=marks)


Answer = list[Found]


def as_result(answer: Answer, value: str) -> list[dict[str, Any]]:
    """Return the shape of mlgt; `value` is "probability" or "score"."""
    result = []
    for found in answer:
        entry: dict[str, Any] = {"label": found.label, "id": found.id, value: _rounded(found.value)}
        if found.words is not None:
            entry["words"] = [[word, _rounded(share)] for word, share in found.words[:MAX_WORDS]]
            entry["marks"] = [[start, end, _rounded(share)] for start, end, share in found.marks]
        result.append(entry)
    return result


def as_classification(answer: Answer) -> list[dict[str, Any]]:
    """Return the shape of Hugging Face."""
    return [{"label": str(found.label), "score": _rounded(found.value)} for found in answer]


def as_suggestions(answer: Answer, value: str) -> list[dict[str, Any]]:
    """Return the shape of Annif, whose scores are between 0 and 1."""
    return [
        {
            "uri": str(found.label) if found.id is None else found.id,
            "label": str(found.label),
            "notation": None,
            "score": _rounded(found.value if value == "probability" else _squashed(found.value)),
        }
        for found in answer
    ]


def _squashed(score):
    """A score without bounds between 0 and 1, in the same order."""
    return float(sigmoid(np.array([score]))[0])


def _rounded(value):
    """Six significant digits: more than float32 models mean."""
    return float(f"{value:.6g}")
