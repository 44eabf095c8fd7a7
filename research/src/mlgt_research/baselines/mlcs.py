"""MLCS: multilabel prediction by compressed sensing (Hsu, Kakade, Langford & Zhang, NIPS 2009).

Label vectors y in {0,1}^d, of which few entries are 1, are projected by a random matrix, z = P y in R^m. A
linear regression learns E[z | x]; the labels of a new row are recovered from its zhat as a sparse vector

    yhat = argmin |zhat - P y|   with at most k entries other than 0,                              (1)

greedily, by orthogonal matching pursuit (OMP) or CoSaMP. P is Gaussian, its columns scaled to length 1.
Both recoveries work on all rows of a block at once; a row costs k products with P, so O(k m d).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from mlgt._core.validation import check_choice, check_count, check_number, generator
from mlgt.model.fitted import DEFAULT_K

from .baseline import Baseline

MAX_CHOLESKY_SIZE = 10_000
"""Rows or features up to which the regression is solved directly, and iteratively above."""


def gaussian_projection(m: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """P (m, d), columns of length 1 in random directions."""
    P = rng.standard_normal((m, d))
    return (P / np.linalg.norm(P, axis=0)).astype(np.float32)


def orthogonal_matching_pursuit(Z: np.ndarray, P: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(labels, coefficients), both (n, k): eq. (1), one label at a time; largest coefficients first.

    Each step takes the label whose column fits the residual best, then fits all labels taken so far again.
    """
    n, k = len(Z), min(k, *P.shape)
    labels, residual = np.empty((n, 0), np.int64), Z
    coefficients = np.empty((n, 0), Z.dtype)
    for _ in range(k):
        fit = np.abs(residual @ P)
        np.put_along_axis(fit, labels, -1.0, axis=1)
        labels = np.column_stack([labels, fit.argmax(axis=1)])
        coefficients, residual = least_squares(Z, P, labels)
    return largest_first(labels, coefficients)


def cosamp(Z: np.ndarray, P: np.ndarray, k: int, steps: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """(labels, coefficients), both (n, k): eq. (1) by CoSaMP, largest coefficients first.

    Each step joins the 2k labels that fit the residual best to the k of before, fits them all and keeps
    the k with the largest coefficients. A row keeps its best step.
    """
    d = P.shape[1]
    k = min(k, max(1, P.shape[0] // 3), max(1, d // 3))
    labels = best = np.argsort(-np.abs(Z @ P), axis=1, kind="stable")[:, :k]
    coefficients, residual = least_squares(Z, P, labels)
    best_coefficients, best_error = coefficients, np.linalg.norm(residual, axis=1)
    for _ in range(steps):
        fit = np.abs(residual @ P)
        np.put_along_axis(fit, labels, -1.0, axis=1)
        more = np.argsort(-fit, axis=1, kind="stable")[:, : min(2 * k, d - k)]
        joined = np.column_stack([labels, more])
        wide, _ = least_squares(Z, P, joined)
        kept = np.argsort(-np.abs(wide), axis=1, kind="stable")[:, :k]
        labels = np.take_along_axis(joined, kept, axis=1)
        coefficients, residual = least_squares(Z, P, labels)
        error = np.linalg.norm(residual, axis=1)
        better = error < best_error
        if not better.any():
            break
        best = np.where(better[:, None], labels, best)
        best_coefficients = np.where(better[:, None], coefficients, best_coefficients)
        best_error = np.minimum(error, best_error)
    return largest_first(best, best_coefficients)


def largest_first(labels: np.ndarray, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-coefficients, axis=1, kind="stable")
    return np.take_along_axis(labels, order, axis=1), np.take_along_axis(coefficients, order, axis=1)


def least_squares(Z: np.ndarray, P: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n, t) of the columns `labels` (n, t) of P that fit each row of Z best; the residual."""
    columns = P.T[labels]  # (n, t, m)
    gram = columns @ columns.transpose(0, 2, 1) + 1e-6 * np.eye(labels.shape[1], dtype=P.dtype)
    coefficients = np.linalg.solve(gram, columns @ Z[:, :, None])[:, :, 0]
    return coefficients, Z - np.einsum("nt,ntm->nm", coefficients, columns)


RECOVERIES = {"omp": orthogonal_matching_pursuit, "cosamp": cosamp}


class MLCSClassifier(Baseline):
    """Labels through a random projection, ridge regression and sparse recovery.

    Parameters
    ----------
    n_projections : int
        m, the length of the projected label vectors.
    recovery : "omp" or "cosamp"
        Both look for at least 5 labels, CoSaMP for at most m / 3 and d / 3.
    alpha : float
        Regularization of the ridge regression.
    n_jobs : int, optional
        Threads of prediction. The result does not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    projection_ : P (m, d)
    coef_ : (p + 1, m) weights of the regression; the last row is the intercept
    classes_ : label names if y was a data frame, else 0 .. d-1
    """

    def __init__(self, n_projections=100, *, recovery="omp", alpha=1.0, n_jobs=None, random_state=None):
        self.n_projections = n_projections
        self.recovery = recovery
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "MLCSClassifier":
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        check_count("n_projections", self.n_projections)
        check_choice("recovery", self.recovery, RECOVERIES)
        check_number("alpha", self.alpha, above=0)
        X, Y = self._begin(X, y)
        rng = generator(self.random_state)
        self.projection_ = gaussian_projection(self.n_projections, Y.shape[1], rng)
        solver = "cholesky" if min(X.shape) <= MAX_CHOLESKY_SIZE else "sparse_cg"
        ridge = Ridge(self.alpha, fit_intercept=False, solver=solver)
        ridge.fit(_with_one(X), Y @ self.projection_.T)
        self.coef_ = np.ascontiguousarray(np.atleast_2d(ridge.coef_).T, dtype=np.float32)
        return self

    def _top_k(self, rows, k):
        Z = _with_one(rows) @ self.coef_
        found = RECOVERIES[self.recovery](Z, self.projection_, max(k, DEFAULT_K))
        missing = ((0, 0), (0, max(0, k - found[0].shape[1])))
        return tuple(
            np.pad(part[:, :k], missing, constant_values=filler)
            for part, filler in zip(found, (-1, -np.inf))
        )


def _with_one(X):
    """A last column of ones, for the intercept."""
    return sp.csr_matrix(sp.hstack([X, np.ones((X.shape[0], 1), np.float32)]))
