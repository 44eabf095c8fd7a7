"""SLEEC: labels through embeddings that keep neighbours (Bhatia, Jain, Kar, Varma & Jain, NIPS 2015).

Rows are split into clusters by k-means of their features. In each cluster, with Omega the pairs (i, j)
where j is among the nearest neighbours of i by <y_i, y_j>, embeddings Z (n, r) keep only these products,

    min sum over Omega of (<y_i, y_j> - <z_i, z_j>)^2,                                             (1)

by singular value projection: M <- best rank-r part of  M + step P_Omega(Y Y' - M),  M = Z Z',      (2)

and a regression learns z from x. A new row goes to the nearest cluster, is embedded there, and gets the
mean labels of its nearest neighbours, by the cosine of embeddings, among the cluster's embedded training
rows. Several learners with clusters of their own are averaged.

Plainer than the authors' code: the regression is ridge, without the l1 norm of the embedded rows, and (2)
takes one orthogonal iteration per step from the best rank-r part of YY' instead of an exact eigenproblem.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import Ridge
from sklearn.utils.extmath import randomized_svd

from mlgt._core.sparse import label_counts
from mlgt._core.topk import top_k
from mlgt._core.validation import check_count, check_number, generator

from .baseline import Baseline
from .mlcs import MAX_CHOLESKY_SIZE

ROWS_AT_ONCE = 1024
FREQUENT = 64
"""A label that more than one of so many rows have is multiplied as a dense column."""
STEPS = 20
"""Steps of singular value projection."""


def label_neighbours(Y: sp.csr_array, count: int) -> sp.csr_array:
    """Omega (n, n) with the values <y_i, y_j>: each row, and the `count` nearest others."""
    n, parts = Y.shape[0], []
    columns, frequent = sp.csc_array(Y, dtype=np.float32), label_counts(Y) > n / FREQUENT
    dense, rare = columns[:, frequent].toarray(), sp.csr_array(columns[:, ~frequent])
    for first in range(0, n, ROWS_AT_ONCE):
        these = slice(first, first + ROWS_AT_ONCE)
        products = (rare[these] @ rare.T).toarray() + dense[these] @ dense.T
        here = np.arange(products.shape[0])
        itself = products[here, first + here]
        products[here, first + here] = np.inf
        nearest, values = top_k(products, min(count + 1, n))
        values[:, 0] = itself
        parts.append(_rows_of(nearest, values, n))
    return sp.csr_array(sp.vstack(parts))


def _rows_of(columns, values, width):
    indptr = np.arange(columns.shape[0] + 1) * columns.shape[1]
    rows = sp.csr_array((values.ravel(), columns.ravel(), indptr), shape=(columns.shape[0], width))
    rows.sort_indices()
    return rows


def products_at(Z: np.ndarray, omega: sp.csr_array) -> np.ndarray:
    """<z_i, z_j> at the entries of Omega, in their order."""
    out = np.empty(omega.nnz)
    _fill_products(np.ascontiguousarray(Z), omega.indptr, omega.indices, out)
    return out


@njit(cache=True)
def _fill_products(Z, indptr, indices, out):
    for i in range(indptr.size - 1):
        for at in range(indptr[i], indptr[i + 1]):
            total = 0.0
            for r in range(Z.shape[1]):
                total += Z[i, r] * Z[indices[at], r]
            out[at] = total


def neighbour_error(Z: np.ndarray, omega: sp.csr_array) -> float:
    """Eq. (1)."""
    return float(np.square(_misses(Z, omega)).sum())


def _misses(Z, omega):
    """The differences of eq. (1)."""
    return omega.data - products_at(Z, omega)


def embed_labels(
    Y: sp.csr_array, omega: sp.csr_array, r: int, steps: int, rng: np.random.Generator
) -> np.ndarray:
    """Z (n, r): eq. (2); the best of all steps by eq. (1)."""
    U, s, _ = randomized_svd(sp.csr_matrix(Y, dtype=np.float64), r, random_state=_seed(rng))
    Q, Z = U, U * s
    miss = _misses(Z, omega)
    best, least = Z, np.square(miss).sum()
    for _ in range(steps):
        change = sp.csr_array((miss, omega.indices, omega.indptr), shape=omega.shape)
        change = (change + change.T) / 2
        Q, _ = np.linalg.qr(Z @ (Z.T @ Q) + change @ Q)
        core = (Q.T @ Z) @ (Z.T @ Q) + Q.T @ (change @ Q)
        values, vectors = np.linalg.eigh((core + core.T) / 2)
        Z = (Q @ vectors) * np.sqrt(np.maximum(values, 0))
        miss = _misses(Z, omega)
        error = np.square(miss).sum()
        if error < least:
            best, least = Z, error
    return best


def _seed(rng):
    return int(rng.integers(2**31))


def assign_clusters(X: sp.csr_array, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(cluster of each row, centres (c, p)) by k-means, about `size` rows each."""
    count = max(1, round(X.shape[0] / size))
    if count == 1:
        return np.zeros(X.shape[0], np.int64), np.zeros((1, X.shape[1]), np.float32)
    means = MiniBatchKMeans(count, batch_size=ROWS_AT_ONCE, n_init=1, random_state=_seed(rng))
    found = means.fit_predict(sp.csr_matrix(X))
    return found, means.cluster_centers_.astype(np.float32)


