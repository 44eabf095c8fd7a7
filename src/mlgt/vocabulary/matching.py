"""Labels of a file matched with a vocabulary, and reports of what does not match."""

import warnings
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from .._core.errors import VocabularyWarning
from .._core.progress import Narrator
from .vocabulary import SHOWN, Finding, Vocabulary


class Matched(NamedTuple):
    """Rows of label names: preferred names of the vocabulary, and other labels as they were."""

    lists: list[list[str]]
    findings: tuple[Finding, ...]


def match_labels(
    lists: list[list[str]],
    vocabulary: Vocabulary | None,
    *,
    only: bool = False,
    keep_retired: bool = False,
) -> Matched:
    """Replace the labels of each row, ids or names, by the preferred names of the vocabulary.

    Labels that the vocabulary lacks stay as they are, or are dropped with `only`. Retired labels without a
    successor are dropped, unless `keep_retired`. Without a vocabulary all labels stay.
    """
    if vocabulary is None:
        return Matched(lists, ())
    counts = Counter(label for labels in lists for label in labels)
    name_of: dict[str, str | None] = {}
    unknown, retired = [], []
    for label in counts:
        found = vocabulary.find(label)
        if found is not None:
            name_of[label] = vocabulary.names[found]
        elif vocabulary.is_retired(label):
            retired.append(label)
            name_of[label] = label if keep_retired else None
        else:
            unknown.append(label)
            name_of[label] = None if only else label
    rows = [
        list(dict.fromkeys(name for name in (name_of[label] for label in labels) if name is not None))
        for labels in lists
    ]
    what = "dropped" if only else "kept as labels of their own"
    findings = (
        _finding(f"labels that the vocabulary lacks, {what}", unknown, counts),
        _finding("labels that are retired in the vocabulary, not learnt", retired, counts),
    )
    return Matched(rows, tuple(finding for finding in findings if finding.count))


def _finding(what, labels, counts):
    """A finding with the most frequent labels."""
    best = sorted(labels, key=lambda label: (-counts[label], label))[:SHOWN]
    return Finding(what, len(labels), tuple(f"{label} ({counts[label]} times)" for label in best))


def report_findings(findings: Iterable[Finding], narrator: Narrator, *, stacklevel: int = 4) -> None:
    """Report findings through the narrator if it shows something, else as one warning."""
    lines = [str(finding) for finding in findings]
    if narrator.verbose > 0:
        for line in lines:
            narrator.say(line)
    elif lines:
        warnings.warn("; ".join(lines) + ".", VocabularyWarning, stacklevel=stacklevel)
