"""One model object answers for all callers: the same checks, messages and defaults."""

import copy
import json
from types import SimpleNamespace

import numpy as np
import pytest

import mlgt
from mlgt import MLGTClassifier, Predictor, TextTagger
from mlgt._core.errors import ModelFileError, UncalibratedWarning
from references.headers import write_header


def texts_of(d):
    return [f"word{j} term{j} other" for j in range(d)] * 5, [[f"label {j}"] for j in range(d)] * 5


@pytest.fixture(scope="module", params=[3, 8])
def callers(request, tmp_path_factory):
    """d, and functions of k that answer for the same text in different ways."""
    d = request.param
    texts, labels = texts_of(d)
    tagger = TextTagger(random_state=0).fit(texts, labels)
    path = tmp_path_factory.mktemp("model") / str(d)
    tagger.save(path)
    X = tagger.features_(texts[:2])
    row = X[[0]]
    calls = {
        "tagger": lambda *k: tagger.predict_topk(texts[:2], *k),
        "classifier": lambda *k: tagger.classifier_.predict_topk(X, *k),
        "predictor": lambda *k: Predictor(tagger).predict_topk(X, *k),
        "folder": lambda *k: Predictor(path).predict_topk(X, *k),
        "loaded": lambda *k: mlgt.load(path).predict_topk(texts[:2], *k),
        "row": lambda *k: Predictor(tagger)(row.indices, row.data, *k),
    }
    return SimpleNamespace(d=d, calls=calls, tagger=tagger)


@pytest.mark.parametrize("k", [0, -1, True, 2.5, "all", "more"])
def test_a_wrong_k_has_one_message(callers, k):
    k = callers.d + 1 if k == "more" else k
    messages = set()
    for call in callers.calls.values():
        with pytest.raises(ValueError, match=f"k={k}|k={k!r}") as refused:
            call(k)
        messages.add(str(refused.value))
    if k != callers.d + 1:  # `tag` returns all labels if there are fewer
        for tag in (callers.tagger.tag, Predictor(callers.tagger).tag):
            with pytest.raises(ValueError, match="k=") as refused:
                tag("word1", k)
            messages.add(str(refused.value))
    assert len(messages) == 1


def test_the_default_k_is_one(callers):
    wanted = min(5, callers.d)
    answers = [call() for call in callers.calls.values()]
    assert {labels.shape[-1] for labels, _ in answers} == {wanted}
    for labels, scores in answers:
        first = labels if labels.ndim == 1 else labels[0]
        assert first.tolist() == np.atleast_2d(answers[0][0])[0].tolist()
        assert (np.atleast_2d(scores)[0] == answers[0][1][0]).all()
    with pytest.warns(UncalibratedWarning):
        assert len(callers.tagger.tag("word1")) == wanted
    with pytest.warns(UncalibratedWarning):
        assert len(callers.tagger.tag("word1", k=callers.d + 1)[:5]) == wanted


@pytest.fixture(scope="module")
def ranked(families):
    settings = {
        "n_groups": 32,
        "column_weight": 4,
        "ranker_params": {"n_candidates": 20},
        "random_state": 0,
    }
    return MLGTClassifier(ranker="linear", **settings).fit(*families[0])


def test_a_saved_model_predicts_as_it_did_after_set_params(ranked, families, tmp_path):
    model, X = copy.copy(ranked), families[1][0]
    model.set_params(normalize=False, decoder="top_k").save(tmp_path / "m")
    for one, two in zip(model.predict_topk(X, 5), mlgt.load(tmp_path / "m").predict_topk(X, 5)):
        assert (one == two).all()


def test_votes_are_no_probabilities(ranked, families):
    model = copy.copy(ranked).set_params(decoder="top_k")
    assert hasattr(ranked, "predict_proba")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match="decoder='nonsense' is unknown"):
        model.set_params(decoder="nonsense").predict_topk(families[1][0])


def test_a_model_with_another_decoder_can_be_extended(ranked, families):
    X, Y = families[1]
    model = copy.copy(ranked).set_params(decoder="top_k").extend(X[:50], Y[:50])
    assert model.n_rows_ == ranked.n_rows_ + 50


@pytest.mark.parametrize("wrong", [{"decoder_params": {"slope": -1}}, {"decoder_params": {"slop": 1}}])
def test_wrong_options_in_a_header_are_reported_when_the_model_is_opened(wrong, ranked, tmp_path):
    ranked.save(tmp_path / "m", overwrite=True)
    header = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))
    header["params"] |= wrong
    write_header(tmp_path / "m", header)
    with pytest.raises(ModelFileError, match="does not describe a whole model"):
        Predictor(tmp_path / "m")
