"""One model object answers for all callers: the same checks, messages and defaults."""

from types import SimpleNamespace

import numpy as np
import pytest

import mlgt
from mlgt import Predictor, TextTagger


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
    assert (
        len(callers.tagger.tag("word1")) == len(callers.tagger.tag("word1", k=callers.d + 1)[:5]) == wanted
    )
