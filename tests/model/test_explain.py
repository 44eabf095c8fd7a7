"""Reasons are the arithmetic that was done: shares add up to the margin, parts of a score to the score."""

import re

import numpy as np
import pytest

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier, Predictor
from mlgt._core.rows import scale_rows
from mlgt.classifiers.margins import group_margins
from mlgt.text import check_label_lists, label_matrix

TWELVE = {"n_candidates": 12}
BLOCKS = {"n_blocks": 2, "budget": 0.1, "partitioner": "propagation"}
MODELS = {
    "one-vs-all": (MLGTClassifier, {}),
    "ranked": (
        MLGTClassifier,
        {"n_groups": 32, "column_weight": 4, "ranker_params": {**TWELVE, "centroids": True}},
    ),
    "ranked, no centroids": (
        MLGTClassifier,
        {"n_groups": 32, "ranker_params": {**TWELVE, "centroids": False}},
    ),
    "ranked, tail": (MLGTClassifier, {"n_groups": 32, "ranker_params": TWELVE, "tail": 1.0}),
    "soft": (MLGTClassifier, {"n_groups": 32, "column_weight": 4, "ranker": None}),
    "top_k": (MLGTClassifier, {"n_groups": 32, "column_weight": 4, "decoder": "top_k"}),
    "saffron": (MLGTClassifier, {"construction": "saffron", "decoder": "saffron", "n_groups": 300}),
    "blocks": (HierarchicalMLGTClassifier, BLOCKS | {"ranker_params": TWELVE}),
    "blocks, sketched": (HierarchicalMLGTClassifier, BLOCKS | {"ranker_params": TWELVE, "sketch": 100}),
    "blocks, routed": (HierarchicalMLGTClassifier, BLOCKS | {"sketch": 100, "route": 0.6, "ranker": None}),
    "blocks, united": (HierarchicalMLGTClassifier, BLOCKS | {"combination": "union", "decoder": "top_k"}),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, families):
    kind, settings = MODELS[request.param]
    (X, Y), _ = families
    model = kind(random_state=0, **settings).fit(X[:2000], Y[:2000])
    assert (model.fitted_model().blocks is not None) == ("blocks" in request.param)
    assert (getattr(model, "router_", None) is not None) == ("routed" in request.param)
    return model


def test_reasons_add_up_to_what_was_predicted(model, families):
    X = families[1][0][:6]
    for i in range(X.shape[0]):
        row = X[[i]]
        found = model.explain(row, k=4)
        ids, scores = (values[0] for values in model.predict_topk(row, 4))
        assert [reasons.label for reasons in found.labels] == [label for label in ids if label >= 0]
        assert found.labels
        for reasons, score in zip(found.labels, scores):
            if not model.tail:
                assert reasons.score == pytest.approx(score, abs=1e-5)
            assert reasons.bias + sum(share for _, share in reasons.words) == pytest.approx(
                reasons.margin, abs=1e-4
            )
            total = reasons.intercept + sum(evidence.contribution for evidence in reasons.evidence)
            assert total == pytest.approx(reasons.score, abs=1e-4)
            assert reasons.margin == pytest.approx(actual_margin(model, row, reasons.label), abs=1e-4)


def actual_margin(model, row, label):
    """The margin that the model's own weights give, by matrix products."""
    x = scale_rows(row, model.power_, model.normalize)
    if model.ranker_ is not None:
        return (x @ model.ranker_.weights[[label]].T).toarray()[0, 0] + model.ranker_.bias[label]
    margins = model.classifiers_.margins(x)[0]
    return margins[model.groups_[:, [label]].toarray().ravel() > 0].mean()


def test_probabilities_are_those_of_the_model(families):
    (X, Y), (X_test, _) = families
    model = MLGTClassifier(random_state=0).fit(X, Y)
    for reasons in model.explain(X_test[[0]], k=3).labels:
        assert reasons.probability == pytest.approx(model.predict_proba(X_test[[0]])[0, reasons.label])


def test_groups_that_fired_hold_their_labels(families):
    (X, Y), (X_test, _) = families
    model = MLGTClassifier(n_groups=32, column_weight=4, ranker_params=TWELVE, random_state=0).fit(X, Y)
    row = X_test[[1]]
    found = model.explain(row)
    c = model.classifiers_
    margins = group_margins(
        scale_rows(row, model.power_), np.asarray(c.weights), np.asarray(c.intercept), c.scale
    )[0]
    assert found.n_fired == (margins > 0).sum()
    assert [group.group for group in found.groups] == np.argsort(-margins)[: len(found.groups)].tolist()
    for group in found.groups:
        members = model.groups_[[group.group]].indices
        assert sorted(group.labels) == sorted(str(label) for label in members)
    for reasons in found.labels:
        own = model.groups_[:, [reasons.label]].toarray().ravel() > 0
        assert (reasons.n_fired, reasons.n_groups) == ((margins[own] > 0).sum(), 4)


