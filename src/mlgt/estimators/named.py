"""What a tagger knows of its labels: their names, ids and vocabulary."""

from typing import Any

import numpy as np

from ..vocabulary import Vocabulary, match_labels, report_findings


class NamedLabels:
    """The labels of a fitted tagger, and labels of new texts in the same terms."""

    classifier_: Any
    vocabulary_only: bool

    @property
    def classes_(self) -> np.ndarray:
        """The names of the labels."""
        return self.classifier_.classes_

    @property
    def vocabulary_(self) -> Vocabulary | None:
        """The labels with their ids and further names, or None."""
        return self.classifier_.model_.vocabulary

    @property
    def calibrated_(self) -> bool:
        """True if `tag` returns calibrated probabilities."""
        return self.classifier_.fitted_model().calibrated

    def _match(self, lists, vocabulary, findings, narrator):
        """Lists of labels as names of the vocabulary; reports `findings` and what does not match."""
        matched = match_labels(lists, vocabulary, only=self.vocabulary_only)
        report_findings((*findings, *matched.findings), narrator)
        seen = {name for labels in matched.lists for name in labels}
        n_labels = len(seen.union(vocabulary.names))
        narrator.say(f"{len(seen)} of {n_labels} labels have a row in these texts")
        return matched.lists
