"""Predictions from a trained model, for servers and for the command line: no scikit-learn on the way.

    predictor = mlgt.Predictor("model")          # a folder, or a fitted estimator of mlgt
    labels, scores = predictor(indices, values)  # one sparse row
    labels, scores = predictor.predict_topk(X)   # many: X sparse or dense

Both have the bits of the estimator's `predict_topk`. Calls share nothing that is written to, so any number
of threads may make them at once; kernels release the interpreter lock and start no threads of their own.
"""

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from .block_model import BlockModel
from .flat_model import FlatModel
from .model_files import StoredArrays, explain_state, read_header
from .rows import Rows, map_blocks, scale, scale_rows
from .sparse import canonical

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
            model = model._to_model()
            self._matching = model.matching()
        else:
            path = model
            header = read_header(path)
            with explain_state(path):
                if header["class"] not in MODELS:
                    raise ValueError(f"class {header['class']!r} is unknown")
                model = MODELS[header["class"]].from_state(header, StoredArrays(path, header))
                self._matching = model.matching()
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

    def predict_topk(self, X, k=None):
        """(label ids (n, k), scores (n, k)) of the rows of X (n, p), best first; padded by -1 and -inf."""
        k = self._check_k(k)
        names = getattr(X, "columns", None)
        if names is not None and self._feature_names and list(names) != list(self._feature_names):
            raise ValueError("The columns of X are not the features of the model, in their order.")
        if np.ndim(X) != 2 and not sp.issparse(X):
            raise ValueError(f"X has {np.ndim(X)} dimension(s); expected rows of features, (n, p).")
        X = canonical(X, np.float32)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but the model expects {self.n_features_in_}.")
        self._check_finite(X.data)
        X = scale_rows(X, self._power, self._normalize)
        blocks = map_blocks(lambda rows: self._matching.top_k(rows, k), X, self.n_jobs)
        return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])

    def among(self, labels):
        """The same predictor with only these labels, ids or names, to choose from."""
        if not hasattr(self._matching, "among"):
            raise ValueError("SAFFRON's decoders read labels off their groups and cannot be told which.")
        known = {label: l for l, label in enumerate(self.classes_.tolist())}
        allowed = np.zeros(len(known), bool)
        for label in np.asarray(labels).tolist():
            if label not in known:
                named = "names" if self.classes_.dtype.kind == "O" else f"ids from 0 to {len(known) - 1}"
                raise ValueError(f"{label!r} is no label of the model; expected some of its {named}.")
            allowed[known[label]] = True
        narrowed = copy.copy(self)
        narrowed._matching = self._matching.among(allowed)
        return narrowed

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
