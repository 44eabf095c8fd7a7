"""Where a ranking is good: counts by label, by frequency, by probability."""

import json

import numpy as np
import pytest

from mlgt.metrics import precision_at, recall_at
from mlgt.metrics.diagnosis import (
    by_frequency,
    coverage,
    diagnose,
    label_table,
    missed,
    surest_errors,
    worst_and_best,
)
from mlgt.report import evaluation_page

Y = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
LABELS = np.array([[0, 1], [0, 3], [3, 0], [3, -1]])


def test_counts_of_each_label():
    table = label_table(Y, LABELS)
    assert table.true.tolist() == [3, 1, 1, 0]
    assert table.predicted.tolist() == [3, 1, 0, 3]
    assert table.right.tolist() == [3, 1, 0, 0]
    assert table.f1.tolist() == [1, 1, 0, 0]


def test_worst_and_best_are_apart_and_seen_often_enough(rng):
    truth = rng.random((400, 40)) < np.linspace(0.002, 0.2, 40)
    table = label_table(truth, rng.permuted(np.tile(np.arange(40), (400, 1)), axis=1)[:, :20])
    worst, best = worst_and_best(table, 5)
    assert len(worst) == len(best) == 5
    assert not set(worst) & set(best)
    assert table.true[[*worst, *best]].min() >= 5
    judged = table.f1[table.true >= 5]
    assert sorted(table.f1[worst]) == sorted(judged)[:5]
    assert sorted(table.f1[best]) == sorted(judged)[-5:]


@pytest.mark.parametrize("seen", [0, 1, 2, 3])
def test_few_labels_are_still_ranked(seen):
    truth = np.eye(3)[:seen]
    worst, best = worst_and_best(label_table(truth, np.zeros((seen, 1), int)), 5)
    assert sorted([*worst, *best]) == list(range(seen))


def test_bands_hold_every_label_once(rng):
    table = label_table(Y, LABELS)
    bands = by_frequency(table, [0, 4, 5, 10**6])
    assert [band[:3] for band in bands] == [(0, 0, 1), (1, 4, 1), (5, 19, 1), (1000, None, 1)]
    assert [sum(band[i] for band in bands) for i in (2, 3, 4, 5)] == [4, 5, 7, 4]


def test_coverage_is_precision_and_recall_of_what_is_kept(rng):
    truth = rng.random((300, 8)) < 0.3
    probability = -np.sort(-rng.random((300, 8)), axis=1)
    labels = rng.permuted(np.tile(np.arange(8), (300, 1)), axis=1)
    right = np.take_along_axis(truth, labels, axis=1)
    loose, half, none = coverage(probability, right, int(truth.sum()), (0, 0.5, 2))
    assert loose.precision == pytest.approx(precision_at(truth, labels, 8))
    assert (loose.recall, loose.coverage) == (1, 1)
    assert half.precision == right[probability >= 0.5].mean()
    assert half.coverage == (probability[:, 0] >= 0.5).mean()
    assert (none.precision, none.recall, none.coverage) == (None, 0, 0)
    some = np.flatnonzero(truth.any(axis=1))
    assert recall_at(truth[some], labels[some], 8) == 1


def test_surest_errors_are_wrong_and_sorted():
    scores = np.array([[0.9, 0.8], [0.7, 0.6], [0.95, 0.2], [0.5, -np.inf]])
    assert surest_errors(Y, LABELS, scores, 9) == [(2, 0), (1, 1), (3, 0)]
    assert surest_errors(Y[:1], LABELS[:1], scores[:1], 9) == []
    assert missed(Y, LABELS, 1).tolist() == [2]


def test_the_diagnosis_is_json_and_a_page_that_needs_nothing_else():
    probability = np.array([[0.9, 0.8], [0.7, 0.6], [0.95, 0.2], [0.5, 0.0]])
    names = ["<b>&", "one", "two", "three"]
    found = diagnose(
        Y, LABELS, probability, LABELS, train_counts=[3, 1, 1, 0], probability=probability, names=names
    )
    assert json.loads(json.dumps(found)) == found
    assert found["errors"][0]["row"] == 3
    assert sum(bin["labels"] for bin in found["calibration"]) == 7
    measures = {f"{m}@{k}": 0.5 for m in ("P", "Pi", "nDCG", "PSP", "recall") for k in (1, 3, 5)}
    report = {**measures, "intervals": dict.fromkeys(measures, (0.4, 0.6)), "n": 4, "n_unlabelled": 1}
    report |= {"diagnosis": found, "calibration_error": 0.1, "F1": 0.5, "labels_per_row": 1.5}
    page = evaluation_page("A & <B>", report)
    assert page == evaluation_page("A & <B>", report)
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page
    assert "A &amp; &lt;B&gt;" in page
    assert page.count("<svg") == page.count("</svg>") == 3
    assert not any(word in page for word in ("<script", "<link", "src=", "@import", "url(http"))
