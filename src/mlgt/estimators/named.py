"""What a tagger knows of its labels: their names, ids and vocabulary."""

from typing import Any

import numpy as np

from .._core.progress import current_narrator
from ..teaching.naming import rename
from ..teaching.relabel import change_vocabulary
from ..vocabulary import Vocabulary, as_vocabulary, match_labels, report_findings


class NamedLabels:
    """The labels of a fitted tagger, and labels of new texts in the same terms."""

    classifier_: Any
    features_: Any
    vocabulary_only: bool
    vocabulary_language: str | None
    _ready: Any

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

    def update_vocabulary(self, vocabulary: Any, language: str | None = None) -> "NamedLabels":
        """Follow a changed vocabulary: labels renamed, merged, withdrawn or added, without training.

        Labels are the same if they have the same id or, failing that, the same name. A label whose id is
        gone or retired is never returned again; one that was replaced by another, or now shares its name,
        is returned as that; new labels have no training row. What has changed is reported.

        Parameters
        ----------
        vocabulary : path, mlgt.vocabulary.Vocabulary, list of str or dict
            The new vocabulary, as in the parameter of the same name.
        language : str, default=None
            The language of the names, if it is a file with several.

        Returns
        -------
        self
            The tagger itself.
        """
        model = self.classifier_.fitted_model()
        new = as_vocabulary(vocabulary, language)
        if new is None:
            raise ValueError("vocabulary=None; expected the new vocabulary.")
        model, changes = change_vocabulary(model, new)
        report_findings(changes.findings, current_narrator(self.classifier_.verbose), stacklevel=3)
        self.classifier_._store(model)
        self.features_ = self._rename(self.classifier_, self.features_)
        self._ready = None
        return self

    def _rename(self, classifier, features):
        """Give the labels of a classifier their names as evidence; returns the features that find them."""
        known = classifier.model_.vocabulary
        names = [[str(name)] for name in classifier.classes_] if known is None else known.all_names()
        model, features = rename(classifier.model_, features, names, self.vocabulary_language)
        classifier._store(model)
        return features

    def _match(self, lists, vocabulary, findings, narrator):
        """Lists of labels as names of the vocabulary; reports `findings` and what does not match."""
        matched = match_labels(lists, vocabulary, only=self.vocabulary_only)
        report_findings((*findings, *matched.findings), narrator)
        seen = {name for labels in matched.lists for name in labels}
        n_labels = len(seen.union(vocabulary.names))
        narrator.say(f"{len(seen)} of {n_labels} labels have a row in these texts")
        return matched.lists
