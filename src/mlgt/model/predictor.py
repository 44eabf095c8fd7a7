"""Predictions from a trained model, for servers and for the command line: no scikit-learn on the way.

    predictor = mlgt.Predictor("model")          # a folder, or a fitted estimator of mlgt
    labels, scores = predictor(indices, values)  # one sparse row
    labels, scores = predictor.predict_topk(X)   # many: X sparse or dense
    predictor.tag("a text", k="auto")            # of a model of texts: [(name, probability), ...]

Both have the bits of the estimator's `predict_topk`. Calls share nothing that is written to, so any number
of threads may make them at once; kernels release the interpreter lock and start no threads of their own.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import ModelFileError
from .._core.rows import Rows, map_blocks, scale, scale_rows
from .._core.sparse import canonical
from ..decoding.index import LabelIndex
from ..ranking.sets import best_sets, sigmoid
from ..text import TextFeatures, check_texts
from .block_model import BlockModel
from .explain import Explanation, explain_row
from .files import StoredArrays, explain_state, read_header
from .flat_model import FlatModel

MODELS: dict[str, Any] = {"MLGTClassifier": FlatModel, "HierarchicalMLGTClassifier": BlockModel}


class Predictor:
    """The k best labels of rows, from a model folder or a fitted estimator.

    Any number of threads may call one Predictor at once.

    Parameters
    ----------
    model : a model folder, or a fitted estimator of mlgt with mlgt's own classifiers
    n_jobs : threads of `predict_topk`, as in joblib

    Attributes
    ----------
    classes_ : the labels' names, or 0 .. d-1
    n_features_in_ : columns of a row
    label_counts_, n_rows_ : training rows of each label, and of all
    calibrated_ : is 1 / (1 + exp(-score)) the probability that the label is right?
    n_candidates_ : labels a row that are looked at closely
    features_ : texts -> rows, the `mlgt.text.TextFeatures` of a model of texts, else None
    columns_ : of a file, where texts and labels were, if the model says so

    Examples
    --------
    >>> from mlgt import MLGTClassifier, Predictor, datasets
    >>> train, test = datasets.load_debtags()
    >>> predictor = Predictor(MLGTClassifier(random_state=0).fit(train.X, train.Y))
    >>> row = test.X[[0]]
    >>> labels, scores = predictor(row.indices, row.data, k=3)
    >>> labels.shape
    (3,)
    """

    def __init__(self, model, *, n_jobs=None):
        if hasattr(model, "predict_topk"):
            self.features_, self.columns_ = (
                getattr(model, name, None) for name in ("features_", "columns_")
            )
            model = getattr(model, "classifier_", model)._to_model()
            self._matching = model.matching()
        else:
            path = model
            header = read_header(path)
            with explain_state(path):
                if header["class"] not in MODELS:
                    raise ValueError(f"class {header['class']!r} is unknown")
                arrays = StoredArrays(path, header)
                model = MODELS[header["class"]].from_state(header, arrays)
                self._matching = model.matching()
                self.features_, self.columns_ = _stored_features(header.get("text"), arrays)
        if self.features_ is not None and self.features_.n_features != model.n_features:
            raise ModelFileError(
                f"The texts have {self.features_.n_features} terms, but the classifier expects "
                f"{model.n_features}; the model is not whole. Train again."
            )
        self._design: Any = getattr(model, "design", None)
        self.n_jobs = n_jobs
        self.calibrated_ = self._matching.calibrated
        self.n_candidates_ = min(len(model.classes), model.settings["n_candidates"])
        self.n_features_in_ = model.n_features
        self.classes_, self.label_counts_, self.n_rows_ = model.classes, model.label_counts, model.n_rows
        self._feature_names = model.feature_names
        self._normalize, self._power = model.settings["normalize"], model.settings["power"]

    def __call__(self, indices, values, k=None):
        """(label ids (k,), scores (k,)) of a row with `values` in the columns `indices`, best first.

        k is 5 if not given, or all labels where there are fewer. Padded by -1 and -inf.
        """
        k = self._check_k(k)
        indices, values = self._check_row(indices, values)
        indptr = np.array([0, len(indices)], np.int32)
        scaled = np.empty_like(values)
        scale(indptr, values, np.float32(self._power), self._normalize, scaled)
        row = Rows(indptr, indices, scaled, (1, self.n_features_in_))
        labels, scores = self._matching.top_k(row, k)
        return labels[0], scores[0]

    def predict_topk(self, X, k=None, *, among=None):
        """(label ids (n, k), scores (n, k)) of the rows of X (n, p), best first; padded by -1 and -inf.

        `among`, labels by name or id, scores these alone.
        """
        X = self._check_rows(X)
        k, among = self._check_wanted(k, among)
        blocks = map_blocks(lambda rows: self._matching.top_k(rows, k, among), X, self.n_jobs)
        labels, scores = (np.concatenate([block[i] for block in blocks]) for i in (0, 1))
        if self.features_ is not None:  # a text without any known word: nothing is known of it
            labels[np.diff(X.indptr) == 0], scores[np.diff(X.indptr) == 0] = -1, -np.inf
        return labels, scores

    def _check_wanted(self, k, among):
        """k and the ids of `among`, which hold at most k."""
        if among is None:
            return self._check_k(k), None
        ids = label_ids(among, self.classes_, self._matching)
        return min(self._check_k(k), len(ids)), ids

    def _check_rows(self, X):
        """X as scaled CSR rows."""
        names = getattr(X, "columns", None)
        if names is not None and self._feature_names and list(names) != list(self._feature_names):
            raise ValueError("The columns of X are not the features of the model, in their order.")
        if np.ndim(X) != 2 and not sp.issparse(X):
            raise ValueError(f"X has {np.ndim(X)} dimension(s); expected rows of features, (n, p).")
        X = canonical(X, np.float32)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but the model expects {self.n_features_in_}.")
        self._check_finite(X.data)
        return scale_rows(X, self._power, self._normalize)

    def best(self, X, k=None, *, among=None):
        """`predict_topk` with probabilities for scores where the model has them; k="auto" leaves as many
        labels a row as make the expected F1 largest, the others are -1."""
        if k != "auto":
            labels, scores = self.predict_topk(X, k, among=among)
            return labels, sigmoid(scores) if self.calibrated_ else scores
        if not self.calibrated_:
            raise ValueError(
                'k="auto" needs probabilities, which this model does not have: they need some hundred '
                "training rows, and none of the paper's methods. Pass a number."
            )
        labels, scores = self.predict_topk(X, self.n_candidates_, among=among)
        return best_sets(labels, scores), sigmoid(scores)

    def named(self, labels, values):
        """Rows of ids and values as lists of (name, value), without padding."""
        return [
            [(self.classes_[label], value) for label, value in zip(*row) if label >= 0]
            for row in zip(labels.tolist(), values.tolist())
        ]

    def tag(self, texts, k=5, *, among=None):
        """The k best labels of a text, or of each of several: see `TextTagger.tag`."""
        k = min(k, len(self.classes_)) if isinstance(k, (int, np.integer)) else k
        one = isinstance(texts, str)
        rows = self.named(*self.best(self._rows_of([texts] if one else texts), k, among=among))
        return rows[0] if one else rows

    def _rows_of(self, texts):
        if self.features_ is None:
            raise ValueError("This model was trained on rows of features, not on texts; use predict_topk.")
        return self.features_(check_texts(texts))

    def explain(self, row, k=3, *, labels=None):
        """Why a text, or a row (1, p), gets its k best labels, or what speaks for these `labels`, by name
        or id: an `mlgt.explain.Explanation`."""
        names = {j: str(name) for j, name in enumerate(self._feature_names or ())}
        if isinstance(row, str):
            names, row = (self.features_ and self.features_.terms_of(row)) or {}, self._rows_of([row])
        row = self._check_rows(row)
        if row.shape[0] != 1:
            raise ValueError(f"There are {row.shape[0]} rows; expected one to explain.")
        k, ids = self._check_wanted(min(k, len(self.classes_)), labels)
        if self.features_ is not None and row.nnz == 0:
            return Explanation([], [], 0)
        return explain_row(
            self._matching, self._index(), row, k if ids is None else ids, names=self.classes_,
            feature_name=lambda j: names.get(j, f"feature {j}"), label_counts=self.label_counts_,
        )  # fmt: skip

    def _index(self):
        """Which labels are in which groups; a SAFFRON design is asked for it."""
        index = getattr(self._matching, "index", None)
        return LabelIndex(self._design.A) if index is None else index

    def _check_row(self, indices, values):
        """The row as int32 and float32, sorted, each column once."""
        indices, values = np.asarray(indices), np.asarray(values, dtype=np.float32)
        if indices.shape != values.shape or indices.ndim != 1:
            raise ValueError(
                f"indices has shape {indices.shape} and values {values.shape}; expected two vectors of the "
                "same length: the columns of one row and what is in them."
            )
        if len(indices) and indices.dtype.kind not in "iu":
            raise ValueError(f"indices has the type {indices.dtype}; expected whole numbers.")
        if len(indices) and not 0 <= indices.min() <= indices.max() < self.n_features_in_:
            raise ValueError(
                f"indices has ids from {indices.min()} to {indices.max()}; expected 0 to "
                f"{self.n_features_in_ - 1}, the features of the model."
            )
        self._check_finite(values)
        indices = indices.astype(np.int32)
        if (indices[1:] <= indices[:-1]).any():
            row = canonical(sp.coo_array((values, (np.zeros_like(indices), indices))), np.float32)
            return row.indices, row.data
        return indices, values

    def _check_finite(self, values):
        if not np.isfinite(values).all():
            raise ValueError("The row values have NaN or infinity; expected finite numbers.")

    def _check_k(self, k):
        d = len(self.classes_)
        if k is None:
            return min(5, d)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= d:
            raise ValueError(f"k={k!r} is not within 1 to {d}, the number of labels the model knows.")
        return int(k)


def label_ids(among, classes, matching):
    """The ids, distinct and ascending, of labels given by name or id; raises where that makes no sense."""
    if not matching.scores_given:
        raise ValueError(
            "This model names labels without scoring given ones, as its decoder or combination has it."
        )
    if isinstance(among, str):
        raise ValueError(f"among={among!r} is one label; expected a list of them.")
    known = {str(name): column for column, name in enumerate(classes)}
    ids = set()
    for label in among:
        column = known.get(label) if isinstance(label, str) else label
        if not isinstance(column, (int, np.integer)) or not 0 <= column < len(classes):
            raise ValueError(
                f"{label!r} is no label of this model; expected names it was trained with, or ids from 0 "
                f"to {len(classes) - 1}."
            )
        ids.add(int(column))
    if not ids:
        raise ValueError("among is empty; expected at least one label.")
    return np.array(sorted(ids), np.int64)


def _stored_features(told, arrays):
    if told is None:
        return None, None
    return TextFeatures.from_arrays(told["parts"], arrays), told["columns"]
