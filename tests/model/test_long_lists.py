"""A list of labels begins with every shorter one, whatever the method."""

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt import HierarchicalMLGTClassifier, MLGTClassifier, Predictor, TextTagger
from mlgt._core.sigmoid import sigmoid
from mlgt.estimators.methods import METHODS, make_estimator
from mlgt.metrics import hits

LENGTHS = (1, 5, 20, 100, 500)
LONG = {"ranker_params": {"n_candidates": 20}, "n_groups": 64, "column_weight": 4}
MODELS = {
    **{name: lambda name=name: make_estimator(name) for name in METHODS if name != "saffron"},
    "ranked": lambda: MLGTClassifier(**LONG),
    "centroids": lambda: MLGTClassifier(
        **LONG | {"ranker_params": {"n_candidates": 20, "centroids": True}}
    ),
    "tail": lambda: MLGTClassifier(**LONG, tail=1.0),
    "blocks": lambda: HierarchicalMLGTClassifier(n_blocks=3, budget=0.3, ranker="linear", **LONG),
    "blocks without ranker": lambda: HierarchicalMLGTClassifier(n_blocks=3, budget=0.3, ranker=None),
    "one-vs-all": lambda: MLGTClassifier(n_groups=1200),
}


@pytest.fixture(scope="module")
def many():
    """Rows of 1,200 labels in families, each with words of its own: lists of 1,000 are a part of them."""
    rng = np.random.default_rng(0)
    n, p, d = 4000, 900, 1200
    words = sp.random_array((d, p), density=0.01, random_state=rng, format="csr")
    first = np.minimum(d - 1, rng.geometric(1 / 300, n))
    second = np.minimum(d - 1, first - first % 10 + rng.integers(0, 10, n))
    Y = sp.csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), np.append(first, second))), shape=(n, d))
    Y.sum_duplicates()
    Y.data[:] = 1
    noise = sp.random_array((n, p), density=0.01, random_state=rng)
    X = sp.csr_array(Y @ words + noise, dtype=np.float32)
    return X, sp.csr_array(Y, dtype=np.float32)


@pytest.fixture(scope="module")
def fitted(many):
    made = {}

    def fit(name):
        if name not in made:
            X, Y = many
            made[name] = MODELS[name]().set_params(random_state=0).fit(X[:3800], Y[:3800])
        return made[name]

    return fit


@pytest.mark.parametrize("name", MODELS)
def test_a_list_begins_with_every_shorter_one(fitted, many, name):
    model, rows = fitted(name), many[0][3800:3860]
    labels, scores = model.predict_topk(rows, model.n_labels_)
    assert (np.diff(scores, axis=1)[np.isfinite(scores[:, 1:])] <= 0).all()
    for row in labels:
        assert len(set(row[row >= 0])) == (row >= 0).sum()
    for k in LENGTHS:
        some, their = model.predict_topk(rows, k)
        assert (some == labels[:, :k]).all()
        np.testing.assert_array_equal(their, scores[:, :k])
        one, own = Predictor(model)(rows[[0]].indices, rows[[0]].data, k)
        assert (one == labels[0, :k]).all()
        np.testing.assert_allclose(own, scores[0, :k], atol=1e-5)


@pytest.mark.parametrize("name", ["ranked", "centroids", "auto", "one-vs-all", "blocks"])
def test_given_labels_have_the_scores_of_the_list(fitted, many, name):
    model, rows = fitted(name), many[0][3800:3860]
    K = model.fitted_model().max_candidates
    labels, scores = model.predict_topk(rows, K)
    given = np.arange(0, model.n_labels_, 3)
    found, their = model.predict_topk(rows, len(given), among=given)
    for i in range(len(rows.indptr) - 1):
        ranked = np.isin(labels[i], given)
        assert (found[i, : ranked.sum()] == labels[i][ranked]).all()  # before all others
        np.testing.assert_array_equal(their[i, : ranked.sum()], scores[i][ranked])
    if model.centroids_ is None:
        longest, all_scores = model.predict_topk(rows, model.n_labels_)
        for i in range(3):
            np.testing.assert_allclose(their[i], all_scores[i][np.isin(longest[i], given)], atol=1e-3)


def test_probabilities_beyond_the_candidates_are_those_of_held_out_rows(fitted, many):
    X, Y = many
    model = fitted("ranked")
    K = model.n_candidates_
    labels, scores = model.predict_topk(X[3800:], 400)
    share, right = sigmoid(scores[:, K:]), hits(Y[3800:], labels[:, K:])
    # There are 0 to 17 right ones among 76,000, for six seeds.
    assert 0.1 * right.mean() < share.mean() < 3 * right.mean() + 1e-3
    assert (scores[:, K:] <= scores[:, K - 1 : K]).all()
    proba = model.predict_proba(X[3800:]).toarray()
    row = np.arange(len(labels))[:, None]
    np.testing.assert_allclose(proba[row, labels[:, :K]], sigmoid(scores[:, :K]), rtol=1e-6)


def test_labels_beyond_the_candidates_are_explained_by_the_matcher(fitted, many):
    model, row = fitted("centroids"), many[0][[3801]]
    labels, scores = model.predict_topk(row, 60)
    reasons = model.explain(row, k=60).labels
    assert [reason.label for reason in reasons] == labels[0].tolist()
    for reason, score in zip(reasons, scores[0]):
        assert reason.score == pytest.approx(score, abs=1e-4)
        total = reason.intercept + sum(term.contribution for term in reason.evidence)
        assert total == pytest.approx(score, abs=1e-3)
    assert [term.name for term in reasons[-1].evidence] == ["matcher"]
    (alone,) = model.explain(row, labels=[int(labels[0, -1])]).labels
    assert alone.score == pytest.approx(scores[0, -1], abs=1e-3)


def test_lists_of_texts_too():
    texts = [f"word{j} term{j} other{j % 7}" for j in range(300)] * 4
    tagger = TextTagger(MLGTClassifier(**LONG, random_state=0)).fit(
        texts, [[f"label {j % 300}", f"family {j % 7}"] for j in range(1200)]
    )
    labels, scores = tagger.predict_topk(texts[:50], len(tagger.classes_))
    for k in (1, 5, 20, 100):
        some, their = tagger.predict_topk(texts[:50], k)
        assert (some == labels[:, :k]).all()
        assert (their == scores[:, :k]).all()
    tags = tagger.tag(texts[0], k=100)
    assert [tag for tag, _ in tags] == [tagger.classes_[l] for l in labels[0, :100]]
