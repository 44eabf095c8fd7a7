"""Vocabularies: the ids, names and further names of labels, and labels of files matched with them."""

from .build import Concept, build_vocabulary
from .changes import Changes, follow_vocabulary
from .matching import Matched, match_labels, report_findings
from .reading import as_vocabulary, read_label_vocabulary, read_vocabulary
from .vocabulary import Finding, Vocabulary

__all__ = [
    "Changes",
    "Concept",
    "Finding",
    "Matched",
    "Vocabulary",
    "as_vocabulary",
    "build_vocabulary",
    "follow_vocabulary",
    "match_labels",
    "read_label_vocabulary",
    "read_vocabulary",
    "report_findings",
]
