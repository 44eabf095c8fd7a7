import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mlgt import MLGTClassifier, load
from mlgt._core.errors import NotReproducibleWarning
from mlgt.decoding import DECODERS
from mlgt.groups import CONSTRUCTIONS, constant_weight_groups
from mlgt.metrics import evaluate, precision_at, recall_at
from mlgt.training.checks import Params
from mlgt.training.settings import auto_n_groups, resolve_shape


def small(**params):
    return MLGTClassifier(**({"n_groups": 24, "column_weight": 6, "random_state": 0} | params))


@pytest.fixture(scope="module")
def fitted(topics):
    return small().fit(*topics[0])


@pytest.mark.parametrize("construction", [name for name in CONSTRUCTIONS if name != "saffron"])
@pytest.mark.parametrize("decoder", ["soft", "top_k", "top_k_frequency"])
def test_learns_far_more_than_the_most_frequent_labels(topics, construction, decoder):
    (X, Y), (X_test, Y_test) = topics
    weight = 6 if CONSTRUCTIONS[construction].WEIGHTED else "auto"
    model = small(construction=construction, decoder=decoder, column_weight=weight)
    labels, _ = model.fit(X, Y).predict_topk(X_test, 5)
    frequent = np.tile(np.argsort(-Y.sum(axis=0))[:5], (X_test.shape[0], 1))
    assert recall_at(Y_test, labels, 5) > 2 * recall_at(Y_test, frequent, 5)


def test_predict_is_the_top_five_as_sparse_zero_one(topics, fitted):
    X = topics[1][0]
    P = fitted.predict(X)
    labels, _ = fitted.predict_topk(X, 5)
    assert sp.issparse(P)
    assert P.format == "csr"
    assert P.shape == topics[1][1].shape
    assert set(np.unique(P.data)) == {1}
    for row, ids in zip(P.toarray(), labels):
        assert set(np.flatnonzero(row)) == set(ids)


def test_topk_is_sorted_and_agrees_with_decision_function(topics, fitted):
    X = topics[1][0]
    labels, scores = fitted.predict_topk(X, 7)
    full = fitted.decision_function(X)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert (np.take_along_axis(full, labels, axis=1) == scores).all()
    assert (np.sort(full, axis=1)[:, ::-1][:, :7] == scores).all()


def test_inclusion_pads_with_minus_one(topics):
    (X, Y), (X_test, _) = topics
    labels, scores = small(decoder="inclusion").fit(X, Y).predict_topk(X_test, 10)
    assert (labels == -1).any()
    assert ((labels == -1) == (scores == -np.inf)).all()


def test_dense_sparse_batch_and_single_rows_agree(topics, fitted):
    X = topics[1][0]
    labels, scores = fitted.predict_topk(X, 5)
    for other in (X.toarray(), sp.csc_matrix(X), sp.csr_matrix(X).astype(np.float64)):
        assert (fitted.predict_topk(other, 5)[0] == labels).all()
    for i in (0, 57, 199):
        one_label, one_score = fitted.predict_topk(X[[i]], 5)
        assert (one_label[0] == labels[i]).all()
        assert (one_score[0] == scores[i]).all()


def test_same_seed_same_model_for_any_number_of_threads(topics):
    X, Y = topics[0]
    one, two = (small(n_groups=70, n_jobs=j).fit(X, Y) for j in (1, 3))
    assert (one.classifiers_.coef == two.classifiers_.coef).all()
    assert (one.groups_ != two.groups_).nnz == 0
    assert (one.predict_topk(X, 3)[1] == two.predict_topk(X, 3)[1]).all()
    assert (small(n_groups=70, random_state=1).fit(X, Y).groups_ != one.groups_).nnz > 0


def test_fit_does_not_touch_its_input(topics):
    X, Y = (m.copy() for m in topics[0])
    small().fit(X, Y)
    assert (X != topics[0][0]).nnz == 0
    assert (Y != topics[0][1]).nnz == 0


def test_automatic_settings(topics):
    X, Y = topics[0]
    model = MLGTClassifier(n_groups=20, ranker=None, random_state=0).fit(X, Y)
    assert model.column_weight_ in model.column_weight_losses_
    assert (model.power_, model.C_, model.tried_) == (1.0, 1.0, {})  # the paper's methods try nothing
    assert auto_n_groups(3993, 5.31) == 512
    assert auto_n_groups(101, 4.4) == 101


