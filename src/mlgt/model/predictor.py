"""Predictions from a trained model, for servers and for the command line.

Predicting needs no scikit-learn, neither for rows of features nor for texts.

    predictor = mlgt.Predictor("model")          # a folder, or a fitted estimator of mlgt
    labels, scores = predictor(indices, values)  # one sparse row
    labels, scores = predictor.predict_topk(X)   # many rows: X sparse or dense
    predictor.tag("a text", k="auto")            # a model of texts: [(name, probability), ...]

All give the same bits as the estimator's `predict_topk`. Calls share nothing that is written to, so any
number of threads may make them at once; kernels release the interpreter lock and start no threads of their
own.
"""

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import UncalibratedWarning
from .._core.rows import Rows, with_words
from .._core.sparse import canonical
from .._core.validation import names_of_features
from ..ranking.names import matched_words
from ..text import TextFeatures, check_texts
from .explain import Explanation, explain_row
from .fitted import FittedModel
from .format import check_portable
from .labels import returned_top_k
from .one_row import best_of_text, check_finite, scaled_row
from .reading import read_model
from .wording import Wording


class AllLabels:
    """What is known of all labels, also of those that the model leaves out; computed at first use."""

    def fitted_model(self) -> FittedModel:
        raise NotImplementedError

    @property
    def classes_(self) -> np.ndarray:
        """The names of the labels, or their ids."""
        model = self.fitted_model()
        named = model.known_labels is None or model.names is not None
        return model.classes if named else np.arange(model.n_labels)

    @property
    def label_counts_(self) -> np.ndarray:
        """The number of training rows of each label."""
        known, counts = self.fitted_model().known_labels, self.fitted_model().label_counts
        return counts if known is None else known.spread_counts(counts)


