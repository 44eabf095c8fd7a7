"""An estimator with a `_top_k(rows, k)` of its own, on rows of length 1."""

import numpy as np
from mlgt.estimators.ranked import RankedLabels, by_label
from sklearn.utils.validation import check_is_fitted

from mlgt._core.rows import scale_rows
from mlgt._core.validation import check_labels


class Baseline(RankedLabels):
    def _begin(self, X, y):
        """Checked rows of length 1 and labels; sets what every fitted estimator has."""
        X = scale_rows(self._check_features(X, reset=True))
        Y, names = check_labels(y, X.shape[0])
        self.classes_ = np.arange(Y.shape[1]) if names is None else np.array(names, dtype=object)
        return X, Y

    def predict_topk(self, X, k=None):
        """The k best labels of each row: (label ids (n, k), scores (n, k)), best first, padded by -1."""
        check_is_fitted(self)
        k = self._check_k(k)
        X = scale_rows(self._check_features(X, reset=False))
        return self._rank_rows(lambda rows: self._top_k(rows, k), X)

    def predict(self, X):
        """The 5 best labels of each row, as a (n, d) CSR matrix of 0 and 1."""
        labels, _ = self.predict_topk(X)
        return by_label(labels, np.ones(labels.shape, np.int64), len(self.classes_))
