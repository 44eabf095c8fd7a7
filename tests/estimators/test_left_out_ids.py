"""Ids that never occur change nothing: a model of labels and features with gaps is the one without gaps."""

import json
import pickle
from dataclasses import astuple, replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_is_fitted

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier, Predictor
from mlgt._core.ids import KnownIds
from mlgt.metrics import evaluate
from mlgt.ranking import LabelRanker

D, P = 2**31 - 1, 2**31 - 3
"""Number of label ids and of feature ids."""


@pytest.fixture(scope="module")
def spread(topics):
    """The rows with few of very many ids: (labels, features, train, test)."""
    labels = KnownIds(np.sort(np.random.default_rng(0).choice(10**9, 30, replace=False)) + 10**9, D)
    features = KnownIds(np.sort(np.random.default_rng(1).choice(10**9, 120, replace=False)) + 10**9, P)
    return labels, features, *((features.spread(X), labels.spread(Y)) for X, Y in topics)


MODELS = {
    "one-vs-all": lambda: MLGTClassifier(random_state=0),
    "ranked": lambda: MLGTClassifier(n_groups=16, ranker="linear", random_state=0),
    "paper": lambda: MLGTClassifier(n_groups=16, decoder="top_k", ranker=None, random_state=0),
    "saffron": lambda: MLGTClassifier("saffron", decoder="saffron", ranker=None, random_state=0),
    "blocks": lambda: HierarchicalMLGTClassifier(n_blocks=2, budget=0.3, n_groups=12, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_gaps_change_nothing(name, spread, topics, tmp_path):
    labels, _, train, (X, Y) = spread
    dense, model = MODELS[name]().fit(*topics[0]), MODELS[name]().fit(*train)
    model.save(tmp_path / "m")
    expected, scores = dense.predict_topk(topics[1][0], 4)
    for one in (model, mlgt.load(tmp_path / "m"), Predictor(tmp_path / "m")):
        found = one.predict_topk(X, 4)
        assert (found[0] == labels.to_ids(expected)).all()
        assert (found[1] == scores).all()
        assert one.n_labels_ == D
        assert one.known_labels_.ids.tolist() == labels.ids.tolist()
    loaded = mlgt.load(tmp_path / "m")
    sets = loaded.predict(X)
    assert sets.shape == (200, D)
    assert (labels.select(sets).toarray() == dense.predict(topics[1][0]).toarray()).all()
    assert loaded.score(X, Y) == dense.score(*topics[1])
    row = X[[0]]
    alone = Predictor(loaded)(row.indices, row.data, 4)
    assert (alone[0] == found[0][0]).all()
    assert (alone[1] == found[1][0]).all()
    size = sum(file.stat().st_size for file in (tmp_path / "m").rglob("*"))
    assert size < 500_000


def test_reasons_name_the_ids(spread, topics):
    labels, features, train, (X, _) = spread
    dense, model = (MODELS["ranked"]().fit(*rows) for rows in (topics[0], train))
    expected, found = dense.explain(topics[1][0][[0]]), model.explain(X[[0]])
    for old, new in zip(expected.labels, found.labels):
        assert new.label == labels.ids[old.label]
        assert new.name == str(new.label)
        names = [f"feature {features.ids[int(word.split()[1])]}" for word, _ in old.words]
        assert [word for word, _ in new.words] == names
        assert astuple(old)[2:6] == astuple(new)[2:6]
    assert [labels.ids[int(l)] for l in expected.groups[0].labels] == list(map(int, found.groups[0].labels))


def test_labels_that_are_left_out_are_never_scored(spread):
    labels, _, train, (X, _) = spread
    model = MODELS["ranked"]().fit(*train)
    two = labels.ids[[3, 5]]
    found, _ = model.predict_topk(X, 5, among=[int(two[0]), 7, str(two[1])])
    assert set(np.unique(found)) == set(two.tolist())
    assert (model.predict_topk(X, 5, among=["7", str(two[0])])[0] == two[0]).all()
    for left_out in ([7, 8], ["7", "8"]):
        with pytest.raises(ValueError, match="no label of among occurred in training"):
            model.predict_topk(X, 5, among=left_out)
        with pytest.raises(ValueError, match="no label of labels occurred in training"):
            model.explain(X[[0]], labels=left_out)
    for unknown in (D, str(D), "07", "-1", "9" * 5000):
        with pytest.raises(ValueError, match="is no label of this model"):
            model.predict_topk(X, 5, among=[unknown])


def test_scores_of_all_labels(topics):
    (X, Y), _ = topics
    known = KnownIds(np.arange(30) * 50, 1500)
    model = MODELS["one-vs-all"]().fit(X, known.spread(Y))
    scores = model.decision_function(X[:3])
    assert scores.shape == (3, 1500)
    dense = MODELS["one-vs-all"]().fit(X, Y).decision_function(X[:3])
    assert (scores[:, known.ids] == dense).all()
    assert np.isneginf(np.delete(scores, known.ids, axis=1)).all()


def test_classes_and_counts_are_those_of_all_ids(topics, tmp_path):
    (X, Y), (X_test, Y_test) = topics
    known = KnownIds(np.arange(30) * 50, 1500)
    Y, Y_test = known.spread(Y), known.spread(Y_test)
    model = pickle.loads(pickle.dumps(MODELS["one-vs-all"]().fit(X, Y)))
    check_is_fitted(model)
    assert not hasattr(clone(model), "classes_")
    model.save(tmp_path / "m")
    counts = np.asarray(Y.sum(axis=0)).ravel()
    for one in (model, mlgt.load(tmp_path / "m"), Predictor(tmp_path / "m")):
        labels, _ = one.predict_topk(X_test, 5)
        assert (one.classes_[labels] == labels).all()
        assert (one.label_counts_ == counts).all()
        expected = evaluate(Y_test, labels, train_counts=counts, n_train=X.shape[0])
        assert evaluate(Y_test, labels, train_counts=one.label_counts_, n_train=one.n_rows_) == expected
    dense_psp = evaluate(
        known.select(Y_test), known.to_positions(labels), train_counts=counts[known.ids], n_train=X.shape[0]
    )
    assert expected["PSP@3"] == pytest.approx(dense_psp["PSP@3"])


def test_scores_of_all_labels_by_cross_validation(topics):
    (X, Y), _ = topics
    known = KnownIds(np.arange(30) * 50, 1500)
    Y = known.spread(Y).toarray()
    scores = cross_val_predict(MODELS["one-vs-all"](), X, Y, cv=2, method="decision_function")
    assert scores.shape == Y.shape


def test_names_are_those_of_all_ids(topics, tmp_path):
    (X, Y), _ = topics
    known = KnownIds(np.arange(30) * 50, 1500)
    model = MODELS["one-vs-all"]().fit(X, known.spread(Y))
    with pytest.raises(ValueError, match="30 names for 1500 labels"):
        model.name_labels([f"n{l}" for l in range(30)])
    model.name_labels([f"n{l}" for l in range(1500)]).save(tmp_path / "m")
    predictor = Predictor(tmp_path / "m")
    labels, _ = predictor.predict_topk(X, 2)
    assert predictor.explain(X[[0]], 1).labels[0].name == f"n{labels[0, 0]}" == model.classes_[labels[0, 0]]
    assert (predictor.predict_topk(X, 1, among=["n50", "n3"])[0] == 50).all()


def test_a_label_that_was_left_out_is_learnt_as_a_new_one(spread, topics):
    labels, _, (X, Y), (X_test, _) = spread
    some = labels.select(Y).toarray()[:, 20:].any(axis=1)
    model = MODELS["ranked"]().fit(X[~some], Y[~some])
    assert len(model.known_labels_.ids) == 20
    model.extend(X, Y)
    assert sorted(model.known_labels_.ids.tolist()) == labels.ids.tolist()
    found, _ = model.predict_topk(X_test, 3)
    assert np.isin(found, labels.ids[20:]).any()
    dense = MODELS["ranked"]().fit(topics[0][0][~some], topics[0][1][~some][:, :20]).extend(*topics[0])
    assert (labels.to_positions(found) == dense.predict_topk(topics[1][0], 3)[0]).all()


def test_a_model_without_gaps_learns_a_label_far_away(topics):
    (X, Y), _ = topics
    model = MODELS["ranked"]().fit(X, Y)
    far = KnownIds(np.append(np.arange(29), D - 1), D)
    model.extend(X, far.spread(Y))
    assert model.known_labels_.ids.tolist() == [*range(30), D - 1]
    assert D - 1 in model.predict_topk(X, 3)[0]


def test_own_groups_list_their_labels(topics, tmp_path):
    (X, Y), _ = topics
    known = KnownIds(np.arange(30) * 50, 1500)
    A = np.zeros((10, 1500), np.float32)
    A[np.arange(30) % 10, known.ids] = 1
    A[3, 7] = 1
    model = MLGTClassifier(A, random_state=0).fit(X, known.spread(Y))
    assert model.known_labels_.ids.tolist() == sorted([*known.ids, 7])
    model.save(tmp_path / "m")
    assert (mlgt.load(tmp_path / "m").construction.toarray() == A).all()


def test_damaged_ids_are_noticed(topics, tmp_path):
    from mlgt.model.format import from_folder, to_arrays, to_header

    (X, Y), _ = topics
    model = MODELS["paper"]().fit(X, KnownIds(np.arange(30) * 50, 1500).spread(Y))
    header, arrays = to_header(model.fitted_model(), model._owner()), to_arrays(model.fitted_model())
    header = json.loads(json.dumps(header | {"mlgt_version": mlgt.__version__}))
    assert from_folder(header, arrays).n_labels == 1500
    for ids in (np.arange(30) * 60, np.zeros(30, int), np.arange(29), np.zeros((30, 1), int), np.ones(30)):
        with pytest.raises(ValueError, match=r"label_ids|label_counts"):
            from_folder(header, arrays | {"label_ids": ids})


def test_rows_may_have_features_that_never_occurred(topics):
    (X, Y), (X_test, _) = topics
    known = KnownIds(np.arange(120) * 50, 6000)
    model, dense = MODELS["ranked"]().fit(known.spread(X), Y), MODELS["ranked"]().fit(X, Y)
    wider = sp.csr_array(known.spread(X_test) + sp.csr_array(([0.5], ([0], [7])), shape=(200, 6000)))
    found, expected = model.predict_topk(wider, 3), dense.predict_topk(X_test, 3)
    assert (found[0] == expected[0]).all()
    assert (found[1][1:] == expected[1][1:]).all()
    assert (found[1][0] != expected[1][0]).any()


LEARNING = {
    "one-vs-all": lambda: MLGTClassifier(random_state=0),
    "ranked": lambda: MLGTClassifier(
        n_groups=16, ranker="linear", ranker_params={"centroids": True}, random_state=0
    ),
    "paper": lambda: MLGTClassifier(n_groups=16, decoder="top_k", ranker=None, random_state=0),
}


@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize("name", LEARNING)
def test_features_that_were_left_out_are_learnt_as_if_their_weights_were_zero(
    name, in_bytes, topics, tmp_path
):
    (X, Y), (X_test, _) = topics
    known = KnownIds(np.append(np.arange(120) * 50, [7, 5999]), 6000)
    rng = np.random.default_rng(0)

    def with_two(X, entries):
        return sp.csr_array(sp.hstack([X, sp.csr_array(entries, dtype=np.float32)]))

    old, new, test = (
        with_two(part, entries)
        for part, entries in (
            (X, np.zeros((X.shape[0], 2))),
            (X[:50], rng.random((50, 2))),
            (X_test, rng.random((X_test.shape[0], 2))),
        )
    )
    dense, model = LEARNING[name]().fit(old, Y), LEARNING[name]().fit(known.spread(old), Y)
    if in_bytes:
        for one in (dense, model):
            small = {"classifiers": one.model_.classifiers.rounded(8)}
            small |= {} if one.model_.ranker is None else {"ranker": one.model_.ranker.in_bytes()}
            one._store(replace(one.model_, **small))
    assert len(model.model_.known_features.ids) == 120
    dense.extend(new, Y[:50])
    model.extend(known.spread(new), Y[:50]).save(tmp_path / "m")
    assert model.model_.known_features.ids.tolist() == known.ids.tolist()
    if dense.ranker_ is None:  # with rankers, groups stay as they are, and small weights are dropped
        assert (dense.classifiers_.coef[-2:] != 0).any()
    expected = dense.predict_topk(test, 4)
    for one in (model, mlgt.load(tmp_path / "m"), Predictor(tmp_path / "m")):
        labels, scores = one.predict_topk(known.spread(test), 4)
        assert (labels == expected[0]).all()
        assert np.allclose(scores, expected[1], atol=1e-4)  # the length is summed in another order


def test_rankers_with_many_features_count_them_in_wider_numbers():
    columns = np.array([3, 65535], np.uint16)
    ones = np.ones(2, np.float32)
    ranker = LabelRanker(np.array([0, 2]), columns, ones, ones[:1], ones[:1], 1 << 16)
    assert ranker.with_features(0).columns.dtype == np.uint16
    wider = ranker.with_features(4)
    assert (wider.columns.dtype, wider.columns.tolist()) == (np.int32, [3, 65535])
    assert wider.weights.shape == (1, 65540)


def test_k_may_be_any_number_of_labels(topics):
    """Ids that are left out have no score, so there are fewer columns."""
    (X, Y), _ = topics
    model = MODELS["paper"]().fit(X, KnownIds(np.arange(30) * 50, 1500).spread(Y))
    assert model.predict_topk(X, 1500)[0].shape == (X.shape[0], 30)
    with pytest.raises(ValueError, match="k=1501 exceeds 1500, the number of labels"):
        model.predict_topk(X, 1501)
