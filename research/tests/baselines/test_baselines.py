"""One-vs-all and MLCS: recovery is exact where theory says so, both learn, and input is checked."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mlgt.metrics import precision_at
from mlgt_research.baselines import MLCSClassifier, OneVsAllClassifier
from mlgt_research.baselines.mlcs import RECOVERIES, gaussian_projection


@pytest.mark.parametrize("recovery", RECOVERIES)
@pytest.mark.parametrize("seed", range(5))
def test_enough_projections_give_sparse_vectors_back(recovery, seed):
    """m = 6 k ln d Gaussian projections determine k-sparse 0/1 vectors."""
    rng = np.random.default_rng(seed)
    d, k = 400, 5
    P = gaussian_projection(int(6 * k * np.log(d)), d, rng)
    Y = np.zeros((50, d), np.float32)
    truth = np.array([np.sort(rng.choice(d, k, replace=False)) for _ in Y])
    np.put_along_axis(Y, truth, 1, axis=1)
    labels, coefficients = RECOVERIES[recovery](Y @ P.T, P, k)
    assert (np.sort(labels, axis=1) == truth).all()
    np.testing.assert_allclose(coefficients, 1, atol=1e-3)


def test_recovery_names_no_label_twice(rng):
    P = gaussian_projection(12, 30, rng)
    for recover in RECOVERIES.values():
        labels, _ = recover(rng.standard_normal((40, 12)).astype(np.float32), P, 4)
        assert all(len(set(row)) == len(row) for row in labels.tolist())


def test_pursuit_is_nested(rng):
    """A longer list has all labels of a shorter one; both are in the order of their coefficients."""
    P, Z = gaussian_projection(20, 50, rng), rng.standard_normal((30, 20)).astype(np.float32)
    (five, largest), (three, _) = (RECOVERIES["omp"](Z, P, k) for k in (5, 3))
    assert all(set(short) <= set(long) for short, long in zip(three, five))
    assert (np.diff(largest, axis=1) <= 0).all()


def test_one_label_is_found():
    X, Y = np.eye(6, dtype=np.float32), np.ones((6, 1), np.float32)
    for recovery in RECOVERIES:
        labels, _ = MLCSClassifier(4, recovery=recovery).fit(X, Y).predict_topk(X, 1)
        assert (labels == 0).all()


@pytest.mark.parametrize(
    "model",
    [OneVsAllClassifier(), MLCSClassifier(60), MLCSClassifier(60, recovery="cosamp")],
    ids=["one-vs-all", "omp", "cosamp"],
)
def test_baselines_learn(model, topics):
    (X, Y), (X_test, Y_test) = topics
    frequent = np.argsort(-Y.sum(axis=0), kind="stable")[:1]
    guess = precision_at(Y_test, np.tile(frequent, (X_test.shape[0], 1)), 1)
    fitted = clone(model).set_params(random_state=0).fit(X, Y)
    labels, _ = fitted.predict_topk(X_test, 5)
    assert precision_at(Y_test, labels, 1) > 3 * guess
    again = clone(model).set_params(random_state=0, n_jobs=2).fit(X, Y).predict_topk(X_test, 5)
    assert (again[0] == labels).all()
    predicted = fitted.predict(X_test)
    assert predicted.shape == Y_test.shape
    assert set(predicted[[0]].indices) == set(labels[0])
    dense, _ = clone(model).set_params(random_state=0).fit(X.toarray(), Y.toarray()).predict_topk(X_test, 1)
    assert (dense[:, 0] == labels[:, 0]).mean() > 0.99


def test_hard_outputs_tie_to_the_lowest_label(topics):
    """The paper's one-vs-all: labels said to be present come first, both parts in order of id."""
    (X, Y), (X_test, _) = topics
    labels, scores = OneVsAllClassifier("hard", random_state=0).fit(X, Y).predict_topk(X_test, 5)
    assert set(np.unique(scores)) <= {0.0, 1.0}
    assert (np.diff(scores, axis=1) <= 0).all()
    tied = np.diff(scores, axis=1) == 0
    assert (np.diff(labels, axis=1)[tied] > 0).all()


def test_label_names_are_kept(topics):
    (X, Y), _ = topics
    names = [f"topic {l}" for l in range(Y.shape[1])]
    model = MLCSClassifier(10, random_state=0).fit(X, pd.DataFrame(Y.toarray(), columns=names))
    assert model.classes_.tolist() == names


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (OneVsAllClassifier("best"), "choose one of margin, hard"),
        (MLCSClassifier(0), "n_projections=0 must be a whole number"),
        (MLCSClassifier(recovery="lasso"), "choose one of omp, cosamp"),
        (MLCSClassifier(alpha=-1), "alpha=-1 must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused(model, said, topics):
    with pytest.raises(ValueError, match=said):
        model.fit(*topics[0])
    with pytest.raises(ValueError, match="exceeds 30"):
        OneVsAllClassifier().fit(*topics[0]).predict_topk(topics[1][0], 31)
