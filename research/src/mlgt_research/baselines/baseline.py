"""An estimator with a `_top_k(rows, k)` of its own, on rows of length 1."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mlgt._core.rows import map_blocks, scale_rows
from mlgt._core.sparse import by_label
from mlgt._core.validation import check_count, check_labels
from mlgt.estimators.inputs import MultilabelEstimator
from mlgt.model.fitted import DEFAULT_K


def check_not_negative(name: str, value: float) -> None:
    if not 0 <= value < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number, 0 or more.")


class Baseline(MultilabelEstimator):
    n_jobs: int | None

    def _begin(self, X, y):
        """Checked rows of length 1 and labels; sets what every fitted estimator has."""
        X = scale_rows(self._check_features(X, reset=True))
        Y, names = check_labels(y, X.shape[0])
        self.classes_ = np.arange(Y.shape[1]) if names is None else np.array(names, dtype=object)
        return X, Y

    def _top_k(self, rows, k):
        """(labels, scores) (n, k) of rows of length 1, best first, padded with -1 and -inf."""
        raise NotImplementedError

    def predict_topk(self, X: Any, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(label ids, scores), both (n, k), best first, padded with -1 and -inf; k is 5 by default."""
        check_is_fitted(self)
        d = len(self.classes_)
        wanted = min(DEFAULT_K, d) if k is None else k
        count = check_count("k", wanted, d, ", the number of labels the model knows")
        X = scale_rows(self._check_features(X, reset=False))
        blocks = map_blocks(lambda rows: self._top_k(rows, count), X, self.n_jobs)
        labels, scores = (np.concatenate(parts) for parts in zip(*blocks))
        return labels, scores

    def predict(self, X: Any) -> sp.csr_matrix:
        """The 5 best labels of each row, as a (n, d) CSR matrix of 0 and 1."""
        labels, _ = self.predict_topk(X)
        return by_label(labels, np.ones(labels.shape, np.int64), len(self.classes_))
