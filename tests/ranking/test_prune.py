"""Weights of rankers that the order of held-out rows does not need."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.ranking import train as ranking
from mlgt.ranking.blend import Candidates
from mlgt.ranking.ranker import LabelRanker


def ranker(p=64, d=40):
    """Each label has one weight of 1, and p - 1 small ones."""
    weights = np.full((d, p), 0.12, np.float32)
    weights[np.arange(d), np.arange(d)] = 1
    columns = np.tile(np.arange(p, dtype=np.uint16), d)
    ones, zeros = np.ones(d, np.float32), np.zeros(d, np.float32)
    return LabelRanker(np.arange(0, d * p + 1, p), columns, weights.ravel(), ones, zeros, p)


@pytest.mark.parametrize(("lost", "pruned"), [(0.0, True), (0.002, True), (0.004, False)])
def test_weights_that_bring_little_are_dropped(monkeypatch, lost, pruned):
    """One weight of 64 is six halvings: five of them may cost .0005 each."""
    own, n = ranker(), 100
    labels = np.tile(np.arange(40), (n, 1))
    Y = sp.csr_array(np.eye(40, dtype=np.float32)[np.arange(n) % 40])
    rows = sp.csr_array(np.eye(64, dtype=np.float32)[np.arange(n) % 40])
    quality = iter([0.7] + [0.7 - lost] * 4)
    monkeypatch.setattr(ranking, "ndcg_rows", lambda *_: np.full(n, next(quality)))
    found = Candidates(labels, np.zeros(labels.shape, np.float32))
    facts = {}
    settings = ranking.RankerSettings(n_candidates=40)
    kept, judged, magnitude = ranking._prune_more(
        settings, found, own, SimpleNamespace(rows=rows, Y=Y), facts
    )
    assert magnitude == facts["prune"] == (0.3 if pruned else 0.1)
    assert len(kept.values) == len(judged.values) == (40 if pruned else len(own.values))
    assert judged.values.dtype == np.int8
