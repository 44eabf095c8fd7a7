"""Tags and input checks of estimators that rank labels."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils.validation import validate_data

from .._core.sparse import canonical, check_stored


class MultilabelEstimator(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """Tags and input checks of estimators that rank labels."""

    def _check_features(self, X, reset):
        check_stored(X)
        if sp.issparse(X) and X.format == "csr":
            X = type(X)(X)  # shares the arrays, without entries that no row uses
        return canonical(validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float32))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags
