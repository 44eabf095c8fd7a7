"""PPD-Sparse: one-vs-all by a primal-dual sparse method (Yen et al., KDD 2017).

Labels are trained apart, each with l1 and l2 regularization and hinge loss, targets y_i = +-1:

    P(w) = |w|^2 / 2 + lambda |w|_1 + C sum_i max(0, 1 - y_i w'x_i).                               (1)

With v = sum_i alpha_i y_i x_i and 0 <= alpha_i <= C, the weights of the dual are v shrunk towards 0,

    w_j = sign(v_j) max(0, |v_j| - lambda),        D(alpha) = sum_i alpha_i - |w|^2 / 2 <= P(w).   (2)

w is sparse by the l1 term and alpha because few rows are near the margin. The method keeps to both: it
descends on an active set of rows,

    alpha_i <- min(C, max(0, alpha_i + (1 - y_i w'x_i) / |x_i|^2)),                                (3)

which begins with the rows that have the label. Each round it adds the rows outside that violate their
margin most; all margins come from the columns of X at the weights that are not 0. A label is done when
(P - D) / P <= tol. For the squared hinge, C max(0, .)^2, alpha has no upper bound, D loses
sum alpha_i^2 / (4C), and the step (3) is mlgt's eq. (3) in `mlgt.classifiers.solver`.

Every row gets a constant feature of value 1, as in mlgt's solver. lambda = .01 and C = 1.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from sklearn.utils import check_random_state

from mlgt._core.validation import check_choice, check_number

from .baseline import check_not_negative
from .dismec import SparseLinear

LOSSES = ("hinge", "squared_hinge")
ROUNDS, SWEEPS = 60, 3
"""Rounds of the active set per label, and sweeps over it per round."""
MIN_ADDED = 100
"""Rows that a round may add at least; it may add as many as there are already."""


@njit(cache=True)
def shrink(v: float, amount: float) -> float:
    """One weight of eq. (2)."""
    if v > amount:
        return v - amount
    if v < -amount:
        return v + amount
    return 0.0


@njit(cache=True)
def _margins(columns, rows, values, v, lam, out):
    """X w from the columns at weights other than 0; returns (|w|^2 / 2, |w|_1)."""
    out[:] = 0.0
    square = total = 0.0
    for j in range(v.size):
        w = shrink(v[j], lam)
        if w != 0.0:
            square += 0.5 * w * w
            total += abs(w)
            for at in range(columns[j], columns[j + 1]):
                out[rows[at]] += w * values[at]
    return square, total


@njit(cache=True)
def _sweep(active, sign, alpha, indptr, indices, data, norms, v, lam, upper, ridge):
    """Eq. (3) once on every active row."""
    for i in active:
        margin = 0.0
        for at in range(indptr[i], indptr[i + 1]):
            margin += shrink(v[indices[at]], lam) * data[at]
        step = (1.0 - sign[i] * margin - ridge * alpha[i]) / (norms[i] + ridge)
        new = min(upper, max(0.0, alpha[i] + step))
        change = (new - alpha[i]) * sign[i]
        if change != 0.0:
            alpha[i] = new
            for at in range(indptr[i], indptr[i + 1]):
                v[indices[at]] += change * data[at]


@njit(cache=True)
def largest(values, found, count):
    """Those `count` of `found` with the largest values, ties to the first, without sorting all of them."""
    own = values[found]
    least = np.partition(own, own.size - count)[own.size - count]
    above, equal = found[own > least], found[own == least]
    return np.concatenate((above, equal[: count - above.size]))


@njit(cache=True)
def solve_label(X, XT, norms, positive, lam, C, squared, tol, rounds, seed):
    """(v, objective, relative gap, active rows): one label, eq. (1). X and XT are CSR and CSC arrays.

    `X` and `XT` are (indptr, indices, data); `positive` are the rows that have the label.
    """
    (indptr, indices, data), (columns, rows, values) = X, XT
    np.random.seed(seed)  # noqa: NPY002 - the compiled code's own generator
    n = indptr.size - 1
    upper, ridge = (np.inf, 0.5 / C) if squared else (C, 0.0)
    sign, alpha, margin = -np.ones(n), np.zeros(n), np.zeros(n)
    v, outside = np.zeros(columns.size - 1), np.ones(n, np.bool_)
    for i in positive:
        sign[i], outside[i] = 1.0, False
    active = positive.copy()
    objective = gap = np.inf
    for turn in range(rounds + 1):
        square, total = _margins(columns, rows, values, v, lam, margin)
        slack = np.maximum(0.0, 1.0 - sign * margin)
        loss = C * (slack**2 if squared else slack).sum()
        dual = alpha.sum() - square - (0.5 * ridge * (alpha**2).sum() if squared else 0.0)
        objective = square + lam * total + loss
        gap = (objective - dual) / max(objective, 1e-12)
        if gap <= tol or turn == rounds:
            break
        found = np.flatnonzero(outside & (slack > 0.0))
        room = max(MIN_ADDED, active.size)
        if found.size > room:
            found = largest(slack, found, room)
        outside[found] = False
        active = np.concatenate((active, found))
        for _ in range(SWEEPS):
            # in blocks of one sign, the weight of the constant feature would swing
            np.random.shuffle(active)  # noqa: NPY002
            _sweep(active, sign, alpha, indptr, indices, data, norms, v, lam, upper, ridge)
    return v, objective, gap, active.size


class PPDSparseClassifier(SparseLinear):
    """One-vs-all with l1 and l2 regularization, solved on active rows and weights.

    Parameters
    ----------
    lam : float
        lambda, the weight of |w|_1.
    C : float
        Weight of the loss.
    loss : "hinge" or "squared_hinge"
    tol : float
        Relative duality gap at which a label is done, or after `ROUNDS` rounds.
    n_jobs : int, optional
        Threads of prediction.

    Attributes
    ----------
    coef_ : (p, d) CSR
    intercept_ : (d,)
    objective_, gap_ : (d,) P(w) and its relative duality gap
    n_active_ : (d,) rows that took part in the training of each label
    classes_ : label names if y was a data frame, else 0 .. d-1
    """

    def __init__(self, lam=0.01, *, C=1.0, loss="hinge", tol=1e-2, n_jobs=None, random_state=None):
        self.lam = lam
        self.C = C
        self.loss = loss
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "PPDSparseClassifier":
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        check_not_negative("lam", self.lam)
        check_number("C", self.C, above=0)
        check_number("tol", self.tol, above=0)
        check_choice("loss", self.loss, LOSSES)
        X, Y = self._begin(X, y)
        seed = int(check_random_state(self.random_state).randint(2**31))
        rows = sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1))]), dtype=np.float64)
        columns, by_label = sp.csc_array(rows), sp.csc_array(Y)
        norms = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        parts = [(a.indptr, a.indices, a.data) for a in (rows, columns)]
        weights, self.intercept_ = [], np.zeros(Y.shape[1], np.float32)
        self.objective_, self.gap_ = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
        self.n_active_ = np.zeros(Y.shape[1], np.int64)
        for l in range(Y.shape[1]):
            positive = by_label.indices[by_label.indptr[l] : by_label.indptr[l + 1]].astype(np.int64)
            v, self.objective_[l], self.gap_[l], self.n_active_[l] = solve_label(
                *parts, norms, positive, self.lam, self.C, self.loss == "squared_hinge", self.tol, ROUNDS,
                seed,
            )  # fmt: skip
            w = (np.sign(v) * np.maximum(0, np.abs(v) - self.lam)).astype(np.float32)
            weights.append(sp.csc_array(w[:-1, None]))
            self.intercept_[l] = w[-1]
        self.coef_ = sp.csr_array(sp.hstack(weights))
        return self