class Predictor(AllLabels):
    """The k best labels of rows, from a model folder or a fitted estimator.

    Any number of threads may call one Predictor at once.

    Parameters
    ----------
    model : str, path or fitted estimator
        A model folder, or a fitted `MLGTClassifier`, `HierarchicalMLGTClassifier` or `TextTagger`.
    n_jobs : int, default=None
        Threads of `predict_topk`, as in joblib; None is one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels_,)
        The names of the labels, or their ids, 0, 1, ...; computed at first use.
    n_labels_ : int
        Number of labels: columns of Y.
    known_labels_ : KnownIds or None
        The ids that the model knows, if it leaves out ids that never occurred in training.
    n_features_in_ : int
        Number of columns of a row.
    label_counts_ : ndarray of shape (n_labels_,)
        Number of training rows of each label; computed at first use.
    n_rows_ : int
        Number of training rows.
    calibrated_ : bool
        True if 1 / (1 + exp(-score)) is the probability that the label is right.
    n_candidates_ : int
        Number of labels per row that are ranked by all evidence.
    features_ : TextFeatures or None
        Texts -> rows, for a model of texts.
    columns_ : dict or None
        Where the training file had texts and labels, if the model was trained from a file.

    Examples
    --------
    >>> from mlgt import MLGTClassifier, Predictor, datasets
    >>> train, test = datasets.load_debtags()
    >>> predictor = Predictor(MLGTClassifier(random_state=0).fit(train.X, train.Y))
    >>> row = test.X[[0]]
    >>> labels, scores = predictor(row.indices, row.data, k=3)
    >>> labels.shape
    (3,)
    >>> labels, scores = predictor.predict_topk(test.X[:10], 3)
    >>> labels, probabilities = predictor.best(test.X[:10], "auto")
    >>> [reasons.label for reasons in predictor.explain(row, k=2).labels] == labels[0, :2].tolist()
    True
    """

    def __init__(self, model: Any, *, n_jobs: int | None = None) -> None:
        if isinstance(model, (str, os.PathLike)):
            _, fitted = read_model(model)
        else:
            fitted = model if isinstance(model, FittedModel) else model.fitted_model()
            check_portable(fitted)
        self._model = fitted
        self.n_jobs = n_jobs
        self.features_, self.columns_ = fitted.features, fitted.columns
        self.calibrated_, self.n_candidates_ = fitted.calibrated, fitted.max_candidates
        self.n_features_in_, self.n_rows_ = fitted.n_features, fitted.n_rows
        self.n_labels_, self.known_labels_ = fitted.n_labels, fitted.known_labels

    def __call__(
        self, indices: np.ndarray, values: np.ndarray, k: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best labels of one sparse row.

        Parameters
        ----------
        indices : array-like of int
            The columns of the row that have a value.
        values : array-like of float
            The values in these columns.
        k : int, default=None
            Number of labels; None is 5, or all labels if there are fewer.

        Returns
        -------
        labels : ndarray of shape (k,)
            Label ids, best first, padded with -1.
        scores : ndarray of shape (k,)
            Their scores, padded with -inf.
        """
        k = self._model.check_k(k)
        indices, scaled = scaled_row(self._model, indices, values)
        indptr = np.array([0, len(indices)], np.int32)
        rows: Any = Rows(indptr, indices, scaled, (1, self.n_features_in_))
        words = matched_words(rows, self._model.name_index, self._model.feature_words)
        if self._model.known_features is not None:
            rows = self._model.known_features.select(rows.csr())
        labels, scores = returned_top_k(self._model, with_words(rows, words), k)
        return self._model.to_ids(labels[0]), scores[0]

    def predict_topk(
        self, X: Any, k: int | None = None, *, among: Iterable[str | int] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best labels of each row.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.
        k : int, default=None
            Number of labels per row; None is 5, or all labels if there are fewer.
        among : iterable of str or int, default=None
            Labels, by name or id, to score; no others are returned.

        Returns
        -------
        labels : ndarray of shape (n, k)
            Label ids, best first, padded with -1.
        scores : ndarray of shape (n, k)
            Their scores, padded with -inf.
        """
        return self._model.predict_topk(self._check_rows(X), k, among, self.n_jobs)

    def best(
        self, X: Any, k: int | str | None = None, *, among: Iterable[str | int] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the best labels of each row with their probabilities.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n, p)
            The rows.
        k : int or "auto", default=None
            Number of labels per row. "auto" keeps the labels that maximise the expected F1 of each row.
        among : iterable of str or int, default=None
            Labels, by name or id, to score; no others are returned.

        Returns
        -------
        labels : ndarray of shape (n, k)
            Label ids, best first, padded with -1.
        values : ndarray of shape (n, k)
            Probabilities if the model is calibrated, else scores, with an `UncalibratedWarning`.
        """
        found = self._model.best(self._check_rows(X), k, among, self.n_jobs)
        self._warn_uncalibrated()
        return found

    def tag(
        self,
        texts: str | Iterable[str],
        k: int | str = 5,
        *,
        among: Iterable[str | int] | None = None,
        ids: bool = False,
    ) -> list[Any]:
        """Find the k best labels of a text, or of each of several texts.

        Parameters
        ----------
        texts : str or iterable of str
            One text or several.
        k : int or "auto", default=5
            Number of labels per text, or all if there are fewer. "auto" keeps the labels that maximise the
            expected F1 of each text.
        among : iterable of str or int, default=None
            Labels, by name or id, to score; no others are returned.
        ids : bool, default=False
            Also return the id of each label in the vocabulary.

        Returns
        -------
        list
            (label, probability) pairs, best first, or with `ids` (label, probability, id) triples, where
            the id is None if the label has none; for several texts, a list of such lists. A model without
            probabilities returns scores instead, with an `UncalibratedWarning`.
        """
        k = min(k, len(self._model.label_counts)) if isinstance(k, (int, np.integer)) else k
        features = self._text_features()
        if isinstance(texts, str) and among is None and k != "auto":
            found = best_of_text(self._model, features.one(texts), k)  # type: ignore[arg-type]
        else:
            rows = features(check_texts([texts] if isinstance(texts, str) else texts))
            found = self._model.best(rows, k, among, self.n_jobs)
        tagged = self._model.named(*found, with_ids=ids)
        self._warn_uncalibrated()
        return tagged[0] if isinstance(texts, str) else tagged

    def explain(
        self,
        row: Any,
        k: int = 3,
        *,
        labels: Iterable[str | int] | None = None,
        feature_names: Any = None,
    ) -> Explanation:
        """Explain why a text or a row gets its labels.

        Parameters
        ----------
        row : str, or sparse matrix or array of shape (1, p)
            The text or the row.
        k : int, default=3
            Number of best labels to explain.
        labels : iterable of str or int, default=None
            Labels, by name or id, to explain instead of the best ones.
        feature_names : sequence of str, or transformer or Pipeline of scikit-learn, default=None
            The names of the features, for a model of rows; None takes those of the data frame it was
            trained on, if there was one.

        Returns
        -------
        mlgt.model.explain.Explanation
            For each label, the words for and against it, the evidence that makes its score, and the groups
            that fired. A notebook shows the text with the words marked.
        """
        known, text = self._model.known_features, None
        if isinstance(row, str):
            text, row = row, self._text_features()([row])
        row = self._check_rows(row)
        if row.shape[0] != 1:
            raise ValueError(f"There are {row.shape[0]} rows; expected one to explain.")
        if self.features_ is not None and row.nnz == 0:
            return Explanation([], [], 0, text)
        if text is not None:
            wording = Wording.of_text(text, self._text_features(), known)
        elif feature_names is None:
            wording = Wording.of_columns(self._model.feature_names or (), known)
        else:
            wording = Wording.of_columns(names_of_features(feature_names, self.n_features_in_), known)
        k = self._model.check_k(min(k, len(self._model.label_counts)))
        wanted = k if labels is None else self._model.label_ids(labels, "labels")
        return explain_row(self._model, self._model.scaled(row), wanted, wording)

    def fitted_model(self) -> FittedModel:
        """Return the fitted model.

        Returns
        -------
        mlgt.model.fitted.FittedModel
            The object that makes all predictions.
        """
        return self._model

    def _warn_uncalibrated(self):
        if not self.calibrated_:
            warnings.warn(
                "This model has no probabilities: the numbers beside its labels are scores, which only "
                "order them. Probabilities need about a thousand training rows, no method of the paper "
                "and tail=0; predict_topk returns scores without this warning.",
                UncalibratedWarning,
                stacklevel=3,
            )

    def _text_features(self) -> TextFeatures:
        if self.features_ is None:
            raise ValueError("This model was trained on rows of features, not on texts; use predict_topk.")
        return self.features_

    def _check_rows(self, X):
        """X as CSR rows; rows with words, which `features_` made, stay as they are."""
        if isinstance(X, Rows) and X.shape[1] == self.n_features_in_:
            return X
        names = getattr(X, "columns", None)
        known = self._model.feature_names
        if names is not None and known and list(names) != list(known):
            raise ValueError("The columns of X are not the features of the model, in their order.")
        if np.ndim(X) != 2 and not sp.issparse(X):
            raise ValueError(f"X has {np.ndim(X)} dimension(s); expected rows of features, (n, p).")
        X = canonical(X, np.float32)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but the model expects {self.n_features_in_}.")
        check_finite(X.data)
        return X
