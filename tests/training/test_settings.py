"""Settings: every automatic value is resolved, with a reason."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt._core.validation import generator
from mlgt.estimators import flat
from mlgt.groups import constant_weight_groups
from mlgt.labels.partition import Partition
from mlgt.training import settings, tuning
from mlgt.training.settings import _fewer_groups, resolve, resolve_shape
from mlgt.training.splitting import resolve_blocks, split_labels

OWN = constant_weight_groups(40, 300, 4, np.random.default_rng(0))
TWO = Partition(np.arange(300), np.array([0, 140, 290, 300]), np.array([2, 2, -1]), lost=0.0)
TUNED = {"power", "C", "tol", "ranker"}
RANKED = {*TUNED, "n_candidates", "centroids", "candidate_prior"}
CASES = {
    "flat": (MLGTClassifier(), 300, {*RANKED, "n_groups", "column_weight"}),
    "no ranker": (MLGTClassifier(ranker=None), 300, {"n_groups", "column_weight", "power", "C", "tol"}),
    "given": (
        MLGTClassifier(
            n_groups=32, column_weight=4, power=1.0, C=1.0, ranker="linear", solver_params={"tol": 0.1},
            ranker_params={"n_candidates": 20, "centroids": False, "candidate_prior": 0.1},
        ),
        300,
        set(),
    ),
    "one-vs-all": (MLGTClassifier(), 60, {*TUNED, "n_groups"}),
    "sparse_random": (MLGTClassifier("sparse_random", decoder="top_k"), 300, {*TUNED, "n_groups"}),
    "saffron": (
        MLGTClassifier("saffron", decoder="saffron"), 300, {*TUNED, "n_groups", "column_weight"},
    ),
    "saffron, ranked": (MLGTClassifier("saffron"), 300, {*RANKED, "n_groups", "column_weight"}),
    "own groups": (MLGTClassifier(OWN), 300, RANKED),
    "blocks": (
        HierarchicalMLGTClassifier(n_blocks=2, budget=0.1),
        300,
        {*RANKED, "n_groups", "column_weight", "branching", "route", "negatives", "combination"},
    ),
    "own blocks": (
        HierarchicalMLGTClassifier(partitioner=TWO),
        300,
        {*RANKED, "n_groups", "column_weight", "route", "negatives", "combination"},
    ),
    "blocks, hard": (
        HierarchicalMLGTClassifier(n_blocks=2, budget=0.1, decoder="top_k", negatives=0.0, route=None),
        300,
        {*TUNED, "n_groups", "column_weight", "branching", "combination"},
    ),
}  # fmt: skip


def data(d, n=900, p=80):
    """Rows with two labels each, of two halves of d labels that do not occur together."""
    rng = np.random.default_rng(0)
    half = rng.integers(2, size=n)
    labels = np.stack([rng.choice(d // 2, 2, replace=False) for _ in range(n)]) + (half * (d // 2))[:, None]
    Y = sp.csr_array((np.ones(2 * n, np.float32), np.sort(labels).ravel(), 2 * np.arange(n + 1)), (n, d))
    X = np.abs(Y @ (rng.normal(size=(d, p)) * (rng.random((d, p)) < 0.2)))
    return sp.csr_array(X, dtype=np.float32), Y


def params_of(estimator, d):
    params = estimator._params(estimator.get_params(deep=False) | {"random_state": 0})
    params.check(d)
    return params


def resolved(estimator, d):
    X, Y = data(d)
    params = params_of(estimator, d)
    blocks = None
    if isinstance(estimator, HierarchicalMLGTClassifier):
        blocks = resolve_blocks(params, Y, split_labels(params, Y))
    return resolve(params, X, Y, generator(0), blocks=blocks)


def leaves(value):
    """All values within dataclasses, mappings and sequences."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for part in value for leaf in leaves(part)]


@pytest.fixture
def pooled(monkeypatch):
    """Groups and rankers are counted as less work than one-vs-all."""
    monkeypatch.setattr(settings, "pooled_work", lambda *_: 0.0)


@pytest.mark.parametrize("case", CASES)
def test_no_setting_is_left_automatic(case, pooled):
    estimator, d, reasons = CASES[case]
    found = resolved(estimator, d)
    assert (found.blocks is not None) == isinstance(estimator, HierarchicalMLGTClassifier)
    assert not [leaf for leaf in leaves(found) if isinstance(leaf, str) and leaf == "auto"]
    assert set(found.reasons) == reasons
    assert all(found.reasons.values())


