"""What the baselines share: checked input, the k best labels of blocks of rows, and sparse sets of them."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..rows import map_blocks, scale_rows
from ..sparse import canonical
from ..validation import check_count, check_labels

N_PREDICTED = 5
"""Labels `predict` gives each row: the sparsity the paper predicts with."""


class RankedLabels(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """An estimator that names the k best labels of a row, in `_top_k(rows, k)` of its own."""

    def _begin(self, X, y):
        """Checked rows of length 1 and labels; sets what every fitted estimator has."""
        X = self._rows(X, reset=True)
        Y, names = check_labels(y, X.shape[0])
        self.classes_ = np.arange(Y.shape[1]) if names is None else np.array(names, dtype=object)
        return X, Y

    def predict_topk(self, X, k=None):
        """The k best labels of each row: (label ids (n, k), scores (n, k)), best first, padded by -1."""
        check_is_fitted(self)
        d = len(self.classes_)
        k = min(N_PREDICTED, d) if k is None else check_count("k", k, d, ", the number of labels")
        blocks = map_blocks(lambda rows: self._top_k(rows, k), self._rows(X, reset=False), self.n_jobs)
        return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])

    def predict(self, X):
        """The 5 best labels of each row, as a (n, d) CSR matrix of 0 and 1."""
        labels, _ = self.predict_topk(X)
        rows, columns = np.nonzero(labels >= 0)
        ones = np.ones(len(rows), np.int64)
        return sp.csr_matrix((ones, (rows, labels[rows, columns])), shape=(len(labels), len(self.classes_)))

    def _rows(self, X, reset):
        X = canonical(validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float32))
        return scale_rows(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags
