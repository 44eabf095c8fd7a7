"""A model that takes in new rows and labels."""

import copy
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt._core.validation import check_more_labels
from mlgt.classifiers.train import LinearGroups
from mlgt.decoding.soft import group_log_probability
from mlgt.metrics import precision_at, recall_at
from mlgt.ranking import CooccurrenceShares
from mlgt.teaching.grow import add_cooccurrence, join_groups, update_groups, widen_groups

TWENTY = {"n_candidates": 20}
SETTINGS = {
    "ranker": "linear",
    "n_groups": 32,
    "column_weight": 4,
    "ranker_params": TWENTY,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def growing(families):
    """An old model of 60 of the 66 labels, and the rows and labels to come."""
    (X, Y), test = families
    old = MLGTClassifier(**SETTINGS).fit(X[:3000], Y[:3000, :60])
    return old, (X[3000:], Y[3000:]), test


def test_new_labels_are_found_and_old_ones_kept(growing):
    old, new, (X, Y) = growing
    grown = copy.deepcopy(old).extend(*new)
    assert grown.groups_.shape == (38, 66)  # a group of its own for each new label
    assert (grown.groups_[:32, :60] != old.groups_).nnz == 0
    assert (np.bincount(grown.groups_.indices) == [4] * 60 + [1] * 6).all()
    assert grown.n_rows_ == 4000
    labels, _ = grown.predict_topk(X, 5)
    before, _ = old.predict_topk(X, 5)
    assert recall_at(Y[:, 60:], np.where(labels >= 60, labels - 60, -1), 5) > 0.1
    assert precision_at(Y[:, :60], np.where(labels < 60, labels, -1), 5) > 0.6 * precision_at(
        Y[:, :60], before, 5
    )
    assert precision_at(Y, labels, 3) > precision_at(Y, before, 3)


def test_a_grown_model_is_saved_and_does_not_depend_on_threads(growing, tmp_path):
    old, new, (X, _) = growing
    one, two = (copy.deepcopy(old).set_params(n_jobs=jobs).extend(*new) for jobs in (1, 2))
    assert (one.classifiers_.weights == two.classifiers_.weights).all()
    assert (one.ranker_.values == two.ranker_.values).all()
    one.save(tmp_path / "m")
    expected = one.predict_topk(X)
    for model in (mlgt.load(tmp_path / "m"), mlgt.Predictor(tmp_path / "m")):
        for a, b in zip(model.predict_topk(X), expected):
            assert (a == b).all()
    again = mlgt.load(tmp_path / "m").extend(*new)  # from mapped files
    assert again.n_rows_ == 5000


def test_rows_without_new_labels_make_it_better(families):
    (X, Y), (X_test, Y_test) = families
    model = MLGTClassifier(**SETTINGS).fit(X[:1500], Y[:1500])
    before = precision_at(Y_test, model.predict_topk(X_test)[0], 3)
    model.extend(X[1500:], Y[1500:])
    assert precision_at(Y_test, model.predict_topk(X_test)[0], 3) > before


def test_one_vs_all_grows_by_classifiers(topics):
    (X, Y), (X_test, Y_test) = topics
    model = MLGTClassifier(random_state=0).fit(X[:200], Y[:200, :25])
    assert model.groups_.shape == (25, 25)
    before = precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1)
    model.extend(X[200:], Y[200:])
    assert model.groups_.shape == (30, 30)
    assert model.n_groups_ == 30
    assert precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1) > max(0.8, before)


def test_permuted_one_vs_all_keeps_its_labels(topics):
    """Group i is label order[i]: rows that were learnt already change little."""
    (X, Y), (X_test, Y_test) = topics
    order = np.random.default_rng(0).permutation(30)
    model = MLGTClassifier(np.eye(30)[order], random_state=0).fit(X, Y)
    before = precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1)
    model.extend(X[:200], Y[:200])
    assert (model.groups_ != np.eye(30)[order]).sum() == 0
    assert precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1) > before - 0.01


def test_centroids_and_cooccurrence_grow_too(families):
    (X, Y), (X_test, _) = families
    model = MLGTClassifier(**SETTINGS | {"ranker_params": {**TWENTY, "centroids": True}}).fit(
        X[:3000], Y[:3000, :63]
    )
    model.extend(X[3000:], Y[3000:])
    labels, _ = model.predict_topk(X_test, 5)
    assert set(range(63, 66)) <= set(labels.ravel().tolist())
    assert model.centroids_.labels.max() == 65


def test_dense_features_stay_dense(rng, monkeypatch):
    """Whatever the rows of a lesson and the number of labels are; else their entries would be dropped."""
    centers, n, p = rng.normal(size=(40, 1100)), 1200, 1100
    Y = np.eye(40)[rng.integers(0, 40, n)]
    X = Y @ centers + 0.5 * rng.normal(size=(n, p))
    model = MLGTClassifier(**SETTINGS | {"ranker_params": {**TWENTY, "centroids": True}}).fit(
        X[:900], Y[:900, :38]
    )
    module = sys.modules["mlgt.ranking.centroids"]
    monkeypatch.setattr(module, "MAX_DENSE_ENTRIES", model.centroids_.matrix.size)
    monkeypatch.setattr(module, "MAX_ADDITIONS", 50)
    model.extend(X[900:] * (rng.random((300, p)) < 0.4), Y[900:])
    assert model.centroids_.matrix.shape == (p, 40)
    assert (np.count_nonzero(model.centroids_.matrix, axis=0) > 0.9 * p).all()
    assert not model.centroids_.indptr[-1]