@pytest.mark.parametrize(
    ("options", "tol"),
    [
        ({"C": 1.0}, settings.ONE_VS_ALL_TOL),
        ({"C": 3.0}, settings.TOL),  # the looser one costs precision there
        ({"C": 3.0, "solver_params": {"tol": settings.ONE_VS_ALL_TOL}}, settings.ONE_VS_ALL_TOL),
        ({"C": 3.0, "ranker": "linear"}, settings.RANKED_TOL),
    ],
)
def test_the_tolerance_of_one_vs_all_depends_on_C(options, tol):
    found = resolved(MLGTClassifier(**options), 60)
    assert (found.one_vs_all, found.solver["tol"]) == (True, tol)
    assert ("tol" in found.reasons) == ("solver_params" not in options)


def test_a_chosen_number_of_blocks_has_its_reasons(monkeypatch):
    monkeypatch.setattr(settings, "MAX_FLAT_LABELS", 100)
    monkeypatch.setattr(settings, "LABELS_PER_BLOCK", 150)
    found = resolved(HierarchicalMLGTClassifier(), 300)
    assert not [leaf for leaf in leaves(found) if isinstance(leaf, str) and leaf == "auto"]
    blocks = {"n_blocks", "budget", "branching", "route", "negatives", "combination"}
    assert set(found.reasons) == {*RANKED, *blocks, "n_groups", "column_weight"}


def test_settings_are_those_of_the_fitted_model(pooled):
    X, Y = data(300)
    model = MLGTClassifier(random_state=0).fit(X, Y)
    found = resolved(MLGTClassifier(), 300)
    assert (model.n_groups_, model.column_weight_) == (found.n_groups, found.column_weight)
    assert (model.power_, model.C_) == (found.power, found.solver["C"])
    decided = {"centroids", "n_candidates", "candidate_prior"}  # on held-out rows
    assert model.reasons_.keys() == found.reasons.keys()
    assert all(model.reasons_[name] == why for name, why in found.reasons.items() if name not in decided)
    assert model.reasons_["n_candidates"].startswith(f"{model.n_candidates_}: ")


@pytest.mark.parametrize("centroids", ["auto", True, False])
def test_short_rows_need_few_groups(centroids, monkeypatch, pooled):
    monkeypatch.setattr(settings, "MANY_LABELS_GROUPS", 128)
    X, Y = data(300)
    params = MLGTClassifier(ranker_params={"centroids": centroids})
    params = params._params(params.get_params(deep=False))
    before = resolve_shape(params, Y)
    after = _fewer_groups(before, params, X, Y)
    assert before.n_groups == 192
    assert after.n_groups == (128 if centroids else 192)
    assert after.column_weight == settings.ranked_weight(after.n_groups)
    assert after.reasons["column_weight"].startswith(f"{after.column_weight}: ")
    assert ("rows are short" in after.reasons["n_groups"]) == (centroids is not False)


def test_centroids_on_request_halve_the_groups_of_long_rows(monkeypatch, pooled):
    monkeypatch.setattr(settings, "MANY_LABELS_GROUPS", settings.TILE)
    monkeypatch.setattr(settings, "are_light", lambda *_: False)
    X, Y = data(300)
    params = MLGTClassifier(ranker_params={"centroids": True})
    params = params._params(params.get_params(deep=False))
    after = _fewer_groups(resolve_shape(params, Y), params, X, Y)
    assert after.n_groups == 64
    assert after.reasons["n_groups"] == "64 instead of 192: centroids may find candidates too"


@pytest.mark.parametrize("centroids", ["auto", False])
def test_many_labels_halve_the_groups_however_long_rows_are(centroids, monkeypatch, pooled):
    monkeypatch.setattr(settings, "MANY_LABELS_GROUPS", settings.TILE)
    monkeypatch.setattr(settings, "MANY_LABELS", 600)
    monkeypatch.setattr(settings, "are_light", lambda *_: False)
    X, Y = data(300)
    params = MLGTClassifier(ranker_params={"centroids": centroids})
    params = params._params(params.get_params(deep=False))
    after = _fewer_groups(resolve_shape(params, Y), params, X, Y)
    assert after.n_groups == (192 if centroids is False else 64)
    assert ("300 labels are many" in after.reasons["n_groups"]) == (centroids == "auto")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"classifier": LinearSVC(), "C": 3.0}, "C=3.0 has no effect with a classifier of your own"),
        ({"decoder": "top_k", "ranker_params": {"n_candidates": 5}}, "ranker_params=.* without a ranker"),
        ({"decoder_params": {"prior": 0.5}, "ranker": "linear"}, "has no effect with a ranker"),
    ],
)
def test_settings_without_effect_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        MLGTClassifier(random_state=0, **params).fit(*data(300))


