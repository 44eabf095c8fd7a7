"""The weight of the label prior in the choice of candidates, by the recall on held-out rows."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.ranking.train import CENTROID_PRIORS, Centers, RankerSettings, Sample, _choose_matcher

N, D = 400, 40


def choose(rng, recall, facts=None, **settings):
    """The matcher that is chosen if candidates find this share of the labels of the sample, by prior; what
    was measured goes to `facts`."""
    X, label = sp.csr_array(rng.random((N, 6), dtype=np.float32)), rng.integers(D // 2, size=N)
    Y = sp.csr_array((np.ones(N, np.float32), label, np.arange(N + 1)), shape=(N, D))
    luck = rng.random(N)

    def make_matcher(index, prior, _):
        right = luck < recall[0 if index is None else prior]
        found = np.where(right, label, label + D // 2)[:, None]
        return SimpleNamespace(matched_candidates=lambda *_: SimpleNamespace(labels=found))

    options = RankerSettings(n_candidates=1, **settings)
    centers, sample = Centers(X, Y, None), Sample(X, Y)
    return _choose_matcher(
        options, centers, None, sample, make_matcher, None, {} if facts is None else facts
    )[0]


@pytest.mark.parametrize(
    ("recalls", "prior"),
    [
        ((0.5, 0.4, 0.9), 0.1),  # the next one must help
        ((0.5, 0.6, 0.55), 0.2),
        ((0.5, 0.6, 0.7), 0.3),
        ((0.5, 0.5, 0.9), 0.1),
    ],
)
@pytest.mark.parametrize("centroids", [None, True])
def test_a_higher_prior_must_surely_find_more(recalls, prior, centroids, rng):
    recall = dict(zip(CENTROID_PRIORS, recalls)) | {0: 0.3}
    matcher = choose(rng, recall, centroids=centroids)
    assert (matcher.index is not None, matcher.prior) == (True, prior)


def test_centroids_join_for_the_prior_that_suits_them(rng):
    assert choose(rng, {0: 0.48, 0.1: 0.5, 0.2: 0.6, 0.3: 0.5}).prior == 0.2
    far = choose(rng, {0: 0.6, 0.1: 0.5, 0.2: 0.9, 0.3: 0.9})
    assert (far.index, far.prior) == (None, 0.2)


def test_the_recalls_of_the_priors_that_were_tried_are_kept(rng):
    facts = {}
    choose(rng, {0: 0.3, 0.1: 0.6, 0.2: 0.5, 0.3: 0.9}, facts)
    assert facts["recall_with_prior_0.1"] == facts["recall_with_centroids"] == pytest.approx(0.6, abs=0.1)
    assert facts["recall_with_prior_0.2"] == pytest.approx(0.5, abs=0.1)
    assert "recall_with_prior_0.3" not in facts  # not tried, as the one before found less


def test_a_given_prior_is_kept(rng):
    matcher = choose(rng, {0: 0.3, 0.15: 0.5}, candidate_prior=0.15)
    assert (matcher.index is not None, matcher.prior) == (True, 0.15)
