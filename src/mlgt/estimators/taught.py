"""What a tagger learns after it was trained."""

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._core.progress import current_narrator
from ..teaching.update import with_more_features
from ..text import check_pairs, label_matrix


class TaughtTexts:
    """Teaching a tagger new texts and labels."""

    classes_: Any
    classifier_: Any
    columns_: Any
    features_: Any
    vocabulary_: Any
    fit: Any
    _match: Any
    _rename: Any
    _store: Any

    @property
    def checkup_(self) -> Any:
        """The last lesson's figures before and after, on rows kept out of training; None without any."""
        check_is_fitted(self)
        return self.classifier_.checkup_

    def extend(self, texts: Iterable[str], labels: Iterable[Iterable[str]]) -> Any:
        """Learn new texts, and new labels, without those of `fit`; see `MLGTClassifier.extend`.

        Parameters
        ----------
        texts : iterable of str
            The new texts. Words that two of them have and the model does not know are learnt, unless words
            are hashed, or runs of characters are terms too.
        labels : iterable of iterable of str
            The label names of each text.

        Returns
        -------
        self
            The tagger itself.
        """
        check_is_fitted(self)
        texts, lists = check_pairs(texts, labels)
        if self.vocabulary_ is not None:
            lists = self._match(lists, self.vocabulary_, (), current_narrator(self.classifier_.verbose))
        Y, names = label_matrix(lists, self.classes_)
        counts = np.append(self.classifier_.label_counts_, np.zeros(len(names) - len(self.classes_), int))
        by_label = sp.csc_array(Y)
        topics = [
            [texts[i] for i in by_label.indices[by_label.indptr[l] : by_label.indptr[l + 1]]]
            for l in np.flatnonzero((counts == 0) & (np.diff(by_label.indptr) > 1))
        ]
        features = self.features_.with_terms_of(topics, self.classifier_.n_rows_ + len(texts))
        more = features.n_features - self.features_.n_features
        classifier = copy.copy(self.classifier_)
        if more:
            classifier._store(with_more_features(classifier.model_, more))
        X, new = features.parts_rows(texts), list(names[len(self.classes_) :])
        classifier.extend(X, Y, new or None)
        return self._store(classifier, self._rename(classifier, features), self.columns_)

    def partial_fit(
        self, texts: Iterable[str], labels: Iterable[Iterable[str]], classes: Any = None
    ) -> Any:
        """Learn texts: the first call is `fit`, later ones are `extend`.

        Parameters
        ----------
        texts : iterable of str
            The texts. The first call chooses all settings, so give it as many texts as there are.
        labels : iterable of iterable of str
            The label names of each text.
        classes : default=None
            Not used: labels have names, and new ones may come at any time.

        Returns
        -------
        self
            The tagger itself.
        """
        return (self.extend if hasattr(self, "classifier_") else self.fit)(texts, labels)
