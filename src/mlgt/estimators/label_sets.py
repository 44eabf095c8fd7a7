"""The methods of `TextTagger` that scikit-learn's users expect: `predict` and `predict_proba`."""

from collections.abc import Iterable
from typing import Any

import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if

from .._core.sigmoid import sigmoid
from .._core.sparse import by_label
from ..text import check_texts
from .base import is_calibrated


def _has_probabilities(tagger):
    """`predict_proba` exists as it does for the classifier."""
    return is_calibrated(getattr(tagger, "classifier_", tagger))


class LabelSets:
    """Sets of names, and a matrix of probabilities."""

    classifier_: Any
    features_: Any

    def predict(self, texts: Iterable[str]) -> list[set[str]]:
        """Predict the labels of each text.

        With probabilities, these are as many of the best labels as maximise the expected F1, at least one;
        otherwise the 5 best. A text without any known word gets none.

        Parameters
        ----------
        texts : iterable of str
            The texts.

        Returns
        -------
        list of set of str
            The names of the labels of each text.
        """
        model = self.fitted_model()  # type: ignore[attr-defined]
        rows = self.features_(check_texts(texts))
        found = model.best(rows, "auto" if model.calibrated else None, None, self.classifier_.n_jobs)
        return [{str(name) for name, _ in row} for row in model.named(*found)]

    @available_if(_has_probabilities)
    def predict_proba(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Estimate the probabilities of the candidate labels of each text.

        Parameters
        ----------
        texts : iterable of str
            The texts.

        Returns
        -------
        csr_matrix of shape (n, d)
            Probabilities, with columns in the order of `classes_`; 0 for labels that are no candidates.
        """
        if self.classifier_.tail:
            raise ValueError(
                f"tail={self.classifier_.tail} ranks by more than probability; train with tail=0."
            )
        model = self.fitted_model()  # type: ignore[attr-defined]
        rows = self.features_(check_texts(texts))
        labels, scores = model.predict_topk(rows, model.max_candidates, None, self.classifier_.n_jobs)
        return by_label(labels, sigmoid(scores), model.n_labels)
