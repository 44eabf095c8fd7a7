import os
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import MultinomialNB

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier, Predictor
from mlgt._core.errors import ModelFileError, NoSeparatorWarning, OneBlockWarning
from mlgt._core.memory import is_mapped
from mlgt.labels.graph import cooccurrence
from mlgt.labels.partition import Partition, one_block, partition_labels
from mlgt.metrics import recall_at
from mlgt.model.format import check_portable, to_arrays, to_header
from mlgt.training import settings

COMBINATIONS = ("sum", "weighted", "count", "union")


def two_worlds(n=600, p=90, d=36, seed=0):
    """Labels 0 .. d/2 - 1 and d/2 + 2 .. d - 1 never occur together; the two between occur with all."""
    rng = np.random.default_rng(seed)
    words = rng.random((d, p)) * (rng.random((d, p)) < 0.15)
    Y = np.zeros((n, d), np.float32)
    middle = [d // 2, d // 2 + 1]
    worlds = np.arange(d // 2), np.arange(d // 2 + 2, d)
    for row in Y:
        row[rng.choice(worlds[rng.integers(2)], rng.integers(1, 4), replace=False)] = 1
        row[rng.choice(middle)] = rng.random() < 0.4
    X = (Y @ words + 0.05 * rng.random((n, p))) * (rng.random((n, p)) < 0.8)
    return sp.csr_array(X, dtype=np.float32), sp.csr_array(Y)


@pytest.fixture(scope="module")
def worlds():
    X, Y = two_worlds(3000)
    return (X[:2500], Y[:2500]), (X[2500:], Y[2500:])


def small(**params):
    given = {"n_blocks": 2, "n_groups": 16, "column_weight": 5, "ranker": None, "random_state": 0}
    return HierarchicalMLGTClassifier(**(given | params))


RANKED = {"ranker": "linear", "ranker_params": {"n_candidates": 10}}
WAYS = {
    **{f"top_k-{c}": {"decoder": "top_k", "combination": c} for c in COMBINATIONS},
    **{f"soft-{c}": {"combination": c} for c in (*COMBINATIONS, "calibrated")},
    "sketch": {"sketch": 60},
    "ranked": RANKED,
    "random": {"construction": "sparse_random", "column_weight": "auto"},
    "saffron": {"construction": "saffron", "n_groups": 200, "column_weight": "auto", **RANKED},
    "nested": {"n_blocks": 3, "budget": 0.1, "branching": 2},
}


@pytest.fixture(scope="module", params=WAYS)
def fitted(request, worlds):
    return small(**WAYS[request.param]).fit(*worlds[0])


def test_blocks_find_far_more_than_the_most_frequent_labels(worlds, fitted):
    X, Y = worlds[1]
    frequent = np.tile(np.argsort(-worlds[0][1].sum(axis=0))[:5], (X.shape[0], 1))
    assert recall_at(Y, fitted.predict_topk(X, 5)[0], 5) > 2 * recall_at(Y, frequent, 5)
    assert fitted.score(X, Y) > 0.35


def test_topk_is_sorted_and_agrees_with_decision_function(worlds, fitted):
    X = worlds[1][0]
    labels, scores = fitted.predict_topk(X, 5)
    full = fitted.decision_function(X)
    there = labels >= 0
    assert (np.diff(np.where(there, scores, -1e9), axis=1) <= 0).all()
    assert (np.take_along_axis(full, np.maximum(labels, 0), axis=1)[there] == scores[there]).all()
    P = fitted.predict(X)
    assert P.shape == (500, 36)
    assert (P.sum(axis=1) <= 10).all()


def test_saved_and_loaded_models_and_predictors_give_the_same_bits(worlds, fitted, tmp_path):
    X = worlds[1][0]
    labels, scores = fitted.predict_topk(X, 5)
    fitted.save(tmp_path / "m")
    assert (tmp_path / "m" / "block-1" / "coef.npy").is_file()
    loaded = mlgt.load(tmp_path / "m")
    for model in (loaded, Predictor(fitted), Predictor(tmp_path / "m")):
        found = model.predict_topk(X, 5)
        assert (found[0] == labels).all()
        assert (found[1] == scores).all()
    for i in (0, 77):
        one = Predictor(loaded)(X[[i]].indices, X[[i]].data)
        assert (one[0] == labels[i]).all()
        assert (one[1] == scores[i]).all()
    assert loaded.get_params() == fitted.get_params()
    assert str(loaded.partition_) == str(fitted.partition_)
    assert loaded.column_weight_ == fitted.column_weight_
    assert [b.n_rows for b in loaded.blocks_] == [b.n_rows for b in fitted.blocks_]
    loaded.save(tmp_path / "again")
    assert (mlgt.load(tmp_path / "again").predict_topk(X, 5)[1] == scores).all()


def test_the_partition_and_what_each_block_learns_from(worlds):
    X, Y = worlds[0]
    model = small(negatives=0.0, decoder="top_k").fit(X, Y)
    assert set(model.partition_.separator) <= {18, 19} | set(range(36))
    assert model.partition_.lost == 0
    for block in model.blocks_:
        assert block.n_rows == np.count_nonzero(Y[:, block.labels].sum(axis=1))
        assert block.groups.shape == (16, len(block.labels))
    assert model.groups_.shape == (32, 36)
    assert model.classes_.tolist() == list(range(36))
    assert [b.n_rows for b in small(negatives=1.0, decoder="top_k").fit(X, Y).blocks_] == [2500, 2500]


@pytest.mark.parametrize("params", [{}, {"ranker": "linear"}, {"decoder": "top_k"}, {"n_groups": "auto"}])
@pytest.mark.filterwarnings("ignore::mlgt.errors.OneBlockWarning")
def test_one_block_is_the_flat_estimator(worlds, params):
    (X, Y), (X_test, _) = worlds
    given = {"n_groups": 16, "column_weight": "auto", "ranker": None, "random_state": 3} | params
    flat = MLGTClassifier(**given).fit(X, Y).predict_topk(X_test, 5)
    for n_blocks in (1, "auto"):
        model = HierarchicalMLGTClassifier(n_blocks=n_blocks, **given).fit(X, Y)
        labels, scores = model.predict_topk(X_test, 5)
        assert (labels == flat[0]).all()
        assert (scores == flat[1]).all()
        assert model.partition_.n_blocks == len(model.blocks_) == 1


def test_one_block_by_default_warns(worlds):
    with pytest.warns(
        OneBlockWarning, match="36 labels occur, and blocks pay above 2000000. Pass n_blocks"
    ):
        model = small(n_blocks="auto").fit(*worlds[0])
    assert model.partition_.n_blocks == 1
    assert issubclass(mlgt.errors.OneBlockWarning, UserWarning)


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"combination": "sum"}, "combination='sum' has no effect on it"),
        ({"budget": 0.1, "branching": 3}, "budget=0.1, branching=3 have no effect on it"),
        ({"negatives": 0.0, "route": 0.1}, "negatives=0.0, route=0.1 have no effect on it"),
    ],
)
def test_settings_without_effect_on_one_block_are_named(worlds, params, named):
    with pytest.warns(OneBlockWarning, match=named):
        small(n_blocks="auto", **params).fit(*worlds[0])
    first = next(iter(params))
    with pytest.raises(ValueError, match=f"{first}={params[first]!r} has no effect with n_blocks=1"):
        small(n_blocks=1, **params).fit(*worlds[0])


