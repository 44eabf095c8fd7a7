"""Algorithm 1 of the paper: one binary classifier per group; then Algorithm 2's first loop.

`train` returns group classifiers with one method, `margins(X)` -> (n, m) float32, positive where the
group is believed present. A group that is never (or always) positive in training needs no
classifier: its margin is -1 (or +1) everywhere, which is also where the solver would end.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .solve import solve


@dataclass(frozen=True)
class LinearGroups:
    """m linear classifiers side by side."""

    coef: np.ndarray  # (p, m) float32
    intercept: np.ndarray  # (m,) float32
    n_iter: int = 1

    def margins(self, X):
        return np.asarray(X @ self.coef, dtype=np.float32) + self.intercept


@dataclass(frozen=True)
class EstimatorGroups:
    """m fitted scikit-learn classifiers; None where the group was constant."""

    estimators: list[Any]
    constants: np.ndarray  # (m,) margin of a constant group
    n_iter: int = 1

    def margins(self, X):
        out = np.tile(self.constants.astype(np.float32), (X.shape[0], 1))
        for j, estimator in enumerate(self.estimators):
            if estimator is not None:
                out[:, j] = _margin(estimator, X)
        return out


def train(X, Z, *, classifier=None, row_weight=None, progress=None, **solver_options):
    """Fit the groups Z (n, m): by `mlgt.solve`, or by clones of a scikit-learn `classifier`."""
    n, m = Z.shape
    positives = np.bincount(sp.csr_array(Z).indices, minlength=m)
    constants = np.where(positives == 0, -1.0, np.where(positives == n, 1.0, 0.0))
    varied = np.flatnonzero(constants == 0.0)
    Z = sp.csc_array(Z)[:, varied]
    if classifier is not None:
        return _train_estimators(X, Z, varied, constants, classifier, row_weight, progress)
    coef = np.zeros((X.shape[1], m), np.float32)
    intercept = constants.astype(np.float32)
    if not len(varied):
        return LinearGroups(coef, intercept)
    solution = solve(X, Z, row_weight=row_weight, progress=progress, **solver_options)
    coef[:, varied], intercept[varied] = solution.coef, solution.intercept
    return LinearGroups(coef, intercept, int(solution.n_iter.max()))


def _train_estimators(X, Z, varied, constants, classifier, row_weight, progress):
    X = sp.csr_matrix(X) if sp.issparse(X) else X  # not every estimator takes sparse arrays yet
    extra = {} if row_weight is None else {"sample_weight": row_weight}
    estimators: list[Any] = [None] * len(constants)
    for done, j in enumerate(varied):
        target = np.zeros(Z.shape[0], np.int64)
        target[Z.indices[Z.indptr[done] : Z.indptr[done + 1]]] = 1
        estimators[j] = clone(classifier).fit(X, target, **extra)
        if progress is not None:
            progress(done + 1, len(varied))
    return EstimatorGroups(estimators, constants)


def _margin(estimator, X):
    """A real score if the estimator has one, else its 0/1 prediction as -1 and +1."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    if hasattr(estimator, "predict_proba"):
        proba = estimator.predict_proba(X)
        if len(estimator.classes_) < 2:
            return np.full(X.shape[0], 1.0 if estimator.classes_[0] == 1 else -1.0)
        p = np.clip(proba[:, 1], 1e-6, 1 - 1e-6)
        return np.log(p / (1 - p))
    return np.where(np.asarray(estimator.predict(X)) > 0, 1.0, -1.0)
