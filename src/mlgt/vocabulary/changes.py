"""A changed vocabulary, compared with the labels of a model.

A label of the model goes on as the label of the new vocabulary that has its id or, failing that, its name:

    renamed      the id has another preferred name
    merged       two labels go on as the same one, as by dct:isReplacedBy or a shared name: the column with
                 more training rows keeps it, and the other one is returned as that
    withdrawn    the id is gone or retired: never returned
    new          no label of the model: a label without any row

Labels that no vocabulary had (`Vocabulary.with_labels`) stay, unless the new one has their name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .vocabulary import Finding, Vocabulary

WITHDRAWN = -1


@dataclass(frozen=True)
class Changes:
    vocabulary: Vocabulary
    """The labels of all columns of the model: old ones in their order, then new ones."""
    n_new: int
    findings: tuple[Finding, ...]


def follow_vocabulary(
    old: Vocabulary, new: Vocabulary, counts: Sequence[int], *, may_grow: bool = True
) -> Changes:
    """Compare the labels `old` of a model, with this many training rows each, with a new vocabulary.

    Without `may_grow`, new labels are reported but not added.
    """
    goes_on = _go_on(old, new)
    first: dict[int, int] = {}  # the column that keeps each label of the new vocabulary
    for l in sorted(range(len(old)), key=lambda l: (-counts[l], l)):
        if goes_on[l] is not None and goes_on[l] >= 0:
            first.setdefault(goes_on[l], l)
    added = [t for t in range(len(new)) if t not in first]
    columns = _Columns(old, new, goes_on, first)
    vocabulary = columns.build(added if may_grow else [])
    grown = ("new labels", [new.names[t] for t in added])
    if not may_grow:
        grown = ("new labels, not added as the model has blocks or SAFFRON: train again", grown[1])
    listed = [
        ("renamed labels", [f"{old.names[l]} -> {new.names[t]}" for l, t in columns.renamed]),
        ("merged labels", [f"{old.names[l]} -> {new.names[t]}" for l, t in columns.merged]),
        ("withdrawn labels, no longer returned", [old.names[l] for l in columns.withdrawn]),
        grown,
    ]
    found = tuple(Finding.of(what, examples) for what, examples in listed if examples)
    return Changes(vocabulary, len(added) if may_grow else 0, (*new.findings, *found))


def _go_on(old, new):
    """The label of the new vocabulary per column; WITHDRAWN, or None for a column that is none of both."""
    found: list[int | None] = []
    for l, (name, ids) in enumerate(zip(old.names, old.ids)):
        if old.returned_as is not None and old.returned_as[l] != l:
            found.append(None)
            continue
        places = (new.find(id) for id in ids)
        place = next((place for place in places if place is not None), None)
        if place is None and not any(new.is_retired(id) for id in ids):
            place = new.position_of_name(name)
        if place is None and ids:
            place = WITHDRAWN
        found.append(place)
    return found


class _Columns:
    """The columns of a model in terms of a new vocabulary."""

    def __init__(self, old, new, goes_on, first):
        self.old, self.new, self.goes_on, self.first = old, new, goes_on, first
        kept = [(l, t) for l, t in enumerate(goes_on) if t is not None and t != WITHDRAWN]
        self.renamed = [(l, t) for l, t in kept if first[t] == l and old.names[l] != new.names[t]]
        self.merged = [(l, t) for l, t in kept if first[t] != l]
        self.withdrawn = [l for l, t in enumerate(goes_on) if t == WITHDRAWN]

    def build(self, added):
        old, new, d = self.old, self.new, len(self.old)
        returned = list(range(d)) if old.returned_as is None else [int(l) for l in old.returned_as]
        for l in self.withdrawn:
            returned[l] = WITHDRAWN
        for l, t in self.merged:
            returned[l] = self.first[t]
        for l in range(d):  # a column that was returned as one of these before
            if returned[l] >= 0:
                returned[l] = returned[returned[l]]
        names, ids, further = (
            list(old.names),
            list(map(tuple, old.ids)),
            list(map(tuple, old.further_names)),
        )
        for t, l in self.first.items():
            names[l], ids[l], further[l] = new.names[t], tuple(new.ids[t]), tuple(new.further_names[t])
        taken = {*new.names, *(name for l, name in enumerate(names) if returned[l] == l)}
        for l in range(d):
            if returned[l] != l:
                names[l], ids[l], further[l] = _free_name(names[l], taken), (), ()
                taken.add(names[l])
        returned += range(d, d + len(added))
        same = returned == list(range(len(returned)))
        return Vocabulary(
            (*names, *(new.names[t] for t in added)),
            (*ids, *(tuple(new.ids[t]) for t in added)),
            (*further, *(tuple(new.further_names[t]) for t in added)),
            new.language,
            self._retired(returned, ids),
            returned_as=None if same else np.array(returned, np.int64),
        )

    def _retired(self, returned, ids):
        """Ids that are no longer in use, also those that the vocabulary does not mention any more."""
        retired = {**self.old.retired, **self.new.retired}
        known = {id for own in self.new.ids for id in own} | {*self.new.names}
        for l, (name, old_ids) in enumerate(zip(self.old.names, self.old.ids)):
            after = returned[l]
            if after == l:  # its ids, and its name before it was renamed
                retired |= dict.fromkeys((*old_ids, name), next(iter(ids[l]), None))
            else:
                shown = None if after == WITHDRAWN else next(iter(ids[after]), None)
                retired |= dict.fromkeys((*old_ids, name), shown)
        return {label: after for label, after in retired.items() if label not in known}


def _free_name(name, taken):
    """A name that no label has, for a column that is never returned."""
    name = f"{name.removesuffix(' (retired)')} (retired)"
    while name in taken:
        name += "'"
    return name
