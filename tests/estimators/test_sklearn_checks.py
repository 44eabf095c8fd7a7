"""scikit-learn's own checks, with the reason for each that a multilabel-only classifier cannot meet."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlgt import HierarchicalMLGTClassifier, MLGTClassifier

NOT_INDICATOR = "feeds one column of arbitrary class values; y is a 0/1 matrix of labels here"
SPARSE_PREDICT = "compares predict with a dense array; predict is sparse, as d may be a million"
EXPECTED = {
    "check_estimators_partial_fit_n_features": "feeds one column of classes; y is a 0/1 matrix here",
    "check_n_features_in_after_fitting": "teaches one column of classes; y is a 0/1 matrix here",
    "check_estimators_dtypes": NOT_INDICATOR,
    "check_sample_weights_pandas_series": NOT_INDICATOR,
    "check_sample_weights_not_an_array": NOT_INDICATOR,
    "check_sample_weights_shape": NOT_INDICATOR,
    "check_sample_weights_not_overwritten": NOT_INDICATOR,
    "check_classifier_data_not_an_array": NOT_INDICATOR,
    "check_classifiers_classes": NOT_INDICATOR,
    "check_classifiers_train": NOT_INDICATOR,
    "check_class_weight_classifiers": NOT_INDICATOR,
    "check_fit2d_1feature": NOT_INDICATOR,
    "check_classifier_not_supporting_multiclass": "wants the words 'Only binary classification'",
    "check_classifier_multioutput": SPARSE_PREDICT,
    "check_classifiers_multilabel_representation_invariance": SPARSE_PREDICT,
    "check_classifiers_multilabel_output_format_predict": SPARSE_PREDICT,
    "check_sample_weight_equivalence_on_dense_data": (
        "asks for 7 equal digits; weighting equals repeating within the solver's tol, and weights do "
        "not enter the choice of groups"
    ),
    "check_sample_weight_equivalence_on_sparse_data": "as for dense data",
}


class InBlocks(HierarchicalMLGTClassifier):
    """Makes four labels of the one that most checks feed, so that there is something to split."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, four_labels(y), sample_weight)
        assert len(self.blocks_) == 2
        return self

    def score(self, X, y):
        return super().score(X, four_labels(y))


def four_labels(y):
    """Four labels from a column y; labels 0 and 2 occur together, and so do 1 and 3."""
    column = np.asarray(y)
    if column.size < 2 or column.shape[1:] not in ((), (1,)) or not np.isin(column, (0, 1)).all():
        return y
    column, odd = column.reshape(-1, 1), np.arange(len(column)).reshape(-1, 1) % 2
    return np.hstack([column, 1 - column, column * odd, (1 - column) * odd])


ESTIMATORS = [
    MLGTClassifier(random_state=0),
    HierarchicalMLGTClassifier(random_state=0),
    InBlocks(n_blocks=2, budget=0.5, random_state=0),
]


def expected(estimator):
    if not isinstance(estimator, InBlocks):
        return EXPECTED
    return EXPECTED | {
        "check_fit_score_takes_y": "calls partial_fit after fit; blocks cannot be taught",
        "check_fit2d_1sample": "one row has no labels that could be split",
        "check_classifiers_one_label": "wants one column of labels, of which we made four",
        "check_estimator_sparse_array": "wants one column of labels, of which we made four",
        "check_estimator_sparse_matrix": "wants one column of labels, of which we made four",
    }


@pytest.mark.filterwarnings("ignore::mlgt.errors.OneBlockWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected)
def test_scikit_learn_check(estimator, check):
    check(estimator)