@pytest.mark.parametrize("params", [{"n_blocks": 1}, {"partitioner": one_block(36)}, {"sketch": 60}])
def test_one_block_that_was_requested_does_not_warn(worlds, params):
    model = small(**{"n_blocks": "auto"} | params).fit(*worlds[0])  # warnings are errors
    assert model.partition_.n_blocks == 1


def test_one_block_can_be_saved(worlds, tmp_path):
    (X, Y), (X_test, _) = worlds
    model = small(n_blocks=1, ranker="auto").fit(X, Y)
    model.save(tmp_path / "m")
    for other in (mlgt.load(tmp_path / "m"), Predictor(tmp_path / "m")):
        assert (other.predict_topk(X_test)[1] == model.predict_topk(X_test)[1]).all()


def test_same_seed_same_model_for_any_number_of_threads(worlds):
    (X, Y), (X_test, _) = worlds
    one, two = (small(**RANKED, n_jobs=j).fit(X, Y) for j in (1, 3))
    assert (one.predict_topk(X_test)[1] == two.predict_topk(X_test)[1]).all()
    other = small(random_state=1).fit(X, Y)
    assert (other.groups_ != one.groups_).nnz > 0


def test_very_many_labels_are_split_by_default(worlds, monkeypatch):
    monkeypatch.setattr(settings, "MAX_FLAT_LABELS", 20)
    monkeypatch.setattr(settings, "LABELS_PER_BLOCK", 25)
    model = small(n_blocks="auto").fit(*worlds[0])
    assert model.partition_.n_blocks == 2
    assert model.partition_.sizes.max() <= 25


