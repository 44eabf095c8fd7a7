"""Rankers that are trained again with the held-out rows."""

import numpy as np
import pytest

from mlgt import MLGTClassifier, datasets
from mlgt.ranking import train as ranking


@pytest.fixture(scope="module")
def data():
    train = datasets.load_debtags().train
    return train.X[:6000], train.Y[:6000]


def _renewed(data, centroids, monkeypatch):
    """(d,) True for the labels whose rankers are trained twice."""
    train_ranker, found = ranking.train_ranker, []

    def record(*arguments, **options):
        found.append(options.get("labels"))
        return train_ranker(*arguments, **options)

    monkeypatch.setattr(ranking, "train_ranker", record)
    options = {"n_groups": 64, "ranker": "linear", "power": 1.0, "C": 1.0}
    MLGTClassifier(random_state=0, ranker_params={"centroids": centroids}, **options).fit(*data)
    return found[1]


def test_labels_with_few_of_their_rows_held_out_are_trained_once(data, monkeypatch):
    """Without centroids; a label with less than 20 rows has a larger share if one of them is held out."""
    every = _renewed(data, True, monkeypatch)
    monkeypatch.undo()
    some = _renewed(data, False, monkeypatch)
    counts = np.asarray(data[1].sum(axis=0)).ravel()
    assert len(counts) == len(every)
    assert not (some & ~every).any()
    assert some.sum() < every.sum()
    assert (some == every)[counts < 20].all()
