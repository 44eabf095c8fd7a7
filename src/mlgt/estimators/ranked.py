"""What all estimators share that name the k best labels of a row: checked input, sparse sets, tags."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils.validation import validate_data

from .._core.rows import map_blocks
from .._core.sparse import canonical
from .._core.validation import check_count

N_PREDICTED = 5
"""Labels `predict` gives each row without probabilities: the sparsity the paper predicts with."""


class RankedLabels(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    def _check_features(self, X, reset):
        return canonical(validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float32))

    def _check_k(self, k):
        d = len(self.classes_)
        if k is None:
            return min(N_PREDICTED, d)
        return check_count("k", k, d, ", the number of labels the model knows")

    def _rank_rows(self, top_k, X):
        """(labels, scores), both (n, k): top_k(rows) of blocks of the rows of X."""
        blocks = map_blocks(top_k, X, self.n_jobs)
        return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


def by_label(labels, values, d):
    """(n, d) CSR matrix with values[i, j] in column labels[i, j]; nothing for -1."""
    kept = labels >= 0
    rows = np.nonzero(kept)[0]
    return sp.csr_matrix((values[kept], (rows, labels[kept])), shape=(len(labels), d))
