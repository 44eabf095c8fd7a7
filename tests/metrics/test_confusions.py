"""Pairs of labels given instead of each other, beside a count by hand."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.metrics import confused_pairs, highest_precision_at, precision_at


def test_pairs_are_those_of_a_count_by_hand():
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((200, 9)) < 0.25).astype(float))
    predicted = np.argsort(rng.random((200, 9)), axis=1)[:, :4]
    predicted[rng.random(predicted.shape) < 0.3] = -1
    counts = Counter()
    for i in range(200):
        true, given = set(Y[[i]].indices.tolist()), {int(l) for l in predicted[i] if l >= 0}
        counts.update((t, w) for t in true - given for w in given - true)
    found = confused_pairs(Y, predicted, 1000)
    for pair in found:
        assert counts[pair.true, pair.predicted] == pair.rows >= counts[pair.predicted, pair.true]
        assert counts[pair.predicted, pair.true] == pair.reversed
    assert len({frozenset(pair[:2]) for pair in found}) == len(found)
    assert {frozenset(pair[:2]) for pair in found} == {
        frozenset(pair) for pair, rows in counts.items() if rows >= 2
    }
    assert [pair.rows for pair in found] == sorted((pair.rows for pair in found), reverse=True)
    assert confused_pairs(Y, predicted, 3) == found[:3]


def test_right_answers_confuse_nothing():
    Y = np.eye(4)
    assert confused_pairs(Y, np.arange(4)[:, None], 5) == []


def test_no_ranking_has_a_higher_precision():
    rng = np.random.default_rng(0)
    Y = (rng.random((50, 12)) < 0.2).astype(int)
    best = np.argsort(-Y, axis=1, kind="stable")
    for k in (1, 3, 5):
        assert highest_precision_at(Y, k) == pytest.approx(precision_at(Y, best, k))
    assert highest_precision_at(np.zeros((0, 3)), 5) == 0
