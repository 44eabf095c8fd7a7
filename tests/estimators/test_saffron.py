"""SAFFRON in the estimator: designed, trained, read, kept; that all forms agree, and what is refused."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import mlgt
from mlgt import MLGTClassifier, Predictor
from mlgt._core.rows import scale_rows
from mlgt.decoding import decode_noisy, decode_peeling
from mlgt.groups import pool
from mlgt.metrics import precision_at


def saffron(**params):
    return MLGTClassifier(**({"construction": "saffron", "decoder": "saffron", "random_state": 0} | params))


@pytest.fixture(scope="module")
def fitted(topics):
    return saffron().fit(*topics[0])


def margins_of(model, X):
    return model.classifiers_.margins(scale_rows(X, model.power_, model.normalize))


def same(one, two):
    return all((a == b).all() for a, b in zip(one, two))


def test_it_learns_and_says_what_it_chose(topics, fitted):
    X, Y = topics[1]
    design = fitted.design_
    assert fitted.groups_.shape == (design.n_groups, 30) == (fitted.n_groups_, 30)
    assert (design.graph.sum(axis=0) == fitted.column_weight_).all()
    assert fitted.column_weight_losses_ is None
    assert fitted.ranker_ is None
    assert precision_at(Y, fitted.predict_topk(X, 1)[0], 1) > 0.95
    assert fitted.score(X, Y) > 0.9
    assert not hasattr(fitted, "predict_proba")


def test_predictions_are_the_decoders(topics, fitted):
    X = topics[1][0]
    margins = margins_of(fitted, X)
    assert same(fitted.predict_topk(X, 4), decode_noisy(fitted.design_, margins, 4))
    hard = clone(fitted).set_params(decoder="saffron_hard").fit(*topics[0])
    assert (hard.classifiers_.coef == fitted.classifiers_.coef).all()
    labels, scores = hard.predict_topk(X, 4)
    assert same((labels, scores), decode_peeling(fitted.design_, margins, 4))
    assert ((labels < 0) == (scores == -np.inf)).all()
    assert (labels < 0).any()
    P = hard.predict(X)
    assert (P.sum(axis=1).A1 == (hard.predict_topk(X, 5)[0] >= 0).sum(axis=1)).all()


def test_exact_tests_give_back_the_labels(topics, fitted):
    """The number of groups that "auto" takes finds them; density evolution is optimistic for few bins."""
    Y, design = topics[0][1], fitted.design_
    tests = np.where(pool(Y, design.A).toarray() > 0, np.float32(1), np.float32(-1))
    for decode, least in ((decode_noisy, 0.99), (decode_peeling, 0.95)):
        labels, _ = decode(design, tests, 3)
        row, column = np.nonzero(labels >= 0)
        found = sp.csr_array((np.ones(len(row)), (row, labels[row, column])), shape=Y.shape)
        assert found.multiply(Y).sum() / Y.nnz > least


@pytest.mark.parametrize("decoder", ["soft", "top_k", "inclusion"])
@pytest.mark.parametrize("options", [{}, {"graph": "nmf"}, {"signatures": "global"}])
def test_other_decoders_read_its_groups_like_any(topics, decoder, options):
    (X, Y), (X_test, Y_test) = topics
    ranked = {"n_candidates": 10} if decoder == "soft" else None
    model = saffron(decoder=decoder, construction_params=options, ranker_params=ranked).fit(X, Y)
    assert model.design_.signatures == options.get("signatures", "local")
    assert (model.ranker_ is not None) == (decoder == "soft")
    assert model.decision_function(X_test).shape == (200, 30)
    assert precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1) > 0.8


@pytest.mark.parametrize("decoder", ["saffron", "saffron_hard", "soft"])
@pytest.mark.parametrize("signatures", ["local", "global"])
def test_saved_loaded_and_served_agree(topics, tmp_path, decoder, signatures):
    (X, Y), (X_test, _) = topics
    params = {"prior": 0.1} if decoder == "saffron" else None
    model = saffron(
        decoder=decoder,
        decoder_params=params,
        construction_params={"signatures": signatures},
        ranker_params={"n_candidates": 10} if decoder == "soft" else None,
    ).fit(X, Y)
    expected = model.predict_topk(X_test, 6)
    model.save(tmp_path / "m")
    assert not (tmp_path / "m" / "groups_indices.npy").exists()  # they follow from the design
    again = mlgt.load(tmp_path / "m")
    assert same(again.predict_topk(X_test, 6), expected)
    assert (again.groups_ != model.groups_).nnz == 0
    assert again.design_.signatures == signatures
    assert (again.n_groups_, again.column_weight_) == (model.n_groups_, model.column_weight_)
    again.save(tmp_path / "n")
    assert (tmp_path / "n" / "saffron_codes.npy").read_bytes() == (
        tmp_path / "m" / "saffron_codes.npy"
    ).read_bytes()
    predictor = Predictor(tmp_path / "m")
    assert same(predictor.predict_topk(X_test, 6), expected)
    rows = [(X_test.indices[a:b], X_test.data[a:b]) for a, b in zip(X_test.indptr, X_test.indptr[1:])]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda row: predictor(*row, 6), rows * 3))
    assert same(map(np.array, zip(*found)), [np.tile(part, (3, 1)) for part in expected])
    assert same(pickle.loads(pickle.dumps(model)).predict_topk(X_test, 6), expected)


def test_a_server_makes_no_group_matrix(fitted, topics, tmp_path):
    fitted.save(tmp_path / "m")
    predictor = Predictor(tmp_path / "m")
    predictor.predict_topk(topics[1][0])
    design = predictor._model.decoder.decode.args[0]
    assert "tables" in vars(design)
    assert "A" not in vars(design)


def test_any_number_of_threads_gives_the_same(topics, fitted):
    X = topics[1][0]
    other = saffron(n_jobs=3).fit(*topics[0])
    assert (other.groups_ != fitted.groups_).nnz == 0
    assert (other.classifiers_.coef == fitted.classifiers_.coef).all()
    assert same(other.predict_topk(X, 5), fitted.predict_topk(X, 5))
    assert (saffron(random_state=1).fit(*topics[0]).groups_ != fitted.groups_).nnz


def test_any_classifier(topics):
    (X, Y), (X_test, Y_test) = topics
    model = saffron(n_groups=70, classifier=LogisticRegression(C=30)).fit(X, Y)
    assert precision_at(Y_test, model.predict_topk(X_test, 1)[0], 1) > 0.8


def test_every_option_matters(topics, fitted):
    X = topics[1][0]
    plain = fitted.predict_topk(X, 5)[1]
    for params in ({"slope": 1.0}, {"prior": 0.5}, {"n_doubtful": 0}):
        assert (
            clone(fitted).set_params(decoder_params=params).fit(*topics[0]).predict_topk(X, 5)[1] != plain
        ).any()
    hard = saffron(decoder="saffron_hard").fit(*topics[0])
    some = (hard.predict_topk(X, 5)[0] >= 0).sum()
    hard.set_params(decoder_params={"min_support": 0.0})
    assert (hard.predict_topk(X, 5)[0] >= 0).sum() > some


def test_n_groups_is_the_most_there_may_be(topics):
    model = saffron(n_groups=200, column_weight=3).fit(*topics[0])
    assert 150 < model.n_groups_ <= 200
    assert model.column_weight_ == 3
    assert saffron(column_weight=4).fit(*topics[0]).column_weight_ == 4


def test_few_labels(topics):
    X, Y = topics[0]
    for d in (1, 2, 3):
        labels, _ = saffron().fit(X, Y[:, :d]).predict_topk(X)
        assert labels.shape == (400, d)
        assert (labels[:, 0] >= 0).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"construction": "nmf"},
            "'saffron' reads the groups of construction=\"saffron\"; pass that, or a",
        ),
        ({"construction": np.eye(30), "decoder": "saffron_hard"}, "'saffron_hard' reads the groups"),
        ({"ranker": "linear"}, 'needs decoder="soft"'),
        ({"construction_params": {"graph": "tree"}}, "choose one of regular, nmf"),
        ({"construction_params": {"signatures": "short"}}, "choose one of local, global"),
        ({"construction_params": {"sampling": "x"}}, "'saffron' takes graph, signatures"),
        ({"decoder_params": {"compiled": False}}, "'saffron' takes slope, prior, n_doubtful"),
        ({"decoder_params": {"slope": 0}}, "slope=0 must be a finite number above 0"),
        ({"decoder_params": {"slope": "steep"}}, "slope='steep' must be"),
        ({"decoder_params": {"prior": np.inf}}, "prior=inf must be a finite number"),
        ({"decoder_params": {"n_doubtful": 2.5}}, "n_doubtful=2.5"),
        ({"decoder": "saffron_hard", "decoder_params": {"min_support": 2}}, "min_support=2 is a share"),
        ({"decoder": "saffron_hard", "decoder_params": {"slope": 1}}, "takes min_support"),
        ({"column_weight": 0}, "column_weight=0 must be"),
        (
            {"n_groups": 100, "column_weight": 9},
            "100 groups do not make 9 bins for 30 labels.* smaller column",
        ),
        ({"n_groups": 10}, "10 groups do not make 1 bins"),
    ],
)
def test_bad_parameters_say_how_to_fix_them(topics, params, message, monkeypatch):
    monkeypatch.setattr("mlgt.training.train.train", None)  # before the training
    with pytest.raises(ValueError, match=message):
        saffron(**params).fit(*topics[0])


def test_what_it_cannot_do_is_said(topics, fitted):
    X = topics[1][0]
    with pytest.raises(AttributeError) as refused:
        fitted.decision_function(X)
    assert "has no scores of all labels" in str(refused.value.__cause__)
    assert not hasattr(fitted, "decision_function")
    plain = MLGTClassifier("constant_weight", n_groups=20, column_weight=5, ranker=None).fit(*topics[0])
    with pytest.raises(ValueError, match="train with it"):
        plain.set_params(decoder="saffron").predict_topk(X)
    soft = pickle.loads(pickle.dumps(fitted)).set_params(decoder="soft")  # the groups are there
    assert soft.decision_function(X).shape == (200, 30)


def test_too_large_a_matrix_is_refused(topics, monkeypatch):
    needed = []
    monkeypatch.setattr("mlgt.training.train.check_memory", lambda n, *words: needed.append((n, words)))
    model = saffron(n_groups=150).fit(*topics[0])
    assert needed[0][0] == 40 * model.groups_.nnz
    assert f"each in {3 * model.design_.n_bits * model.column_weight_}," in needed[0][1][0]