def test_blocks_that_are_chosen_have_few_groups_and_are_routed(worlds, monkeypatch):
    """Separators are then a block of their own, and few rows of others are learnt from."""
    (X, Y), (X_test, Y_test) = worlds
    monkeypatch.setattr(settings, "MAX_FLAT_LABELS", 30)
    monkeypatch.setattr(settings, "LABELS_PER_BLOCK", 12)
    given = {"random_state": 0, "budget": 0.1, "branching": 2}
    model = HierarchicalMLGTClassifier(**RANKED, **given).fit(X, Y)
    assert model.combination_ == "calibrated"
    assert sum(len(block.labels) for block in model.blocks_) == 36  # each label once
    assert all(block.groups.shape[0] == len(block.labels) for block in model.blocks_)  # 64 at most
    assert max(block.n_rows for block in model.blocks_) < len(Y.indptr) - 1
    labels, _ = model.predict_topk(X_test, 3)
    assert recall_at(Y_test, labels, 3) > 0.7
    paper = HierarchicalMLGTClassifier(ranker=None, decoder="top_k", **given).fit(X, Y)
    assert paper.router_ is None
    assert sum(len(block.labels) for block in paper.blocks_) > 36


@pytest.mark.parametrize("params", [{}, RANKED])
def test_weights_that_would_fill_the_memory_go_to_disk(worlds, monkeypatch, tmp_path, params):
    (X, Y), (X_test, _) = worlds
    kept = small(**params).fit(X, Y)
    monkeypatch.setattr("mlgt.training.cost.SPILL_SHARE", np.inf)
    monkeypatch.setattr("mlgt.training.cost.room_on_disk", lambda: np.inf)
    spilt = small(**params).fit(X, Y)
    for one, other in zip(kept.blocks_, spilt.blocks_):
        assert is_mapped(other.classifiers.weights)
        assert not is_mapped(one.classifiers.weights)
        np.testing.assert_array_equal(one.classifiers.weights, other.classifiers.weights)
    labels, scores = kept.predict_topk(X_test, 3)
    spilt.save(tmp_path / "model")
    elsewhere = Parallel(n_jobs=2)(delayed(spilt.predict_topk)(X_test, 3) for _ in range(2))
    assert all((found == labels).all() for found, _ in elsewhere)
    for model in (spilt, mlgt.load(tmp_path / "model"), pickle.loads(pickle.dumps(spilt))):
        found, others = model.predict_topk(X_test, 3)
        np.testing.assert_array_equal(found, labels)
        np.testing.assert_array_equal(others, scores)


def test_a_fit_that_fails_leaves_no_mixture(worlds, monkeypatch):
    X, Y = worlds[0]
    model = small().fit(X, Y)

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("mlgt.training.train.train_blocks", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:1000], Y[:1000])
    with pytest.raises(NotFittedError):
        model.predict_topk(X[:5])


def test_a_model_of_many_blocks_opens_few_files(worlds, tmp_path):
    resource = pytest.importorskip("resource")
    X, Y = worlds[0]
    small(n_blocks=12, budget=0.2, branching=2, n_groups=3, column_weight=2).fit(X, Y).save(tmp_path / "m")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 40
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 6, before[1]))
    try:
        loaded = mlgt.load(tmp_path / "m")
        labels, _ = loaded.predict_topk(X[:5])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert labels.shape == (5, 5)


def test_weights_only_where_there_is_nothing_to_learn(worlds):
    X, Y = worlds[0]
    Y = sp.csr_array(sp.diags_array((np.arange(Y.shape[0]) % 2).astype(np.float32)) @ Y)
    Y.eliminate_zeros()
    for model in (small(), MLGTClassifier(n_groups=8)):
        with pytest.raises(ValueError, match="no row with a sample_weight above 0 has a label"):
            model.fit(X, Y, sample_weight=1 - np.arange(Y.shape[0]) % 2)


def test_a_partition_of_your_own(worlds, tmp_path):
    X, Y = worlds[0]
    own = partition_labels(cooccurrence(Y), np.random.default_rng(5), n_blocks=2, partitioner="propagation")
    model = small(partitioner=own, n_blocks="auto").fit(X, Y)
    assert model.partition_ is own
    model.save(tmp_path / "m")
    loaded = mlgt.load(tmp_path / "m")
    assert isinstance(loaded.partitioner, Partition)
    assert (loaded.partitioner.permutation == own.permutation).all()


def test_names_weights_and_other_classifiers(worlds):
    X, Y = worlds[0]
    named = pd.DataFrame(Y.toarray(), columns=[f"label {i}" for i in range(36)])
    model = small().fit(X, named, sample_weight=np.r_[np.zeros(500), np.ones(2000)])
    assert model.classes_[3] == "label 3"
    assert max(block.n_rows for block in model.blocks_) <= 2000
    assert model.name_labels(range(36)).classes_[0] == "0"
    bayes = small(classifier=MultinomialNB()).fit(X, Y)
    assert recall_at(Y, bayes.predict_topk(X, 5)[0], 5) > 0.3
    with pytest.raises(ValueError, match="no portable file form"):
        check_portable(bayes.fitted_model())
    assert clone(bayes).get_params()["n_blocks"] == 2