@pytest.mark.parametrize(
    ("d", "k", "centroids", "m"),
    [
        (3993, 5.31, "auto", 512),
        (30_938, 18.6, "auto", 768),
        (670_091, 5.4, "auto", 256),
        (670_091, 5.4, False, 768),
    ],
)
def test_groups_with_a_ranker(d, k, centroids, m):
    """100 rows with k labels each on average, of d labels."""
    indptr = np.linspace(0, round(100 * k), 101).astype(np.int64)
    Y = sp.csr_array((np.ones(indptr[-1], np.float32), np.arange(indptr[-1]), indptr), shape=(100, d))
    params = MLGTClassifier(ranker_params={"centroids": centroids}).get_params(deep=False)
    assert resolve_shape(Params(params), Y).n_groups == m


def test_where_pooling_gains_nothing_every_label_is_a_group(topics):
    X, Y = topics[0]
    model = MLGTClassifier(random_state=0).fit(X, Y)
    assert (model.groups_ != np.eye(30)).sum() == 0


def test_shapes_that_cannot_fit_are_refused(topics, monkeypatch):
    monkeypatch.setattr("mlgt._core.memory.available_memory", lambda: 1e5)
    said = r"30 labels \(30 occur\) on 120 features would need about .*Drop columns"
    for construction in ("nmf", "constant_weight"):
        with pytest.raises(ValueError, match=said):
            small(construction=construction).fit(*topics[0])


def test_random_groups_need_no_factorisation(topics, monkeypatch):
    """100 MB are too little for the NMF of 4000 groups, but enough for a design at random."""
    monkeypatch.setattr("mlgt._core.memory.available_memory", lambda: 100e6)
    many = {"n_groups": 4000, "column_weight": 6, "solver_params": {"tol": 0.5}}
    small(construction="constant_weight", **many).fit(*topics[0])
    with pytest.raises(ValueError, match=r"would need about 0\.3 GB"):
        small(**many).fit(*topics[0])


def test_own_group_matrix(topics):
    (X, Y), (X_test, Y_test) = topics
    A = constant_weight_groups(15, 30, 4, np.random.default_rng(0))
    model = MLGTClassifier(construction=A, random_state=0).fit(X, Y)
    assert (model.groups_ != A).nnz == 0
    one_vs_all = MLGTClassifier(construction=np.eye(30), random_state=0).fit(X, Y)
    assert precision_at(Y_test, one_vs_all.predict_topk(X_test, 1)[0], 1) > 0.8


@pytest.mark.parametrize(
    "classifier", [LogisticRegression(C=10), DecisionTreeClassifier(max_depth=4), MultinomialNB()]
)
def test_any_binary_classifier(topics, classifier):
    """Groups by decision_function, by predict_proba, and one that only takes what it is given."""
    (X, Y), (X_test, Y_test) = topics
    model = small(classifier=classifier).fit(X, Y)
    assert recall_at(Y_test, model.predict_topk(X_test, 5)[0], 5) > 0.4
    with pytest.raises(ValueError, match=r"Keep it with joblib\.dump"):
        model.save("never-written")


def test_solver_and_linear_svc_agree_on_the_ranking(topics):
    (X, Y), (X_test, _) = topics
    ours = small(solver_params={"tol": 1e-5}, ranker=None).fit(X, Y)
    theirs = small(classifier=LinearSVC(tol=1e-6)).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X_test), theirs.decision_function(X_test), atol=0.02)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver_params": {"loss": "logistic"}},
        {"classifier": LogisticRegression()},
        {"classifier": DecisionTreeClassifier()},
    ],
)
def test_groups_never_or_always_positive(topics, settings):
    """Their margins are of the right sign, and no label is ranked first for never having been seen."""
    X, Y = topics[0]
    dense = Y.toarray()
    dense[:, 0], dense[:, 1] = 1, 0  # one label on every row, one on none
    model = MLGTClassifier(construction=np.eye(30), random_state=0, **settings).fit(X, dense)
    margins = model.classifiers_.margins(X)
    assert (margins[:, 0] > 0).all()
    assert (margins[:, 1] < 0).all()
    labels, _ = model.predict_topk(X, 5)
    assert (labels == 1).mean() < 0.02


def test_weightless_positives_make_a_group_constant(topics):
    X, Y = topics[0]
    dense = Y.toarray()
    weight = 1.0 - dense[:, 0]
    classifier = LogisticRegression(solver="liblinear")
    model = MLGTClassifier(construction=np.eye(30), classifier=classifier, random_state=0)
    assert (model.fit(X, dense, sample_weight=weight).classifiers_.margins(X)[:, 0] < 0).all()


def test_labels_without_training_rows_are_still_ranked(topics):
    X, Y = topics[0]
    dense = Y.toarray()
    dense[:, 7] = 0
    scores = small().fit(X, dense).decision_function(X)
    assert np.isfinite(scores[:, 7]).all()


