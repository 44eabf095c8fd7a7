"""Every measure against its definition, written out by hand on rows small enough to check."""

import numpy as np
import pytest
import scipy.sparse as sp

import mlgt
from mlgt.groups import constant_weight_groups
from mlgt.groups.quality import reduction_loss
from mlgt.metrics import (
    calibration_error,
    evaluate,
    f1_rows,
    hamming_errors,
    hamming_loss,
    inverse_propensities,
    modified_precision_at,
    ndcg_at,
    precision_at,
    psp_at,
    recall_at,
    reliability,
    training_loss,
)

Y = np.array(
    [
        [1, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 1, 0, 0],
    ]
)
LABELS = np.array([[0, 5, 1, 2, 3], [3, 4, 5, 6, 2], [0, 1, 2, 3, 4], [5, 4, 3, 7, -1]])
# hits: row 0 at ranks 1, 3; row 1 at rank 5; row 2 none (no labels); row 3 at ranks 1, 2, 3


def test_precision():
    assert precision_at(Y, LABELS, 1) == pytest.approx((1 + 0 + 0 + 1) / 4)
    assert precision_at(Y, LABELS, 3) == pytest.approx((2 + 0 + 0 + 3) / 3 / 4)
    assert precision_at(Y, LABELS, 5) == pytest.approx((2 + 1 + 0 + 3) / 5 / 4)


def test_modified_precision_counts_hits_among_five():
    assert modified_precision_at(Y, LABELS, 1) == pytest.approx((1 + 1 + 0 + 1) / 4)
    assert modified_precision_at(Y, LABELS, 3) == pytest.approx((2 + 1 + 0 + 3) / 3 / 4)
    assert modified_precision_at(Y, LABELS, 5) == precision_at(Y, LABELS, 5)
    longer = np.hstack([LABELS, [[6], [0], [5], [0]]])  # a sixth column must not count
    assert modified_precision_at(Y, longer, 1) == modified_precision_at(Y, LABELS, 1)


def test_recall():
    assert recall_at(Y, LABELS, 3) == pytest.approx((2 / 2 + 0 + 0 + 3 / 6) / 4)


def test_ndcg():
    g = 1 / np.log2(np.arange(2, 7))
    expected = ((g[0] + g[2]) / (g[0] + g[1]) + g[4] / g[0] + 0 + (g[0] + g[1] + g[2]) / g.sum()) / 4
    assert ndcg_at(Y, LABELS, 5) == pytest.approx(expected)
    assert ndcg_at(Y, LABELS, 1) == pytest.approx(precision_at(Y, LABELS, 1))


def test_propensities_and_psp():
    counts, n_train = np.array([90, 50, 20, 10, 5, 3, 1, 0]), 100
    C = (np.log(100) - 1) * 2.5**0.55
    weights = 1 + C * np.exp(-0.55 * np.log(counts + 1.5))
    np.testing.assert_allclose(inverse_propensities(counts, n_train), weights)
    gained = weights[0] + weights[1] + weights[5] + weights[4] + weights[3]
    best = (weights[0] + weights[1]) + weights[2] + np.sort(weights[:6])[-3:].sum()
    assert psp_at(Y, LABELS, 3, weights) == pytest.approx(gained / best)
    assert psp_at(Y, LABELS, 3, np.ones(8)) == pytest.approx(5 / 6)


def test_hamming():
    errors = (3 + 0) + (4 + 0) + 5 + (1 + 3)
    assert hamming_errors(Y, LABELS) == pytest.approx(errors / 4)
    assert hamming_loss(Y, LABELS) == pytest.approx(errors / 4 / 8)
    predicted = np.zeros((4, 8))
    for row, ids in zip(predicted, LABELS):
        row[ids[ids >= 0]] = 1
    assert hamming_loss(Y, LABELS) == pytest.approx((predicted != Y).mean())
    assert training_loss(Y, np.hstack([LABELS, LABELS])) == hamming_errors(Y, LABELS)


def test_perfect_ranking_is_one_where_a_row_has_enough_labels():
    Y = np.eye(6)[:, :6]
    labels = np.arange(6)[:, None]
    for measure in (precision_at, modified_precision_at, ndcg_at, recall_at):
        assert measure(Y, labels, 1) == 1
    assert psp_at(Y, labels, 1, np.arange(1, 7)) == pytest.approx(1)


