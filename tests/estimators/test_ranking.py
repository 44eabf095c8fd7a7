"""Match and rank in the estimator: when it happens, what it does, that all its forms agree."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from mlgt import MLGTClassifier
from mlgt.groups import constant_weight_groups
from mlgt.metrics import precision_at


def ranked(**params):
    defaults = {"n_groups": 15, "column_weight": 4, "n_candidates": 10, "random_state": 0}
    return MLGTClassifier(**(defaults | params))


def test_ranking_beats_matching(topics):
    (X, Y), (X_test, Y_test) = topics
    both, alone = (ranked(ranker=r).fit(X, Y) for r in ("auto", None))
    assert both.ranker_ is not None
    assert alone.ranker_ is None
    gained = [precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1) for model in (both, alone)]
    assert gained[0] > gained[1] + 0.03


def test_ranking_orders_the_matchers_candidates(topics):
    (X, Y), (X_test, _) = topics
    model = ranked(candidate_prior=0.0).fit(X, Y)
    labels, scores = model.predict_topk(X_test, 10)
    model.ranker_ = None
    candidates, _ = model.predict_topk(X_test, 10)
    assert (np.sort(labels, axis=1) == np.sort(candidates, axis=1)).all()
    assert (labels != candidates).any()
    assert (np.diff(scores, axis=1) <= 0).all()


def test_ranked_scores_agree_in_all_forms(topics):
    (X, Y), (X_test, _) = topics
    model = ranked().fit(X, Y)
    labels, scores = model.predict_topk(X_test, 10)
    full = model.decision_function(X_test)
    assert (np.take_along_axis(full, labels, axis=1) == scores).all()
    assert (np.isfinite(full).sum(axis=1) == 10).all()
    for i in (0, 57, 199):
        one = model.predict_topk(X_test[[i]], 10)
        assert (one[0][0] == labels[i]).all()
        assert (one[1][0] == scores[i]).all()
    more, _ = model.predict_topk(X_test, 20)  # more labels than candidates: the matcher names more
    assert (more >= 0).all()


def test_labels_in_no_group_are_not_ranked(topics):
    X, Y = topics[0]
    A = constant_weight_groups(15, 30, 4, np.random.default_rng(0)).toarray()
    A[:, 5:] = 0  # five labels can be told, ten are asked for
    model = MLGTClassifier(A, n_candidates=10, ranker="linear", random_state=0).fit(X, Y)
    labels, scores = model.predict_topk(X, 10)
    assert (np.sort(labels, axis=1) == [-1] * 5 + list(range(5))).all()
    full = model.decision_function(X)
    assert (np.isfinite(full) == (np.arange(30) < 5)).all()
    assert (np.take_along_axis(full, labels[:, :5], axis=1) == scores[:, :5]).all()


def test_ranking_is_the_same_for_any_number_of_threads(topics):
    X, Y = topics[0]
    one, two = (ranked(n_jobs=j).fit(X, Y) for j in (1, 3))
    assert (one.ranker_.weights != two.ranker_.weights).nnz == 0
    assert (one.predict_topk(X, 5)[1] == two.predict_topk(X, 5)[1]).all()


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, True),
        ({"n_candidates": 16}, False),  # the matcher would name most labels anyway
        ({"decoder": "top_k"}, False),
        ({"classifier": LogisticRegression()}, False),
        ({"construction": np.eye(30), "n_groups": "auto", "column_weight": "auto"}, False),
        ({"ranker": None}, False),
        ({"ranker": "linear", "n_candidates": 16}, True),
    ],
)
def test_when_ranking_is_automatic(topics, params, expected):
    assert (ranked(**params).fit(*topics[0]).ranker_ is not None) == expected


def test_sample_weight_reaches_the_ranker(topics):
    X, Y = topics[0]
    weight = np.ones(400)
    weight[::2] = 0
    A = constant_weight_groups(15, 30, 4, np.random.default_rng(0))
    settings = {"construction": A, "n_groups": "auto", "column_weight": "auto", "candidate_prior": 0.0}
    whole, weighted = ranked(**settings).fit(X, Y), ranked(**settings).fit(X, Y, sample_weight=weight)
    assert np.abs(whole.ranker_.bias - weighted.ranker_.bias).max() > 0.01