def test_rows_without_labels_or_features(topics):
    X, Y = (m.toarray() for m in topics[0])
    X[:3] = 0
    Y[3:6] = 0
    model = small().fit(X, Y)
    assert np.isfinite(model.decision_function(np.zeros((2, X.shape[1])))).all()


def test_sample_weight_zero_removes_a_row_from_training(topics):
    X, Y = topics[0]
    noise = Y.toarray().copy()
    noise[::2] = np.roll(noise[::2], 7, axis=1)
    A = constant_weight_groups(24, 30, 6, np.random.default_rng(0))
    weight = np.ones(400)
    weight[::2] = 0
    exact = MLGTClassifier(construction=A, solver_params={"tol": 1e-5}, random_state=0)
    kept = clone(exact).fit(X[1::2], noise[1::2])
    weighted = clone(exact).fit(X, noise, sample_weight=weight)
    np.testing.assert_allclose(kept.classifiers_.coef, weighted.classifiers_.coef, atol=0.02)


def test_clone_pickle_and_params(topics, fitted):
    X = topics[1][0]
    assert clone(fitted).get_params() == fitted.get_params()
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_topk(X, 5)[1] == fitted.predict_topk(X, 5)[1]).all()


def test_there_are_few_parameters():
    assert len(MLGTClassifier().get_params(deep=False)) <= 19


def test_pipeline_with_text():
    texts = ["red apple", "green apple", "red car", "fast car", "green tree", "tall tree"] * 5
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]] * 5)
    model = make_pipeline(TfidfVectorizer(), MLGTClassifier(construction=np.eye(3), random_state=0))
    labels, _ = model.fit(texts, Y)[-1].predict_topk(model[:-1].transform(["an apple", "a car"]), 1)
    assert labels.ravel().tolist() == [0, 1]


def test_grid_search_scores_by_ndcg(topics):
    X, Y = topics[0]
    search = GridSearchCV(small(), {"C": [0.001, 1.0], "column_weight": [2, 6]}, cv=3)
    search.fit(X, Y)
    assert search.best_params_["C"] == 1.0
    assert 0.3 < search.best_score_ < 1


def test_verbose_reports_the_stages(topics, capsys):
    small(verbose=2).fit(*topics[0])
    said = capsys.readouterr().err
    assert "24 groups for 30 labels, each in 6" in said
    assert "training classifiers: 24 of 24" in said
    small().fit(*topics[0])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("decoder", DECODERS)
def test_permuted_labels_give_permuted_predictions(topics, decoder):
    X, Y = topics[0]
    A = constant_weight_groups(24, 30, 6, np.random.default_rng(1)).toarray()
    order = np.random.default_rng(2).permutation(30)
    straight = MLGTClassifier(construction=A, decoder=decoder, random_state=0).fit(X, Y)
    permuted = MLGTClassifier(construction=A[:, order], decoder=decoder, random_state=0)
    permuted.fit(X, Y.toarray()[:, order])
    np.testing.assert_allclose(
        permuted.decision_function(X), straight.decision_function(X)[:, order], rtol=1e-5
    )


def test_eurlex_soft_decoding_reaches_eighty_percent_and_ranking_eighty_three(eurlex):
    """Hard decoding, the paper's, stops at a P@1 of .75 to .78; soft passes .80, match and rank .83."""
    train, test = eurlex
    model = MLGTClassifier(n_groups=350, n_jobs=-1, random_state=0).fit(train.X, train.Y)

    def report():
        counts = model.label_counts_
        return evaluate(test.Y, model.predict_topk(test.X, 5)[0], train_counts=counts, n_train=15539)

    ranked = report()
    assert ranked["P@1"] >= 0.83
    assert ranked["P@5"] >= 0.585
    assert ranked["n_unlabelled"] == 6
    model.set_params(ranker=None).fit(train.X, train.Y)
    soft = report()
    assert 0.80 <= soft["P@1"] < ranked["P@1"]
    assert 0.51 <= soft["P@5"] < ranked["P@5"]
    model.set_params(decoder="top_k")
    hard = report()
    assert hard["Pi@1"] >= 0.8477
    assert hard["P@1"] < soft["P@1"]


def test_every_option_matters(topics):
    """Each changes the result: none is lost on its way to its stage."""
    X, Y = topics[0]
    scale = sp.diags_array(np.random.default_rng(0).uniform(0.1, 5, size=400))
    X = sp.csr_array(scale @ X)
    plain = small().fit(X, Y).decision_function(X)
    for change in (
        {"normalize": False},
        {"solver_params": {"loss": "logistic"}},
        {"C": 0.1},
        {"solver_params": {"tol": 0.5}},
        {"solver_params": {"class_weight": "balanced"}},
        {"solver_params": {"class_weight": {0: 1.0, 1: 3.0}}},
        {"construction_params": {"max_sweeps": 1}},
        {"construction_params": {"sampling": "bernoulli"}},
        {"decoder_params": {"slope": 1.0}},
        {"decoder_params": {"prior": 0.5}},
    ):
        assert np.abs(small(**change).fit(X, Y).decision_function(X) - plain).max() > 1e-3, change