def test_cooccurrence_of_known_labels_stays():
    old = CooccurrenceShares.from_counts(sp.csr_array([[4.0, 2.0], [2.0, 8.0]]))
    G = sp.csr_array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 2.0]])
    grown = add_cooccurrence(old, G, np.array([False, False, True]), np.array([5, 9, 2]))
    shares = sp.csr_array((grown.values, grown.labels, grown.indptr), shape=(3, 3)).toarray()
    assert (shares[:2, :2] == sp.csr_array((old.values, old.labels, old.indptr), shape=(2, 2))).all()
    assert shares[2].tolist() == [round(255 / 3), 0, 0]  # one of the two rows of label 2, plus one
    assert shares[0, 2] == round(255 / 6)  # one of all five rows of label 0, plus one


def test_a_label_joins_the_groups_its_rows_wake():
    margins = np.array([[5, -5, 5, 0], [5, -5, 5, 0], [-5, 5, 5, 0]], np.float32)
    Y = np.array([[1, 0], [1, 0], [0, 1]])
    assert join_groups(margins, Y, [0, 1], 1).tolist() == [[0], [1]]  # group 2 wakes for all
    A = widen_groups(sp.csr_array(np.eye(4, 2)), 3, np.array([2]), np.array([[1, 3]]))
    assert A.toarray().T.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize(("options", "slope"), [(None, 3.0), ({"slope": 1.0}, 1.0)])
def test_labels_join_groups_by_the_slope_of_the_decoder(topics, monkeypatch, options, slope):
    (X, Y), _ = topics
    model = MLGTClassifier(n_groups=20, column_weight=4, decoder_params=options, random_state=0)
    model.fit(X, Y[:, :28])
    seen = []

    def spy(margins, slope):
        seen.append(slope)
        return group_log_probability(margins, slope)

    monkeypatch.setattr("mlgt.teaching.grow.group_log_probability", spy)
    model.extend(X, Y)
    assert seen == [slope]


def test_groups_that_are_right_about_the_new_rows_do_not_change(rng):
    coef = rng.normal(size=(20, 3)).astype(np.float32)
    groups = LinearGroups(coef, np.zeros(3, np.float32))
    X = sp.csr_array(rng.normal(size=(30, 20)).astype(np.float32))
    margins = X @ coef
    sure = np.flatnonzero((np.abs(margins) > 1.2).all(axis=1))
    assert len(sure) > 5
    same = update_groups(groups, X[sure], sp.csr_array(margins[sure] > 0, dtype=np.float32), C=1.0)
    assert (same.coef == coef).all()
    other = update_groups(groups, X[sure], sp.csr_array(margins[sure] < 0, dtype=np.float32), C=1.0)
    assert (other.coef != coef).any(axis=0).all()


def test_columns_are_matched_by_name():
    classes = np.array(["a", "b"], object)
    Y = sp.csr_array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    Y, grown = check_more_labels(Y, ["c", "b", "a"], classes)
    assert list(grown) == ["a", "b", "c"]
    assert Y.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]


def test_data_frames_grow(topics):
    (X, Y), _ = topics
    names = [f"n{l}" for l in range(30)]
    model = MLGTClassifier(n_groups=20, random_state=0)
    model.fit(X[:200].toarray(), pd.DataFrame(Y[:200, :28].toarray(), columns=names[:28]))
    model.extend(X[200:].toarray(), pd.DataFrame(Y[200:].toarray(), columns=names)[names[::-1]])
    assert list(model.classes_) == [*names[:28], "n29", "n28"]


BAD = {
    "fewer": (lambda m, X, Y: m.extend(X, Y[:, :20]), "expected these in their order, then columns"),
    "names": (lambda m, X, Y: m.extend(X, Y, ["x"]), "1 names for 2 new labels"),
    "unnamed": (lambda m, X, Y: m.extend(X, Y, ["x", "y"]), "have no names"),
    "named": (lambda m, X, Y: m.name_labels(range(28)).extend(X, Y), "pass names="),
    "twice": (
        lambda m, X, Y: m.name_labels(range(28)).extend(X, Y, ["1", "y"]),
        "'1' is one of the model's",
    ),
    "features": (lambda m, X, Y: m.extend(X[:, :5], Y), "5 features"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_taken_in(topics, case):
    (X, Y), _ = topics
    model = MLGTClassifier(n_groups=20, random_state=0).fit(X, Y[:, :28])
    act, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        act(model, X, Y)


def test_one_block_grows_like_a_flat_model(topics):
    (X, Y), (X_test, _) = topics
    given = {"n_groups": 20, "column_weight": 4, "random_state": 0}
    flat, block = MLGTClassifier(**given), HierarchicalMLGTClassifier(n_blocks=1, **given)
    for model in (flat, block):
        model.fit(X[:200], Y[:200, :28]).extend(X[200:], Y[200:])
    for one, other in zip(flat.predict_topk(X_test), block.predict_topk(X_test)):
        assert (one == other).all()
    assert block.partition_.n_labels == len(block.blocks_[0].labels) == 30
    assert block.blocks_[0].groups.shape == (20, 30)


@pytest.mark.parametrize("kind", ["blocks", "saffron"])
def test_models_that_cannot_grow_say_so(topics, kind):
    (X, Y), _ = topics
    if kind == "blocks":
        model = HierarchicalMLGTClassifier(n_blocks=2, n_groups=10, budget=0.3, random_state=0)
    else:
        model = MLGTClassifier("saffron", decoder="saffron", random_state=0)
    with pytest.raises(ValueError, match="train again"):
        model.fit(X, Y).extend(X, Y)
