"""One row at a time, for servers: everything prepared, nothing of scipy or scikit-learn on the way.

    predictor = mlgt.Predictor("model")          # a folder, or a fitted MLGTClassifier
    labels, scores = predictor(indices, values)  # one sparse row

The result has the bits of `predict_topk`. Calls share nothing that is written to, so any number of
threads may make them at once; kernels release the interpreter lock and start no threads of their own.
"""

import numpy as np

from .retrieve import search
from .retrieve._kernels import margins, unit_rows


class Predictor:
    """The k best labels of single rows.

    Parameters
    ----------
    model : a fitted MLGTClassifier with mlgt's own classifiers, or a model folder
    """

    def __init__(self, model):
        if not hasattr(model, "predict_topk"):
            from .model_files import load_model

            model = load_model(model)
        if not hasattr(model.classifiers_, "coef"):
            raise ValueError(
                f"A model with classifier={model.classifier!r} has no linear weights to prepare; use its "
                "predict_topk, or train with classifier=None."
            )
        self.n_features = int(model.n_features_in_)
        self.classes = model.classes_
        self._coef = np.ascontiguousarray(model.classifiers_.coef)
        self._intercept = np.ascontiguousarray(model.classifiers_.intercept)
        self._normalize = model.normalize
        self._decoder, self._index = model._prepare()
        self(np.zeros(0, np.int32), np.zeros(0, np.float32), 1)  # compile, and build what is built lazily

    def __call__(self, indices, values, k=5):
        """(label ids (k,), scores (k,)) of a row with `values` in the columns `indices`, best first.

        Each column once; padded by -1 and -inf.
        """
        indices = np.ascontiguousarray(indices, dtype=np.int32)
        values = np.ascontiguousarray(values, dtype=np.float32)
        self._check(indices, values, k)
        indptr = np.array([0, len(indices)], np.int32)
        if self._normalize:
            scaled = np.empty_like(values)
            unit_rows(indptr, values, scaled)
            values = scaled
        out = np.empty((1, len(self._intercept)), np.float32)
        margins(indptr, indices, values, self._coef, self._intercept, out)
        labels, scores = search(self._decoder.values(out), self._index, self._decoder, k)
        return labels[0], scores[0]

    def _check(self, indices, values, k):
        if indices.shape != values.shape or indices.ndim != 1:
            raise ValueError(
                f"indices has shape {indices.shape} and values {values.shape}; expected two vectors of the "
                "same length: the columns of one row and what is in them."
            )
        if len(indices) and not 0 <= indices.min() <= indices.max() < self.n_features:
            raise ValueError(
                f"indices has ids from {indices.min()} to {indices.max()}; expected 0 to "
                f"{self.n_features - 1}, the features of the model."
            )
        if not np.isfinite(values).all():
            raise ValueError("values has NaN or infinity; expected finite numbers.")
        if not 1 <= k <= len(self.classes):
            raise ValueError(f"k={k} must be from 1 to {len(self.classes)}, the labels of the model.")