def test_normalised_rows_do_not_depend_on_their_length(topics):
    X, Y = topics[0]
    scale = sp.diags_array(np.random.default_rng(0).uniform(0.1, 5, size=400))
    one, two = small().fit(X, Y), small().fit(scale @ X, Y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=0.02)


def test_sample_weight_reaches_a_classifier(topics):
    X, Y = topics[0]
    weight = np.random.default_rng(0).integers(1, 9, size=400).astype(float)
    model = small(classifier=LogisticRegression())
    plain = model.fit(X, Y).decision_function(X)
    assert np.abs(model.fit(X, Y, sample_weight=weight).decision_function(X) - plain).max() > 1e-3


def test_random_state_seeds_the_classifiers(topics):
    X, Y = topics[0]
    fits = [small(classifier=SGDClassifier(), n_jobs=j).fit(X, Y).decision_function(X) for j in (1, 2)]
    assert (fits[0] == fits[1]).all()


def test_a_limit_in_seconds_is_recorded(topics, tmp_path):
    model = small(construction_params={"max_seconds": 0.0, "tol": 1e-12})
    with pytest.warns(NotReproducibleWarning):
        model.fit(*topics[0])
    model.save(tmp_path / "m")
    assert not load(tmp_path / "m").reproducible_
    assert small().fit(*topics[0]).reproducible_


@pytest.mark.parametrize(("loss", "bits"), [(1.0, 4), (-1.0, 8)])
def test_held_out_rows_decide_about_half_bytes_where_groups_are_large(families, monkeypatch, loss, bits):
    monkeypatch.setattr("mlgt.training.settings.MAX_FEW_BITS_LABELS", 0)
    monkeypatch.setattr("mlgt.training.train.MAX_ROUNDING_LOSS", loss)
    model = small(ranker="linear").fit(*families[0])
    assert model.classifiers_.bits == bits
    assert model.reasons_["bits"].startswith(f"{bits}: nDCG@5 by groups alone is 0.")


@pytest.mark.parametrize(("lost", "bits"), [(0.0, 4), (0.008, 4), (0.012, 8)])
def test_half_bytes_are_refused_if_they_surely_cost_too_much(families, monkeypatch, lost, bits):
    """With a standard error of .002: .008 may be less than .006 by chance, .012 are not."""
    rng = np.random.default_rng(0)

    def ndcg_rows(Y, labels, k):
        noise = rng.normal(size=Y.shape[0])
        noise = 0.002 * np.sqrt(Y.shape[0]) * (noise - noise.mean()) / noise.std()
        calls.append(Y)
        return np.full(Y.shape[0], 0.5) if len(calls) == 1 else 0.5 - lost + noise

    calls = []
    monkeypatch.setattr("mlgt.training.settings.MAX_FEW_BITS_LABELS", 0)
    monkeypatch.setattr("mlgt.training.train.ndcg_rows", ndcg_rows)
    model = small(ranker="linear").fit(*families[0])
    assert (model.classifiers_.bits, len(calls)) == (bits, 2)


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_are_rounded_with_a_ranker(topics, tmp_path, monkeypatch, bits):
    """An eighth or a quarter of the size, weights off by rounding only; saved and loaded as they are."""
    (X, Y), (X_test, _) = topics
    same = {"power": 1.0, "C": 1.0, "solver_params": {"tol": 0.1}, "construction_params": {"max_sweeps": 5}}
    monkeypatch.setattr("mlgt.training.settings.FEW_BITS", bits)
    exact, rounded = (small(ranker=ranker, **same).fit(X, Y) for ranker in (None, "linear"))
    assert exact.classifiers_.weights.dtype == np.float32
    assert rounded.classifiers_.weights.dtype == np.int8
    units = exact.classifiers_.coef / rounded.classifiers_.scale, rounded.classifiers_.weights.astype(float)
    if bits == 4:
        units = [np.sign(values) * np.sqrt(np.abs(values)) for values in units]
    assert (np.abs(units[0] - units[1]) <= 0.5001).all()
    rounded.save(tmp_path / "m")
    stored, whole = 8 * np.load(tmp_path / "m" / "coef.npy").nbytes, bits * X.shape[1] * rounded.n_groups_
    assert stored < whole
    again = load(tmp_path / "m")
    assert again.classifiers_.weights.dtype == np.int8
    assert (again.decision_function(X_test) == rounded.decision_function(X_test)).all()
