"""scikit-learn's own checks, with the reason for each that a multilabel-only classifier cannot meet."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mlgt import MLGTClassifier

NOT_INDICATOR = "feeds one column of arbitrary class values; y is a 0/1 matrix of labels here"
SPARSE_PREDICT = "compares predict with a dense array; predict is sparse, as d may be a million"
EXPECTED = {
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


@parametrize_with_checks([MLGTClassifier(random_state=0)], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_check(estimator, check):
    check(estimator)
