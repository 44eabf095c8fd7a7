"""A vocabulary: labels with a preferred name each, their ids, and further names.

Concepts that share a preferred name are one label, with the ids of all of them. A label of a file is found
by the first of these that applies (`Vocabulary.find`):

    1. it is an id: a URI, with or without angle brackets, a notation, or what the first column has
    2. it is a preferred name
    3. it is the id or the preferred name of a concept that was retired: the successor's label, or none
    4. the same as 2 after Unicode's NFKC and folded case, if one label alone has such a name
    5. it is a further name of one label alone, exactly or as in 4
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._core.arrays import check_kind
from ..text.analysis import normal_form

SHOWN = 5
"""Examples in a report."""


@dataclass(frozen=True)
class Finding:
    """Something unusual: what, how often, and a few examples."""

    what: str
    count: int
    examples: tuple[str, ...] = ()

    @classmethod
    def of(cls, what: str, examples: Sequence[str]) -> "Finding":
        """Return a finding with one example per case."""
        return cls(what, len(examples), tuple(examples[:SHOWN]))

    def __str__(self) -> str:
        shown = ", ".join(self.examples[:SHOWN]) + (", ..." if self.count > SHOWN else "")
        return f"{self.what}: {self.count}" + (f" ({shown})" if self.examples else "")


@dataclass(frozen=True)
class Vocabulary:
    """Labels with names and ids.

    Parameters
    ----------
    names : sequence of str
        The preferred name of each label.
    ids : sequence of sequences of str
        The ids of each label, the one to show first; a label may have none.
    further_names : sequence of sequences of str
        Alternative names of each label.
    language : str, default=None
        The language of the preferred names, where the file has several.
    retired : mapping, default=None
        Ids and names of concepts that are no longer in use, with the id of the successor or None.
    findings : tuple of Finding, default=()
        What was unusual in the file.
    returned_as : array of int, default=None
        The label that each one is returned as: itself, the one it was merged into, or -1 if it was
        withdrawn. None if all are returned as themselves. A model keeps such columns when its vocabulary
        changes.

    Examples
    --------
    >>> from mlgt.vocabulary import as_vocabulary
    >>> vocabulary = as_vocabulary({"p1": "cats", "p2": ["dogs", "hounds"]})
    >>> vocabulary.names, vocabulary.ids
    (('cats', 'dogs'), (('p1',), ('p2',)))
    >>> [vocabulary.find(label) for label in ("p2", "Hounds", "birds")]
    [1, 1, None]
    """

    names: Sequence[str]
    ids: Sequence[Sequence[str]]
    further_names: Sequence[Sequence[str]]
    language: str | None = None
    retired: Mapping[str, str | None] = field(default_factory=dict)
    findings: tuple[Finding, ...] = field(default=(), compare=False)
    returned_as: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in ("ids", "further_names"):
            if len(getattr(self, name)) != len(self.names):
                raise ValueError(
                    f"{name} has {len(getattr(self, name))} entries for {len(self.names)} names; expected "
                    "one per label."
                )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        language = f", language={self.language!r}" if self.language else ""
        return f"<Vocabulary of {len(self)} labels{language}>"

    def all_names(self) -> list[list[str]]:
        """Return the names of each label, the preferred one first."""
        return [[name, *more] for name, more in zip(self.names, self.further_names)]

    def id_of(self, label: int) -> str | None:
        """Return the id to show of a label given by position, or None if it has none."""
        return self.ids[label][0] if 0 <= label < len(self) and self.ids[label] else None

    def find(self, label: str) -> int | None:
        """Return the position of the label with this id or name; None if there is none."""
        label = without_brackets(label)
        for found in (self._by_id.get(label), self.position_of_name(label)):
            if found is not None:
                return found
        if label in self.retired:
            return self._successor(label)
        tables = (
            (self._by_folded_name, folded),
            (self._by_further_name, str),
            (self._by_folded_further, folded),
        )
        for table, form in tables:
            found = table.get(form(label))
            if found is not None and found >= 0:
                return found
        return None

    def position_of_name(self, name: str) -> int | None:
        """Return the position of the label with exactly this preferred name; None if there is none."""
        return self._by_name.get(name)

    def is_retired(self, label: str) -> bool:
        """Return whether a label is known, but no longer in use and without successor."""
        return without_brackets(label) in self.retired and self.find(label) is None

    def with_labels(self, names: Iterable[str]) -> "Vocabulary":
        """Return the vocabulary with further labels, last, that have a name alone."""
        names = [str(name) for name in names]
        if not names:
            return self
        none: list[tuple[str, ...]] = [()] * len(names)
        ids, further = (*self.ids, *none), (*self.further_names, *none)
        returned = self.returned_as
        if returned is not None:
            returned = np.concatenate([returned, np.arange(len(self), len(self) + len(names))])
        names = [*self.names, *names]
        return replace(self, names=tuple(names), ids=ids, further_names=further, returned_as=returned)

    def facts(self, count: int = 3) -> Iterator[tuple[str, str]]:
        """Yield what `mlgt inspect` shows of the vocabulary, as pairs of texts."""
        language = f", in {self.language}" if self.language else ""
        further = sum(map(len, self.further_names))
        yield "vocabulary", f"{sum(map(len, self.ids))} ids, {further} further names{language}"
        examples = [f"{name} = {ids[0]}" for name, ids in zip(self.names, self.ids) if ids][:count]
        if examples:
            yield "ids", "; ".join(examples)
        if self.returned_as is not None:
            gone, others = int((self.returned_as < 0).sum()), len(self) - len(self._returned)
            yield "retired labels", f"{gone} withdrawn, {others - gone} merged into others"

    def _successor(self, label):
        """The label that took the place of a retired one, over any number of steps, or None."""
        passed = set()
        while label in self.retired and label not in passed:
            passed.add(label)
            label = self.retired[label]
            found = self._by_id.get(label, self._by_name.get(label))
            if found is not None:
                return found
        return None

    @cached_property
    def _returned(self):
        """Positions of the labels that are returned as themselves."""
        if self.returned_as is None:
            return range(len(self))
        return np.flatnonzero(self.returned_as == np.arange(len(self))).tolist()

    # Tables of ids and names; -1 where several labels have a name.

    @cached_property
    def _by_id(self):
        return {id: l for l in reversed(self._returned) for id in self.ids[l]}

    @cached_property
    def _by_name(self):
        return {self.names[l]: l for l in reversed(self._returned)}

    @cached_property
    def _by_folded_name(self):
        return _unique((folded(self.names[l]), l) for l in self._returned)

    @cached_property
    def _by_further_name(self):
        return _unique((name, l) for l, names in enumerate(self.further_names) for name in names)

    @cached_property
    def _by_folded_further(self):
        return _unique((folded(name), l) for l, names in enumerate(self.further_names) for name in names)

    # The contents of a model folder; the preferred names are in its header.

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the array of a model folder, by name: JSON as bytes."""
        facts = {
            "language": self.language,
            "ids": [list(ids) for ids in self.ids],
            "further_names": [list(names) for names in self.further_names],
            "retired": dict(self.retired),
            "returned_as": None if self.returned_as is None else np.asarray(self.returned_as).tolist(),
        }
        return {"labels": np.frombuffer(json.dumps(facts, ensure_ascii=False).encode("utf-8"), np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], names: Sequence[str] | None) -> "Vocabulary":
        """Restore the vocabulary of labels with these preferred names; raises unless the array fits."""
        check_kind(arrays, "labels", np.uint8)
        facts = _parse(arrays["labels"].tobytes())
        d, retired = len(names or ()), facts.get("retired")
        lists = [facts.get(key) for key in ("ids", "further_names")]
        if not d or not all(_is_lists(found, d) for found in lists):
            raise ValueError("vocabulary/labels does not have a list of ids and of names per label")
        if not isinstance(retired, dict) or not all(v is None or type(v) is str for v in retired.values()):
            raise ValueError("vocabulary/labels does not have retired ids with their successors")
        if not isinstance(facts.get("language"), (str, type(None))):
            raise ValueError("vocabulary/labels has a language that is no text")
        json.dumps(facts, ensure_ascii=False).encode("utf-8")  # raises on half of a surrogate pair
        ids, more = (tuple(map(tuple, found)) for found in lists)
        returned = _check_returned(facts.get("returned_as"), d)
        return cls(tuple(names or ()), ids, more, facts["language"], retired, returned_as=returned)