# ---- what cannot be ----


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_blocks": 37}, "n_blocks=37 exceeds 36, the number of labels"),
        ({"n_blocks": 0}, "n_blocks=0 must be a whole number"),
        ({"budget": 1.5}, "budget=1.5 must be a share"),
        ({"branching": 1}, "branching=1 must be a whole number of at least 2"),
        ({"partitioner": "scotch"}, "partitioner='scotch' is unknown; choose one of metis"),
        ({"combination": "mean"}, "combination='mean' is unknown; choose one of auto, sum, weighted"),
        ({"combination": "calibrated", "decoder": "top_k"}, "votes are not log-probabilities"),
        ({"combination": "weighted", "decoder": "inclusion"}, 'by "sum" or "union"'),
        ({"combination": "count", "ranker": "linear"}, "too few to rank"),
        ({"negatives": 2}, "negatives=2 must be a share, from 0"),
        ({"negatives": "all"}, "negatives='all' must be a share, from 0"),
        ({"sketch": 0}, "sketch=0 must be a whole number"),
        ({"column_weight": 17}, "column_weight=17 exceeds 16, the number of groups of a block"),
        ({"construction": np.eye(36)}, "construction must be a name"),
        ({"partitioner": one_block(5)}, "one of 5 labels, but y has 36"),
        ({"partitioner": one_block(36)}, "n_blocks=2 has no effect with a partition of your"),
        ({"partitioner": [[0, 1], [2]]}, "is unknown; choose one of metis"),
        ({"budget": "5%", "n_blocks": 1}, "budget='5%' must be a share"),
        ({"branching": "two", "n_blocks": 1}, "branching='two' must be a whole number"),
        (
            {"construction": "saffron", "decoder": "saffron", "n_groups": 200},
            "not blocks of them. Pass n_bl",
        ),
    ],
)
def test_settings_that_cannot_be_are_explained(worlds, params, message):
    with pytest.raises(ValueError, match=message):
        small(**params).fit(*worlds[0])


def test_weights_of_rows_are_not_negative(worlds):
    X, Y = worlds[0]
    for model in (small(), MLGTClassifier(n_groups=16)):
        with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
            model.fit(X, Y, sample_weight=-np.ones(2500))


def test_where_there_is_no_separator_one_block_is_trained(rng):
    X = sp.csr_array(rng.random((60, 20)), dtype=np.float32)
    clique = (rng.random((60, 6)) < 0.9).astype(np.float32)
    apart = np.eye(6, dtype=np.float32)[np.arange(60) % 6]
    for Y, reason in ((clique, "has no separator"), (apart, "has no edges")):
        with pytest.warns(NoSeparatorWarning, match=f"{reason}.*One block is trained instead"):
            model = small(n_groups=4, column_weight=2).fit(X, Y)
        assert model.partition_.n_blocks == 1
        assert model.predict_topk(X, 2)[0].shape == (60, 2)


def test_damaged_models_are_refused(worlds, tmp_path, monkeypatch):
    monkeypatch.setattr("mlgt.model.writing.check_header", lambda header: None)  # as a forger's would
    model = small().fit(*worlds[0])
    fitted = model.fitted_model()
    facts, arrays = to_header(fitted, model._owner()), to_arrays(fitted)

    def load(facts=facts, **changed):
        from mlgt.model.writing import model_writer

        with model_writer(tmp_path / "m", overwrite=True) as writer:
            for name, array in (arrays | changed).items():
                writer.add(name, array)
            writer.finish(facts)
        return mlgt.load(tmp_path / "m"), Predictor(tmp_path / "m")

    load()
    parents = arrays["partition/parents"].copy()
    parents[0] = 0
    for changed in (
        {"partition/parents": parents},
        {"block-0/coef": arrays["block-0/coef"][:, 1:]},
        {"label_counts": arrays["label_counts"][1:]},
        {"calibration/slopes": np.float32([1.0])},
        {"facts": facts | {"blocks": facts["blocks"] | {"combination": "vote"}}},
        {"facts": facts | {"blocks": facts["blocks"] | {"rows": [1]}}},
        {"facts": facts | {"column_weight": [5]}},
        {"facts": facts | {"n_groups": 3}},
    ):
        with pytest.raises(ModelFileError, match="does not describe a whole model"):
            load(**changed)


def test_warnings_point_at_the_caller(worlds):
    with pytest.warns(OneBlockWarning) as caught:
        HierarchicalMLGTClassifier(random_state=0).fit(*worlds[0])
    assert caught[0].filename == __file__
    with pytest.warns(OneBlockWarning, match=r"route=0\.1 has no effect"):
        HierarchicalMLGTClassifier(sketch=20, route=0.1, random_state=0).fit(*worlds[0])
