"""Concepts to a vocabulary: those that share a preferred name are one label."""

from collections.abc import Iterable
from typing import NamedTuple

from .vocabulary import Finding, Vocabulary


class Concept(NamedTuple):
    """One entry of a vocabulary, as it was read."""

    ids: tuple[str, ...]
    """The id that is shown first: a URI, then its notations."""
    name: str
    further_names: tuple[str, ...] = ()
    retired: bool = False
    successor: str | None = None
    """The id of the concept that took its place."""


def build_vocabulary(
    concepts: Iterable[Concept], language: str | None = None, findings: Iterable[Finding] = ()
) -> Vocabulary:
    """Return the vocabulary of concepts, in their order; retired ones are no labels.

    An id that occurs again adds its names to the label that has it already.
    """
    builder = _Builder()
    for concept in concepts:
        builder.add(concept)
    return builder.build(language, findings)


class _Builder:
    """Labels by preferred name, each with its ids and further names in order."""

    def __init__(self):
        self.ids: dict[str, dict[str, None]] = {}
        self.further: dict[str, dict[str, None]] = {}
        self.label_of: dict[str, str] = {}  # the label of each id
        self.concepts: dict[str, list[str]] = {}  # the ids, or "", of the concepts of each label
        self.retired: dict[str, str | None] = {}
        self.without_name: list[str] = []
        self.repeated: dict[str, dict[str, None]] = {}  # other labels of an id

    def add(self, concept: Concept) -> None:
        if concept.retired:
            self.retired |= dict.fromkeys((*concept.ids, concept.name), concept.successor)
        elif not concept.name:
            self.without_name.append(concept.ids[0] if concept.ids else "a line without id")
        else:
            self._add_label(concept)

    def _add_label(self, concept):
        id = concept.ids[0] if concept.ids else ""
        name = self.label_of.get(id, concept.name)
        if name != concept.name:
            self.repeated.setdefault(id, {})[concept.name] = None
        ids, further = self.ids.setdefault(name, {}), self.further.setdefault(name, {})
        if id not in self.concepts.setdefault(name, []) or not id:
            self.concepts[name].append(id)
        for own in concept.ids:
            if self.label_of.setdefault(own, name) == name:
                ids[own] = None
            else:
                self.repeated.setdefault(own, {})[name] = None
        further |= dict.fromkeys(
            more for more in (concept.name, *concept.further_names) if more and more != name
        )

    def build(self, language, findings):
        known = {*self.label_of, *self.ids}
        return Vocabulary(
            tuple(self.ids),
            tuple(tuple(ids) or (name,) for name, ids in self.ids.items()),  # without ids, names are ids
            tuple(map(tuple, self.further.values())),
            language,
            {label: after for label, after in self.retired.items() if label and label not in known},
            (*findings, *(found for found in self._findings() if found.count)),
        )

    def _findings(self):
        several = {name: ids for name, ids in self.concepts.items() if len(ids) > 1}
        shared = [f"{name} ({', '.join(filter(None, ids))})" for name, ids in several.items() if any(ids)]
        twice = [name for name, ids in several.items() if not any(ids)]
        repeated = [
            f"{id} ({'; '.join((self.label_of[id], *names))})" for id, names in self.repeated.items()
        ]
        mistaken = [name for name in self.ids if self.label_of.get(name, name) != name]
        yield Finding.of("concepts without name, left out", self.without_name)
        yield Finding.of("names that several ids share, each one label", shared)
        yield Finding.of("names that occur more than once", twice)
        yield Finding.of("ids that occur more than once, with other names", repeated)
        yield Finding.of("names that are ids of other labels, and are read as ids", mistaken)
