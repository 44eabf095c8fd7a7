"""Probabilities of one-vs-all."""

import math

import numpy as np
import pytest

from mlgt import MLGTClassifier
from mlgt.data.datasets import load_debtags
from mlgt.training import settings, tuning


@pytest.fixture(scope="module")
def tags():
    """((X, Y), (X, Y)) of the 500 most frequent tags, and 4,000 rows of each part."""
    train, test = load_debtags()
    tags = np.argsort(-np.asarray(train.Y.sum(axis=0)).ravel())[:500]
    return [(part.X[:4000], part.Y[:4000][:, tags]) for part in (train, test)]


def judge(tags, **params):
    """(expected labels per right one, share right of those of at least 90 %) on the test rows."""
    (X, Y), (X_test, Y_test) = tags
    model = MLGTClassifier(random_state=0, **params).fit(X, Y)
    assert model.n_groups_ == 500
    assert model.ranker_ is None
    assert model.blend_.calibrated
    P, right = model.predict_proba(X_test).toarray(), Y_test.toarray() > 0
    return P.sum() / right.sum(), right[P >= 0.9].mean()


def test_probabilities_hold_on_rows_that_the_classifiers_did_not_have(tags, monkeypatch):
    monkeypatch.setattr(settings, "pooled_work", lambda *_: math.inf)
    expected, sure = judge(tags)
    assert 0.7 < expected < 1.4
    assert sure > 0.72
    _, by_sample = judge(tags, keep_rows=0)  # classifiers of fewer rows have smaller margins
    assert by_sample < sure


def test_rows_without_a_label_of_the_sample_take_part(tags, monkeypatch):
    """Others have a label of it more often than rows at large, so that all labels would look likely."""
    monkeypatch.setattr(settings, "pooled_work", lambda *_: math.inf)
    monkeypatch.setattr(tuning, "N_LABELS", 8)
    expected, sure = judge(tags, keep_rows=0)
    assert 0.7 < expected < 1.4
    assert sure > 0.6
