"""Match and rank in the estimator: when it happens, what it does, that all its forms agree."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import mlgt
from mlgt import MLGTClassifier
from mlgt.classifiers.train import LinearGroups
from mlgt.groups import constant_weight_groups
from mlgt.metrics import (
    calibration_error,
    f1_rows,
    inverse_propensities,
    precision_at,
    psp_at,
    recall_at,
    reliability,
)
from mlgt.ranking import LabelRanker

TEN = {"n_candidates": 10}
PAPER = {"ranker": None, "ranker_params": None}


def ranked(**params):
    defaults = {"n_groups": 15, "column_weight": 4, "ranker_params": TEN, "random_state": 0}
    return MLGTClassifier(**(defaults | params))


def test_ranking_beats_matching(topics):
    (X, Y), (X_test, Y_test) = topics
    both, alone = (ranked(**r).fit(X, Y) for r in ({}, PAPER))
    assert both.ranker_ is not None
    assert alone.ranker_ is None
    gained = [precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1) for model in (both, alone)]
    assert gained[0] > gained[1] + 0.03


def test_ranking_orders_the_matchers_candidates(topics):
    (X, Y), (X_test, _) = topics
    model = ranked(ranker_params={**TEN, "candidate_prior": 0.0}).fit(X, Y)
    labels, scores = model.predict_topk(X_test, 10)
    candidates, _ = replace(model.fitted_model(), ranker=None).predict_topk(X_test, 10)
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
    A[:, 5:] = 0  # five labels can be found, ten are requested
    model = MLGTClassifier(A, ranker_params=TEN, ranker="linear", random_state=0).fit(X, Y)
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
        ({"ranker_params": {"n_candidates": 16}}, False),  # the matcher would name most labels anyway
        ({"decoder": "top_k", "ranker_params": None}, False),
        ({"classifier": LogisticRegression(), "ranker_params": None}, False),
        ({"construction": np.eye(30), "n_groups": "auto", "column_weight": "auto"}, False),
        (PAPER, False),
        ({"ranker": "linear", "ranker_params": {"n_candidates": 16}}, True),
    ],
)
def test_when_ranking_is_automatic(topics, params, expected):
    assert (ranked(**params).fit(*topics[0]).ranker_ is not None) == expected


def test_sample_weight_reaches_the_ranker(topics):
    X, Y = topics[0]
    weight = np.ones(400)
    weight[::2] = 0
    A = constant_weight_groups(15, 30, 4, np.random.default_rng(0))
    settings = {"construction": A, "n_groups": "auto", "column_weight": "auto"}
    settings["ranker_params"] = {**TEN, "candidate_prior": 0.0}
    whole, weighted = ranked(**settings).fit(X, Y), ranked(**settings).fit(X, Y, sample_weight=weight)
    assert np.abs(whole.ranker_.bias - weighted.ranker_.bias).max() > 0.01


@pytest.fixture(scope="module")
def judged(families):
    return MLGTClassifier(n_groups=30, ranker_params={"n_candidates": 20}, random_state=0).fit(*families[0])


def test_probabilities_are_calibrated(judged, families):
    X_test, Y_test = families[1]
    assert judged.blend_.calibrated
    P = judged.predict_proba(X_test)
    assert (np.diff(P.indptr) == 20).all()
    assert 0 < P.data.min() < P.data.max() < 1
    right = np.asarray(Y_test.toarray()[P.nonzero()])
    assert calibration_error(reliability(P[P.nonzero()], right)) < 0.03
    labels, scores = judged.predict_topk(X_test, 3)
    said = np.take_along_axis(P.toarray(), labels, axis=1)
    np.testing.assert_allclose(said, 1 / (1 + np.exp(-scores)), rtol=1e-5)


def test_predicted_sets_fit_their_rows(judged, families):
    X_test, Y_test = families[1]
    predicted = judged.predict(X_test)
    sizes = np.diff(predicted.indptr)
    assert sizes.min() >= 1
    assert len(set(sizes.tolist())) > 2  # not a fixed number
    assert np.corrcoef(sizes, np.diff(Y_test.indptr))[0, 1] > 0.3
    f1 = [f1_rows(Y_test, padded(predicted)).mean()]
    f1 += [f1_rows(Y_test, judged.predict_topk(X_test, k)[0]).mean() for k in range(1, 11)]
    assert f1[0] > max(f1[1:])


def padded(sets):
    """A 0/1 matrix as lists of labels, padded by -1."""
    out = np.full((sets.shape[0], np.diff(sets.indptr).max()), -1)
    for i in range(sets.shape[0]):
        own = sets.indices[sets.indptr[i] : sets.indptr[i + 1]]
        out[i, : len(own)] = own
    return out


def test_a_tail_brings_rare_labels_up(judged, families):
    X_test, Y_test = families[1]
    weights = inverse_propensities(judged.label_counts_, judged.n_rows_)
    plain, _ = judged.predict_topk(X_test, 5)
    judged.set_params(tail=1.0)
    rare, _ = judged.predict_topk(X_test, 5)
    with pytest.raises(ValueError, match=r"set_params\(tail=0\)"):
        judged.predict_proba(X_test)
    assert (np.diff(judged.predict(X_test).indptr) == 5).all()
    judged.set_params(tail=0.0)
    assert psp_at(Y_test, rare, 1, weights) > psp_at(Y_test, plain, 1, weights)
    assert judged.label_counts_[rare[:, 0]].mean() < judged.label_counts_[plain[:, 0]].mean()


def test_all_of_it_survives_a_folder(judged, families, tmp_path):
    X_test = families[1][0]
    judged.save(tmp_path / "m")
    labels, scores = judged.predict_topk(X_test, 7)
    for other in (mlgt.load(tmp_path / "m"), mlgt.Predictor(tmp_path / "m"), mlgt.Predictor(judged)):
        found = other.predict_topk(X_test, 7)
        assert (found[0] == labels).all()
        assert (found[1] == scores).all()
    again = mlgt.load(tmp_path / "m")
    assert again.held_out_ == judged.held_out_
    assert again.tried_ == judged.tried_
    assert (again.predict(X_test) != judged.predict(X_test)).nnz == 0
    one = mlgt.Predictor(tmp_path / "m")
    for i in (0, 500):
        row = X_test[[i]]
        assert (one(row.indices, row.data, 7)[0] == labels[i]).all()


def test_bytes_cost_little(judged, families, monkeypatch):
    (X, Y), (X_test, Y_test) = families
    assert judged.ranker_.values.dtype == np.int8
    assert judged.classifiers_.weights.dtype == np.int8
    assert judged.classifiers_.bits in (4, 8)
    monkeypatch.setattr(LabelRanker, "in_bytes", lambda self: self)
    monkeypatch.setattr(LinearGroups, "rounded", lambda self, bits: self)
    whole = clone(judged).fit(X, Y)
    assert whole.ranker_.values.dtype == np.float32
    assert whole.classifiers_.weights.dtype == np.float32
    both = [precision_at(Y_test, model.predict_topk(X_test, 3)[0], 3) for model in (judged, whole)]
    assert both[0] == pytest.approx(both[1], abs=0.01)


def test_centroids_find_what_groups_miss(families):
    (X, Y), (X_test, Y_test) = families
    settings = {"n_groups": 12, "column_weight": 3, "random_state": 0}
    by_groups, both = (
        MLGTClassifier(**settings, ranker_params={"n_candidates": 15, "centroids": c}).fit(X, Y)
        for c in (False, True)
    )
    assert both.centroids_ is not None
    found = [recall_at(Y_test, m.predict_topk(X_test, 15)[0], 15) for m in (by_groups, both)]
    assert found[1] > found[0] + 0.02


def test_without_calibration_there_are_no_probabilities(topics):
    X, Y = topics[0]
    model = ranked(**PAPER).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as refused:
        model.predict_proba(X)
    assert "predict_topk returns scores" in str(refused.value.__cause__)
    assert (np.diff(model.predict(X).indptr) == 5).all()


@pytest.mark.parametrize("params", [{}, {"decoder_params": {"slope": 1.5}}])
def test_one_vs_all_has_probabilities_too(families, params):
    (X, Y), (X_test, Y_test) = families
    model = MLGTClassifier(random_state=0, **params).fit(X, Y)
    assert model.n_groups_ == 66
    P = model.predict_proba(X_test).toarray()
    right, seen = Y_test.toarray(), P > 0
    assert calibration_error(reliability(P[seen], right[seen])) < 0.03


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tail": -1.0}, "must be a finite number of at least 0"),
        ({"tail": float("nan")}, "must be a finite number of at least 0"),
        ({"tail": 1.0, **PAPER}, "no effect on the paper's methods"),
        ({"ranker_params": {"centroids": "yes"}}, "centroids='yes' is unknown"),
        ({"power": 0}, "power=0 must be"),
    ],
)
def test_settings_that_make_no_sense(topics, params, message):
    with pytest.raises(ValueError, match=message):
        ranked(**params).fit(*topics[0])
