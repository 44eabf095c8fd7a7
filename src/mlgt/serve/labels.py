"""Search among the names and ids of all labels.

All names stand in one long text, one per line, folded (no case, no accents). A query is found by plain
search in it, so that 670,000 names take a few milliseconds: names that are the query first, then those
that begin with it, those with a word that begins with it, and those that hold it anywhere.
"""

import re
import unicodedata
from typing import Any

import numpy as np

from ..model.predictor import Predictor

MAX_QUERY = 200


class LabelSearch:
    """An index of the labels of a model.

    Parameters
    ----------
    predictor : Predictor
        The model.
    """

    def __init__(self, predictor: Predictor) -> None:
        model = predictor.fitted_model()
        self._names = [str(name) for name in predictor.classes_]
        self._named = model.names is not None
        self._vocabulary, self._counts = model.vocabulary, predictor.label_counts_
        names = (
            [[name] for name in self._names] if self._vocabulary is None else self._vocabulary.all_names()
        )
        returned = model.returned_as
        lines: list[str] = []
        owners: list[int] = []
        for label, own in enumerate(names):
            if returned is not None and returned[label] != label:
                continue
            own = [*own, *(() if self._vocabulary is None else self._vocabulary.ids[label])]
            lines += [folded(name) for name in own]
            owners += [label] * len(own)
        self._text = "\n" + "\n".join(lines) + "\n"
        self._owners = np.array(owners, np.int64)
        self._starts = np.cumsum([1, *(len(line) + 1 for line in lines)])
        order = np.argsort(-np.asarray(self._counts), kind="stable")
        known = set(owners)
        self._frequent = [int(label) for label in order if int(label) in known]

    def __call__(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Return up to `limit` labels for a query; the most frequent ones for an empty query."""
        query = folded(query[:MAX_QUERY])
        if not query:
            return [self._entry(label) for label in self._frequent[:limit]]
        exact = re.escape(query)
        found: dict[int, None] = {}
        for pattern in (f"\n{exact}\n", f"\n{exact}", rf"[^\w]{exact}", exact):
            for match in re.finditer(pattern, self._text):
                place = match.start() + (match[0][0] == "\n")
                line = int(np.searchsorted(self._starts, place, side="right")) - 1
                found.setdefault(int(self._owners[line]))
                if len(found) >= limit:
                    return [self._entry(label) for label in found]
        return [self._entry(label) for label in found]

    def _entry(self, label):
        return {
            "label": self._names[label] if self._named else label,
            "id": None if self._vocabulary is None else self._vocabulary.id_of(label),
            "rows": int(self._counts[label]),
        }


def folded(text: str) -> str:
    """Return a text on one line without case and accents."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
    return " ".join(plain.split())