def test_labels_are_pooled_if_that_is_less_work(monkeypatch):
    _, Y = data(300)
    params = MLGTClassifier()
    params = params._params(params.get_params(deep=False))
    found = []
    for work in (settings.LESS_WORK / 2, settings.MORE_WORK):
        monkeypatch.setattr(settings, "pooled_work", lambda *_, work=work: work)
        found.append(resolve_shape(params, Y, words=10.0))
    assert [(one.n_groups, one.one_vs_all, one.ranker is None) for one in found] == [
        (192, False, False),
        (300, True, True),
    ]
    assert "192 with rankers would be 2.0 times the work" in found[1].reasons["n_groups"]
    many = sp.hstack([Y] * 8, format="csr")
    assert not resolve_shape(params, many, words=10.0).one_vs_all
    assert not resolve_shape(params, Y).one_vs_all  # names of labels, which rankers weigh


@pytest.mark.parametrize("wins", [True, False])
def test_one_vs_all_gives_way_to_groups_with_rankers_if_they_win(wins, monkeypatch, tmp_path):
    gain = 0.05 if wins else -0.05
    monkeypatch.setattr(
        tuning._Miniature, "with_rankers", lambda mini, setting, _: mini.tried[setting] + gain
    )
    monkeypatch.setattr(settings, "pooled_work", lambda *_: 1.0)
    X, Y = data(300)
    model = MLGTClassifier(random_state=0).fit(X, Y)
    assert model.n_groups_ == (192 if wins else 300)
    assert (model.ranker_ is not None) == wins
    assert model.reasons_["ranker"].startswith("linear: surely" if wins else "none: not surely")
    assert not wins or model.C_ >= 1.0
    found = model.predict_topk(X, 3)
    model.save(tmp_path / "m")
    for one, two in zip(found, mlgt.load(tmp_path / "m").predict_topk(X, 3)):
        assert (one == two).all()
    more = sp.hstack([Y[:40], np.ones((40, 1), np.float32)], format="csr")  # a new label
    model.extend(X[:40], more)
    assert model.predict_topk(X, 3)[0].max() <= 300
    assert model.n_groups_ == (193 if wins else 301)


def test_rankers_are_not_tried_where_groups_would_be_as_many_as_labels(monkeypatch):
    """High quality doubles the groups: 256 of them for 256 labels would have no rankers."""
    monkeypatch.setattr(settings, "pooled_work", lambda *_: 1.0)
    X, Y = data(256)
    for quality, tried in (("normal", True), ("high", False)):
        params = params_of(MLGTClassifier(quality=quality), 256)
        shape = resolve_shape(params, Y, words=10.0)
        assert shape.one_vs_all
        assert settings._may_pool(shape, params, X, Y) == tried


def test_who_asks_for_rankers_gets_groups():
    """One classifier per label would be saved by rankers, which both ways have here."""
    _, Y = data(600)
    for ranker, alone in (("auto", True), ("linear", False)):
        found = resolve_shape(params_of(MLGTClassifier(ranker=ranker), 600), Y, words=1000.0)
        assert found.one_vs_all == alone


def test_blas_has_one_thread_while_a_model_is_made(monkeypatch):
    seen = []

    def resolve(*arguments, **options):
        seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
        return settings.resolve(*arguments, **options)

    monkeypatch.setattr(flat, "resolve", resolve)
    with threadpool_limits(2, "blas"):
        MLGTClassifier(random_state=0).fit(*data(60))
        after = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    assert len(seen) == 1
    assert seen[0] <= {1}
    assert after <= {2}


@pytest.mark.parametrize(("work", "tried"), [(1.0, True), (settings.MORE_WORK, False)])
def test_rankers_are_tried_unless_they_are_much_more_work(monkeypatch, work, tried):
    monkeypatch.setattr(settings, "pooled_work", lambda *_: work)
    asked = []
    tune = settings.tune
    monkeypatch.setattr(
        settings,
        "tune",
        lambda *a, **o: asked.append((o["every_label"], o["maybe_rankers"])) or tune(*a, **o),
    )
    MLGTClassifier(random_state=0).fit(*data(300))
    assert asked == [(True, tried)]