def _parse(content):
    """The JSON object in `content`, or an empty one if there is none."""
    try:
        facts = json.loads(content.decode("utf-8"))
    except RecursionError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _check_returned(found, d):
    """The stored labels that labels are returned as; raises unless each is itself, another one, or -1."""
    if found is None:
        return None
    whole = isinstance(found, list) and len(found) == d and all(type(l) is int for l in found)
    if not whole or not all(l == -1 or (0 <= l < d and found[l] == l) for l in found):
        raise ValueError("vocabulary/labels does not say what each label is returned as")
    return np.array(found, np.int64)


def _is_lists(value, count):
    """True for a list of `count` lists of texts."""
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(inner, list) and all(type(text) is str for text in inner) for inner in value)
    )


def without_brackets(label: str) -> str:
    """Return a URI in angle brackets without them, and any other label stripped."""
    label = label.strip()
    return label[1:-1].strip() if label.startswith("<") and label.endswith(">") and ":" in label else label


def folded(name: str) -> str:
    """Return a name as it is compared if no name is exactly the same."""
    return " ".join(normal_form(name).split())


def _unique(pairs):
    """{name: label}, -1 for a name of several labels."""
    table: dict[str, int] = {}
    for name, label in pairs:
        table[name] = label if table.get(name, label) == label else -1
    return table
