"""DiSMEC: one-vs-all with sparse weights (Babbar & Schoelkopf, WSDM 2017).

For each label a linear classifier with squared hinge loss and l2 regularization,

    min |w|^2 / 2 + C sum_i max(0, 1 - y_i w'x_i)^2,                                               (1)

whose weights below Delta are then dropped:

    w_j <- 0   where   |w_j| < Delta.                                                              (2)

DiSMEC trains batches of labels on different machines; here they follow each other, solved by mlgt's batched
solver, and only sparse weights are kept. C = 1 and Delta = .01 are the authors' values.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from mlgt._core.topk import top_k
from mlgt.classifiers.train import train

from .baseline import Baseline, check_not_negative

LABELS_AT_ONCE = 1024


def drop_small(W: np.ndarray, delta: float) -> sp.csr_array:
    """Weights without those below `delta`, eq. (2)."""
    return sp.csr_array(np.where(np.abs(W) < delta, 0, W))


class SparseLinear(Baseline):
    """Ranks labels by the margins of sparse weights: `coef_` (p, d) CSR and `intercept_` (d,)."""

    coef_: sp.csr_array
    intercept_: np.ndarray

    def _top_k(self, rows, k):
        margins = (sp.csr_array(rows) @ self.coef_).toarray() + self.intercept_
        return top_k(np.ascontiguousarray(margins, dtype=np.float32), k)


class DiSMECClassifier(SparseLinear):
    """One-vs-all with squared hinge loss, weights below `delta` dropped.

    Parameters
    ----------
    delta : float
        Weights whose absolute value is below it are dropped.
    C, tol, max_iter : solver settings, see `mlgt.classifiers.solver.solve`
    n_jobs : int, optional
        Threads. The result does not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_ : (p, d) CSR, the weights that were kept
    intercept_ : (d,)
    classes_ : label names if y was a data frame, else 0 .. d-1
    """

    def __init__(self, delta=0.01, *, C=1.0, tol=1e-2, max_iter=200, n_jobs=None, random_state=None):
        self.delta = delta
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "DiSMECClassifier":
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        check_not_negative("delta", self.delta)
        X, Y = self._begin(X, y)
        seed = int(check_random_state(self.random_state).randint(2**31))
        solver = {"C": self.C, "loss": "squared_hinge", "tol": self.tol, "max_iter": self.max_iter}
        columns = sp.csc_array(Y)
        kept, intercepts = [], []
        for first in range(0, Y.shape[1], LABELS_AT_ONCE):
            part = sp.csr_array(columns[:, first : first + LABELS_AT_ONCE])
            found = train(X, part, n_jobs=self.n_jobs, seed=seed, **solver)
            kept.append(drop_small(found.coef, self.delta))
            intercepts.append(found.intercept)
        self.coef_ = sp.csr_array(sp.hstack(kept))
        self.intercept_ = np.concatenate(intercepts)
        return self
