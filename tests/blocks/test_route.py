"""Which blocks are evaluated, and the margins of the others."""

import numpy as np
import pytest
import scipy.sparse as sp

import mlgt
from mlgt import HierarchicalMLGTClassifier, Predictor
from mlgt.blocks import BlockClassifiers, Router, block_ranks, block_targets, smallest_route
from mlgt.blocks.route import SKIPPED
from mlgt.classifiers.train import LinearGroups
from mlgt.labels.partition import Partition


def linear(rng, p, m):
    weights = rng.normal(size=(p, m)).astype(np.float32)
    return LinearGroups(weights, rng.normal(size=m).astype(np.float32))


def test_chosen_blocks_are_evaluated_and_others_skipped(rng):
    X = sp.csr_array((rng.random((50, 30)) * (rng.random((50, 30)) < 0.3)).astype(np.float32))
    parts = [linear(rng, 30, m) for m in (4, 7, 2)]
    router = Router(linear(rng, 30, 3), n_routes=2)
    chosen = router.choose(X)
    assert (chosen.sum(axis=1) == 2).all()
    margins = BlockClassifiers(parts, router=router).margins(X)
    everything = BlockClassifiers(parts).margins(X)
    evaluated = np.repeat(chosen, [4, 7, 2], axis=1)
    assert (margins[evaluated] == everything[evaluated]).all()
    assert (margins[~evaluated] == SKIPPED).all()
    alone = BlockClassifiers(parts, router=router).margins(X[[9]])
    assert (alone[0] == margins[9]).all()


def test_places_are_those_of_a_sort_with_the_first_of_equals_first():
    assert block_ranks(np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 9.0]])).tolist() == [[2, 0, 1], [1, 2, 0]]


def test_separator_labels_are_no_reason_to_evaluate_a_block():
    partition = Partition(np.array([0, 3, 1, 2, 4]), np.array([0, 2, 4, 5]), np.array([2, 2, -1]))
    Y = sp.csr_array(np.array([[1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 0, 0, 1.0]]))
    assert block_targets(Y, partition).toarray().tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("loss", "routes", "lost"), [(0, 3, 0), (0.2, 2, 0.2), (0.6, 1, 0.4), (0.4, 1, 0.4)]
)
def test_as_few_blocks_as_the_loss_allows(loss, routes, lost):
    ranks = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]])
    labels = [np.array([0, 4]), np.array([1, 4]), np.array([2, 3, 4])]  # label 4 is in all
    Y = np.zeros((3, 5))
    Y[0, 0] = Y[0, 2] = 1  # in the first and in the last block of the row
    Y[1, 4] = 1  # in the first
    Y[2, 2] = Y[2, 0] = 1  # in the first and in the second
    assert smallest_route(ranks, sp.csr_array(Y), labels, loss) == (routes, pytest.approx(lost))


def families(rng, n=1500, p=120, d=80):
    """Labels in four families with words of their own."""
    family = rng.integers(4, size=n)
    Y, X = np.zeros((n, d), np.float32), np.zeros((n, p), np.float32)
    for i in range(n):
        own = family[i] * 20 + rng.choice(20, 2, replace=False)
        Y[i, own] = 1
        X[i, own] = 1
        X[i, 80 + rng.choice(40, 5, replace=False)] = 0.5
    return sp.csr_array(X), sp.csr_array(Y)


RANKED = {"ranker": "linear", "ranker_params": {"n_candidates": 10}}


@pytest.mark.parametrize("more", [{}, {"sketch": 500}, RANKED, {"sketch": 500, **RANKED}])
def test_a_routed_model_evaluates_few_blocks_and_finds_as_much(rng, tmp_path, more):
    X, Y = families(rng)
    options = {"n_blocks": 4, "random_state": 0, "n_groups": 16, "column_weight": 4, "ranker": None, **more}
    routed = HierarchicalMLGTClassifier(route=0.01, **options).fit(X, Y)
    whole = HierarchicalMLGTClassifier(**options).fit(X, Y)
    assert whole.router_ is None
    assert routed.router_.n_routes < 4
    assert routed.router_.lost <= 0.01
    assert routed.score(X, Y) > whole.score(X, Y) - 0.02
    labels, scores = routed.predict_topk(X[:40], 3)
    routed.save(tmp_path / "m")
    for again in (mlgt.load(tmp_path / "m"), Predictor(tmp_path / "m")):
        found = again.predict_topk(X[:40], 3)
        assert (found[0] == labels).all()
        assert (found[1] == scores).all()
    row = X[[7]]
    assert (Predictor(tmp_path / "m")(row.indices, row.data, k=3)[0] == labels[7]).all()
    kinds = {own.weights.dtype for own in (*routed.classifiers_.parts, routed.router_.classifiers)}
    assert kinds == {np.dtype(np.int8 if "ranker" in more else np.float32)}


def test_a_loss_that_is_no_share_is_refused(rng):
    X, Y = families(rng, n=100)
    for route in (-0.1, 1, "much"):
        with pytest.raises(ValueError, match=r"route=.* must be a share"):
            HierarchicalMLGTClassifier(n_blocks=4, route=route).fit(X, Y)