def test_reduction_loss_of_an_exact_design_is_the_padding_to_k(rng):
    """With A = I decoding is exact; filling up to k = 5 adds 5 - |y| wrong labels a row."""
    Y = np.zeros((30, 20))
    for row in Y:
        row[rng.choice(20, 3, replace=False)] = 1
    assert reduction_loss(Y, np.eye(20)) == pytest.approx(2)
    assert reduction_loss(Y, np.eye(20), k=3) == 0
    assert reduction_loss(Y, constant_weight_groups(4, 20, 2, rng), k=3) > 0


def test_evaluate_reports_rows_without_labels():
    report = evaluate(Y, LABELS, train_counts=np.ones(8), n_train=100)
    assert report["hamming"] == hamming_loss(Y, LABELS)
    assert report["n"] == 4
    assert report["n_unlabelled"] == 1
    assert {f"{name}@{k}" for name in ("P", "Pi", "nDCG", "PSP", "recall") for k in (1, 3, 5)} < set(report)
    assert "PSP@1" not in evaluate(Y, LABELS)


def test_bootstrap_intervals_hold_the_truth_of_a_known_population():
    """Rows right with probability 0.6: P@1 of 2,000 rows has a standard error of .011, and so must the
    interval be about four of those wide."""
    rng = np.random.default_rng(0)
    right = rng.random(2000) < 0.6
    Y = np.zeros((2000, 2))
    Y[np.arange(2000), np.where(right, 0, 1)] = 1
    report = evaluate(Y, np.zeros((2000, 1), int), resamples=400, seed=1)
    low, high = report["intervals"]["P@1"]
    assert low < report["P@1"] < high
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(0.24 / 2000), rel=0.15)
    assert report == evaluate(Y, np.zeros((2000, 1), int), resamples=400, seed=1)
    assert set(report["intervals"]) == set(report) - {"n", "n_unlabelled", "intervals"}


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix])
def test_any_form_of_truth(kind):
    assert evaluate(kind(Y), LABELS) == evaluate(Y, LABELS)


def test_explicit_zeros_are_no_labels():
    truth = sp.csr_matrix(Y)
    truth.data[0] = 0
    dense = Y.copy()
    dense[0, 0] = 0
    weights = np.arange(1.0, 9.0)
    assert evaluate(truth, LABELS) == evaluate(dense, LABELS)
    assert psp_at(truth, LABELS, 3, weights) == psp_at(dense, LABELS, 3, weights)


def test_mismatches_are_explained():
    with pytest.raises(ValueError, match=r"labels has shape \(3, 5\) but Y has 4 rows"):
        precision_at(Y, LABELS[:3], 1)
    with pytest.raises(ValueError, match="labels has id 9 but Y has 8 labels"):
        precision_at(Y, LABELS + 2, 1)


def test_a_label_named_twice_is_refused():
    with pytest.raises(ValueError, match="names a label twice"):
        evaluate(Y, np.array([[0, 0, 1]] * 4))


def test_public_names():
    assert mlgt.metrics.evaluate is evaluate


def test_f1_of_predicted_sets():
    Y = sp.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], float))
    labels = np.array([[0, 2, -1], [2, -1, -1], [-1, -1, -1]])
    assert f1_rows(Y, labels).tolist() == [0.5, 1.0, 0.0]


def test_reliability_of_honest_and_of_boastful_probabilities(rng):
    p = rng.random(40_000)
    right = rng.random(40_000) < p
    honest, boastful = (reliability(said, right) for said in (p, p**0.5))
    assert honest[:, 2].sum() == 40_000
    assert calibration_error(honest) < 0.012
    assert calibration_error(boastful) == pytest.approx((p**0.5 - p).mean(), abs=0.012)
    assert calibration_error(reliability(np.empty(0), np.empty(0))) == 0


def test_training_rows_of_all_labels_must_be_given():
    with pytest.raises(ValueError, match="train_counts has 2 entries but Y has 3 labels"):
        evaluate(np.eye(3), np.array([[0], [1], [2]]), train_counts=[1, 1], n_train=2)
