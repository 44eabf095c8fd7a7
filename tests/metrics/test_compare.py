"""Comparisons: antisymmetric, zero for the same answer, equal to the measures of each answer."""

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.metrics import Ranked, compare_rankings, evaluate, f1_rows, hits
from mlgt.metrics.compare import OVERALL, is_sure


def answer(rng, Y, good):
    """A ranking of 8 labels, right ones more often first the larger `good` is; 1 to 4 are given."""
    n, d = Y.shape
    scores = rng.random((n, d)) + good * rng.random((n, d)) * Y.toarray()
    labels = np.argsort(-scores, axis=1)[:, :8]
    given = np.arange(8) < rng.integers(1, 5, (n, 1))
    return Ranked(labels, np.take_along_axis(scores, labels, axis=1), np.where(given, labels, -1))


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((300, 40)) < 0.06).astype(float))
    counts = rng.integers(0, 300, 40)
    return Y, answer(rng, Y, 0.5), answer(rng, Y, 3.0), counts


def test_values_are_those_of_each_answer(case):
    Y, a, b, counts = case
    found = compare_rankings(Y, a, b, train_counts=counts, resamples=50)
    for side, own in (("a", a), ("b", b)):
        alone = evaluate(Y, own.labels) | {"F1": f1_rows(Y, own.predicted).mean()}
        for name in OVERALL:
            assert found["measures"][name][side] == pytest.approx(alone[name])
    assert found["n_better"] == (f1_rows(Y, b.predicted) > f1_rows(Y, a.predicted)).sum()
    assert sum(band["labels"] for band in found["by_frequency"]) <= 40
    for label in found["labels"]:
        l = label["label"]
        for i, own in enumerate((a, b)):
            right = (hits(Y, own.predicted) & (own.predicted == l)).sum()
            assert label["right"][i] == right
            assert label["predicted"][i] == (own.predicted == l).sum()
            f1 = 2 * right / (label["predicted"][i] + label["true"])
            assert label["ab"[i]] == pytest.approx(f1)


def test_a_better_answer_is_surely_better_and_the_same_is_not(case):
    Y, a, b, counts = case
    found = compare_rankings(Y, a, b, train_counts=counts, resamples=200)
    assert all(is_sure(facts) and facts["difference"] > 0 for facts in found["measures"].values())
    same = compare_rankings(Y, a, a, train_counts=counts, resamples=200)
    assert all(facts["interval"] == [0, 0] for facts in same["measures"].values())
    assert (same["n_same"], same["n_better"], same["n_worse"]) == (300, 0, 0)
    assert same["labels"] == same["rows"]["better"] == same["rows"]["worse"] == []


def test_changing_places_changes_the_sign(case):
    Y, a, b, counts = case
    one = compare_rankings(Y, a, b, train_counts=counts, resamples=100)
    two = compare_rankings(Y, b, a, train_counts=counts, resamples=100)
    for name in OVERALL:
        low, high = one["measures"][name]["interval"]
        assert two["measures"][name]["difference"] == -one["measures"][name]["difference"]
        assert two["measures"][name]["interval"] == pytest.approx([-high, -low])
    rows = {end: [row["row"] for row in one["rows"][end]] for end in ("better", "worse")}
    assert {row["F1"][1] > row["F1"][0] for row in one["rows"]["better"]} == {True}
    f1 = f1_rows(Y, b.predicted) - f1_rows(Y, a.predicted)
    assert f1[rows["better"]].tolist() == sorted(f1)[::-1][:5]


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Answers of equal quality: the interval of P@1 leaves out zero in about 1 of 20 draws."""
    rng, out = np.random.default_rng(1), 0
    for _ in range(60):
        Y = sp.csr_array((rng.random((120, 12)) < 0.2).astype(float))
        a, b = answer(rng, Y, 1.0), answer(rng, Y, 1.0)
        found = compare_rankings(Y, a, b, train_counts=np.ones(12), resamples=200)
        out += is_sure(found["measures"]["P@1"])
    assert out <= 9  # 3 are expected; more than 9 has a probability below 0.001


def test_no_rows_and_empty_answers():
    none = Ranked(np.empty((0, 3), int), np.empty((0, 3)), np.empty((0, 3), int))
    found = compare_rankings(sp.csr_array((0, 4)), none, none, train_counts=np.zeros(4))
    assert found["n"] == 0
    empty = Ranked(np.full((5, 3), -1), np.full((5, 3), -np.inf), np.full((5, 3), -1))
    found = compare_rankings(sp.csr_array((5, 4)), empty, empty, train_counts=np.zeros(4))
    assert found["n_unlabelled"] == found["n_same"] == 5
