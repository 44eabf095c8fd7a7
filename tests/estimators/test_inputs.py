"""What `fit` and prediction accept, and what they say about the rest."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from mlgt import MLGTClassifier


def small(**params):
    return MLGTClassifier(**({"n_groups": 24, "column_weight": 6, "random_state": 0} | params))


@pytest.fixture(scope="module")
def fitted(topics):
    return small().fit(*topics[0])


def test_data_frame_names_its_labels(topics):
    X, Y = topics[0]
    names = [f"topic {j}" for j in range(30)]
    frame = pd.DataFrame(Y.toarray().astype(int), columns=names)
    model = small().fit(pd.DataFrame(X.toarray(), columns=[f"w{j}" for j in range(120)]), frame)
    assert model.classes_.tolist() == names
    assert len(model.feature_names_in_) == 120
    assert (model.groups_ != small().fit(X, Y).groups_).nnz == 0


@pytest.mark.parametrize(
    "kind", [np.asarray, sp.csr_matrix, sp.csc_array, sp.lil_matrix, lambda Y: Y.astype(bool)]
)
def test_any_form_of_labels(topics, kind):
    X, Y = topics[0]
    model = small().fit(X, kind(Y.toarray()))
    assert (model.label_counts_ == Y.toarray().sum(axis=0)).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"construction": "magic"}, "construction='magic' is unknown; choose one of nmf, constant_weight"),
        ({"decoder": "magic"}, "choose one of soft, top_k"),
        ({"n_groups": 0}, "n_groups=0 must be a whole number of at least 1"),
        ({"n_groups": 2.5}, "n_groups=2.5 must be a whole number"),
        ({"column_weight": 25}, "column_weight=25 exceeds 24, the number of groups"),
        ({"construction": np.eye(29)}, r"construction has shape \(29, 29\); expected \(groups, 30\)"),
        ({"construction": 2 * np.eye(30)}, "only 0 and 1"),
        ({"construction": None}, "construction is a NoneType; expected a name, or a 0/1 matrix"),
        ({"construction": np.eye(30)}, "n_groups=24 has no effect with a group matrix of your own"),
        (
            {"construction": "sparse_random"},
            "column_weight=6 has no effect on construction 'sparse_random'",
        ),
        ({"construction_params": {"sweeps": 3}}, "'nmf' takes sampling, max_sweeps, tol, max_seconds"),
        ({"decoder_params": {"slop": 3}}, "has 'slop', but decoder 'soft' takes slope, prior"),
        ({"decoder": "top_k", "decoder_params": {"slope": 3}}, "takes no options"),
        ({"decoder_params": {"slope": -1}}, "slope=-1 must be above 0"),
        (
            {"decoder": "inclusion", "decoder_params": {"slack": -1}},
            "slack=-1 must be a number of at least 0",
        ),
        ({"solver_params": {"class_weight": {1: 2.0}}}, "class_weight has the keys"),
        ({"ranker": "magic"}, "ranker='magic' is unknown; choose one of auto, linear"),
        ({"ranker": "linear", "decoder": "top_k"}, "needs decoder="),
        ({"ranker_params": {"n_candidates": 0}}, "n_candidates=0 must be a whole number"),
        ({"ranker_params": {"candidate_prior": 1e5}}, 'candidate_prior=100000.0 must be "auto" or between'),
        ({"solver_params": {"loss": "hinge"}}, "choose one of squared_hinge, logistic"),
        ({"solver_params": {"sweeps": 3}}, "has 'sweeps', but takes loss, tol, max_iter, class_weight"),
        ({"solver_params": "fast"}, "solver_params='fast' must be a dict with keys among loss, tol"),
        ({"ranker_params": {"K": 3}}, "has 'K', but takes n_candidates, candidate_prior, centroids"),
        ({"solver_params": {"tol": 0.1}, "classifier": LinearSVC()}, "has no effect with a classifier of"),
        ({"ranker_params": {"n_candidates": 9}, "ranker": None}, "has no effect without a ranker"),
        ({"solver_params": {"tol": 0}}, 'tol=0 must be "auto" or a finite number above 0'),
        ({"C": -1}, 'C=-1 must be "auto" or a finite number above 0'),
    ],
)
def test_bad_parameters_say_how_to_fix_them(topics, params, message):
    with pytest.raises(ValueError, match=message):
        small(**params).fit(*topics[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: (X, Y[:-1]), "Y has 399 rows but X has 400"),
        (lambda X, Y: (X, 2 * Y), "Y has the value 2; expected only 0 and 1"),
        (lambda X, Y: (X, 0 * Y), "no positive label in any row"),
        (lambda X, Y: (X, Y[:, :0]), "no columns"),
        (lambda X, Y: (X, Y[:, 0]), "expected a 0/1 matrix"),
        (lambda X, Y: (X, [["a", "b"]] * 400), "MultiLabelBinarizer"),
        (lambda X, Y: (X, [[1], [2, 3]] * 200), "rows of different lengths.*MultiLabelBinarizer"),
        (lambda X, Y: (np.where(X == X.max(), np.nan, X), Y), "NaN"),
        (lambda X, Y: (np.where(X == X.max(), np.inf, X), Y), "infinity"),
        (lambda X, Y: (X[:0], Y[:0]), "0 sample"),
    ],
)
def test_bad_data_says_what_is_wrong(topics, change, message):
    X, Y = (m.toarray() for m in topics[0])
    with pytest.raises(ValueError, match=message):
        small().fit(*change(X, Y))


def test_bad_requests_say_how_to_fix_them(topics, fitted, monkeypatch):
    X = topics[1][0]
    with pytest.raises(ValueError, match="k=31 exceeds 30, the number of labels"):
        fitted.predict_topk(X, 31)
    with pytest.raises(ValueError, match="k=0 must be a whole number of at least 1"):
        fitted.predict_topk(X, 0)
    with pytest.raises(ValueError, match="expecting 120 features"):
        fitted.predict_topk(X[:, :100], 3)
    monkeypatch.setattr("mlgt.estimators.base.MAX_DENSE_ENTRIES", 1000)
    with pytest.raises(ValueError, match=r"dense 200 x 30 array .*Use predict_topk"):
        fitted.decision_function(X)


def test_uncanonical_input_is_understood(topics):
    """Entries stored in parts, stored zeros and 64-bit indices mean what the matrix means."""
    (X, Y), (X_test, _) = topics
    rows, columns = X.nonzero()
    values = X.toarray()[rows, columns]
    split = sp.coo_array(
        (np.r_[0.25 * values, 0.75 * values], (np.r_[rows, rows], np.r_[columns, columns])), shape=X.shape
    )
    order = np.argsort(split.coords[0], kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(split.coords[0], minlength=400))]).astype(np.int64)
    parts = sp.csr_array(
        (split.data[order], split.coords[1][order].astype(np.int64), indptr), shape=X.shape
    )
    zeros = sp.csr_array(np.ones(Y.shape, np.float32))
    zeros.data[:] = Y.toarray().ravel()
    assert not parts.has_canonical_format
    expected = small().fit(X, Y).decision_function(X_test)
    np.testing.assert_allclose(small().fit(parts, zeros).decision_function(X_test), expected, atol=1e-3)
    assert zeros.nnz == Y.shape[0] * Y.shape[1]  # the caller's matrix is as it was


@pytest.mark.parametrize("dtypes", [{0: bool, 1: "int64"}, {0: "Int64", 1: "boolean"}])
def test_data_frames_of_mixed_types(topics, dtypes):
    X, Y = topics[0]
    frame = pd.DataFrame(Y.toarray().astype(int)).astype(dtypes)
    assert (small().fit(X, frame).label_counts_ == Y.toarray().sum(axis=0)).all()


def test_score_refuses_other_labels(topics, fitted):
    X, Y = topics[1]
    assert 0.3 < fitted.score(X, Y) < 1
    with pytest.raises(ValueError, match="y has 29 labels, but the model knows 30"):
        fitted.score(X, Y[:, :29])