def test_given_labels_are_explained(families):
    (X, Y), (X_test, _) = families
    model = MLGTClassifier(n_groups=32, column_weight=4, ranker_params=TWELVE, random_state=0).fit(X, Y)
    found = model.explain(X_test[[0]], labels=[7, 3])
    assert sorted(reasons.label for reasons in found.labels) == [3, 7]
    labels, scores = model.predict_topk(X_test[[0]], among=[3, 7])
    assert [reasons.label for reasons in found.labels] == labels[0].tolist()
    assert [reasons.score for reasons in found.labels] == pytest.approx(scores[0])


# ---- scores of given labels ----


def test_among_all_labels_is_the_ranking_of_all(model, families):
    """Where candidates are all labels, naming all of them changes nothing."""
    X = families[1][0][:40]
    if not Predictor(model)._model.decoder.scores_given:
        with pytest.raises(ValueError, match="cannot score given labels"):
            model.predict_topk(X, 3, among=[1])
        return
    d = len(model.classes_)
    labels, scores = model.predict_topk(X, d)
    again, same = model.predict_topk(X, d, among=range(d))
    np.testing.assert_allclose(same, scores, atol=1e-4)
    assert (again == labels).mean() > 0.9  # ties of votes may fall otherwise


def test_among_a_few_scores_them_though_they_are_no_candidates(families):
    (X, Y), (X_test, _) = families
    model = MLGTClassifier(
        n_groups=32, column_weight=4, ranker_params={**TWELVE, "centroids": True}, random_state=0
    ).fit(X, Y)
    model.name_labels([f"label {j}" for j in range(Y.shape[1])])
    labels, scores = model.predict_topk(X_test, among=["label 3", "label 11", "label 3"])
    assert labels.shape == (X_test.shape[0], 2)
    assert (np.sort(labels, axis=1) == [3, 11]).all()
    assert (scores[:, 0] >= scores[:, 1]).all()
    truth = families[1][1].toarray()
    rows = np.flatnonzero(truth[:, [3, 11]].sum(axis=1) == 1)
    right = truth[rows, labels[rows, 0]].mean()
    assert right > 0.9
    one, _ = Predictor(model).predict_topk(X_test[:5], among=[3, 11])
    assert (one == labels[:5]).all()


@pytest.mark.parametrize(
    ("among", "message"),
    [([], "among is empty"), (["x"], "'x' is no label"), ([66], "66 is no label"), ("x", "is one label")],
)
def test_among_what_is_no_label(families, among, message):
    (X, Y), _ = families
    model = MLGTClassifier(ranker=None, n_groups=16, column_weight=4, random_state=0).fit(X[:500], Y[:500])
    with pytest.raises(ValueError, match=message):
        model.predict_topk(X[:1], among=among)


def test_one_row_at_a_time(families):
    (X, Y), _ = families
    model = MLGTClassifier(ranker=None, n_groups=16, column_weight=4, random_state=0).fit(X[:500], Y[:500])
    with pytest.raises(ValueError, match="There are 2 rows; expected one"):
        model.explain(X[:2])


# ---- texts, names and notebooks ----


def test_marks_of_a_text_add_up_to_the_margin(stories):
    tagger = mlgt.TextTagger(words=2, random_state=0).fit(*stories)
    text = "Our CAT, our cat purr; the judge <b>"
    for reasons in tagger.explain(text, k=3).labels:
        assert reasons.bias + sum(share for *_, share in reasons.marks) == pytest.approx(
            reasons.margin, abs=1e-5
        )
        assert {text[a:b].lower() for a, b, _ in reasons.marks} <= {
            "our",
            "cat",
            "purr",
            "the",
            "judge",
            "b",
        }


def test_an_explanation_is_short_in_a_shell_and_escaped_in_a_notebook(stories):
    tagger = mlgt.TextTagger(random_state=0).fit(*stories)
    found = tagger.explain("our cat <script>", k=1)
    assert re.fullmatch(r"Explanation\(cats [01]\.\d\d: cat \+\d.*\)", repr(found))
    assert len(repr(found)) < 200
    page = found._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert repr(tagger.explain("qqq")) == "Explanation(no known word)"
    assert "no known word" in tagger.explain("qqq")._repr_html_()


def test_features_are_named_by_a_pipeline(stories):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    texts, lists = stories
    Y, names = label_matrix(check_label_lists(lists))
    pipeline = make_pipeline(TfidfVectorizer(), MLGTClassifier(random_state=0)).fit(texts, Y)
    row, words = pipeline[:-1].transform(["our cat"]), pipeline[0].get_feature_names_out()
    for given in (pipeline, pipeline[0], pipeline[:-1], words, list(words)):
        found = pipeline[-1].explain(row, k=1, feature_names=given)
        assert names[found.labels[0].label] == "cats"
        assert found.labels[0].words[0][0] == "cat"
        assert "cat +" in found._repr_html_()
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        pipeline[-1].explain(row, feature_names=["a", "b"])