def nearest_centre(X: sp.csr_array, centres: np.ndarray) -> np.ndarray:
    """The nearest centre of each row."""
    return (X @ centres.T - 0.5 * np.square(centres).sum(axis=1)).argmax(axis=1)


def unit_length(Z: np.ndarray) -> np.ndarray:
    """Rows of length 1, those of zeros as they are."""
    return Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-12)


class Cluster:
    """One cluster of a learner: its regression, its training rows' embeddings of length 1, their labels."""

    def __init__(self, X, Y, settings, rng):
        n, d = Y.shape
        r = max(1, min(settings["dimension"], n - 1, d - 1))
        omega = label_neighbours(Y, min(settings["neighbours"], n - 1))
        Z = embed_labels(Y, omega, r, STEPS, rng)
        solver = "cholesky" if min(X.shape) <= MAX_CHOLESKY_SIZE else "sparse_cg"
        ridge = Ridge(settings["alpha"], fit_intercept=False, solver=solver, tol=1e-3)
        ridge.fit(sp.csr_matrix(X), Z.astype(np.float32))
        self.coef = np.ascontiguousarray(np.atleast_2d(ridge.coef_).T, dtype=np.float32)
        self.embedded = unit_length(X @ self.coef)
        self.Y, self.n_nearest = sp.csr_array(Y, dtype=np.float32), min(settings["n_nearest"], n)

    def votes(self, X):
        """(n, d) mean labels of the nearest embedded training rows."""
        nearest, _ = top_k(unit_length(X @ self.coef) @ self.embedded.T, self.n_nearest)
        share = np.full(nearest.shape, 1 / self.n_nearest, np.float32)
        return _rows_of(nearest, share, self.Y.shape[0]) @ self.Y


class SLEECClassifier(Baseline):
    """Labels by nearest neighbours of embeddings that keep the neighbours by labels.

    Parameters
    ----------
    dimension : int
        r, the length of embeddings.
    n_learners : int
        Learners with clusters of their own, whose votes are averaged.
    cluster_size : int
        Rows per cluster, about.
    neighbours : int
        Neighbours by labels whose products embeddings keep.
    n_nearest : int
        Nearest embedded training rows whose labels count.
    alpha : float
        Regularization of the ridge regression.
    n_jobs : int, optional
        Threads of prediction. The result does not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    learners_ : [(centres, [Cluster])]
    classes_ : label names if y was a data frame, else 0 .. d-1
    """

    def __init__(
        self, dimension=100, *, n_learners=5, cluster_size=6000, neighbours=15, n_nearest=15, alpha=1.0,
        n_jobs=None, random_state=None,
    ):  # fmt: skip
        self.dimension = dimension
        self.n_learners = n_learners
        self.cluster_size = cluster_size
        self.neighbours = neighbours
        self.n_nearest = n_nearest
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "SLEECClassifier":
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        for name in ("dimension", "n_learners", "cluster_size", "neighbours", "n_nearest"):
            check_count(name, getattr(self, name))
        check_number("alpha", self.alpha, above=0)
        X, Y = self._begin(X, y)
        rng = generator(self.random_state)
        settings = {name: getattr(self, name) for name in ("dimension", "neighbours", "n_nearest", "alpha")}
        self.learners_ = []
        for _ in range(self.n_learners):
            cluster, centres = assign_clusters(X, self.cluster_size, rng)
            kept = [c for c in range(len(centres)) if (cluster == c).sum() > 1]
            parts = [Cluster(X[cluster == c], Y[cluster == c], settings, rng) for c in kept]
            self.learners_.append((centres[kept], parts))
        return self

    def _top_k(self, rows, k):
        rows = sp.csr_array(rows)
        votes = np.zeros((rows.shape[0], len(self.classes_)), np.float32)
        for centres, parts in self.learners_:
            nearest = nearest_centre(rows, centres)
            for c in np.unique(nearest):
                votes[nearest == c] += parts[c].votes(rows[nearest == c]).toarray()
        return top_k(votes / len(self.learners_), k)
