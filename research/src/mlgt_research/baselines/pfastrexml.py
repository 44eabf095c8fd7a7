"""PfastreXML: trees that rank labels by their propensities (Jain, Prabhu & Varma, KDD 2016).

A label l that n_l of n rows have is observed with the propensity

    p_l = 1 / (1 + C (n_l + B)^-A),   C = (log n - 1) (B + 1)^A,                                   (1)

and weighs 1 / p_l. A node of a tree (FastXML: Prabhu & Varma, KDD 2014) splits its rows in two, delta_i in
{-1, +1}, to raise the propensity-scored nDCG of one ranking of all labels per side. In turns, each side
ranks labels by

    s_l = sum over its rows of y_il / (p_l I_i),   I_i = sum_{j <= |y_i|} 1 / log2(1 + j),         (2)

and each row moves to the side where sum_l y_il / (p_l log2(1 + rank_l)) is larger. A linear classifier with
l1 regularization then learns delta from x. Leaves have at most 10 rows and hold their mean labels. Trees
are averaged and, as PfastreXML does for rare labels, joined with a classifier around the mean mu_l of the
rows of each label:

    score_l = alpha log(trees_l) + (1 - alpha) log(1 / (1 + exp(gamma |x - mu_l|^2 / 2))).         (3)

Plainer than the authors' code: classifiers take `SWEEPS` sweeps of coordinate descent, and (3) has means in
place of fitted centres. 50 trees, alpha = .8 and gamma = 30 are the authors' values; C = 10 is ours.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mlgt._core.sparse import label_counts
from mlgt._core.validation import check_count, generator

from ._tree_kernels import columns_of, find_leaves, fit_split, split_rows
from .baseline import Baseline

A, B = 0.55, 1.5
"""Constants of eq. (1), the authors' for data sets other than Wikipedia's and Amazon's."""
MAX_TURNS = 20
"""Turns of eq. (2) in one node, at most."""
SWEEPS = 5
SMALLEST_SHARE = 1e-10


def inverse_propensities(counts: np.ndarray, n: int) -> np.ndarray:
    """1 / p_l (d,), eq. (1)."""
    return 1 + (np.log(n) - 1) * (B + 1) ** A * (counts + B) ** -A


def ideal_gains(Y: sp.csr_array) -> np.ndarray:
    """1 / I_i (n,), eq. (2); 0 for rows without labels."""
    sizes = np.diff(Y.indptr)
    ideal = np.concatenate([[np.inf], np.cumsum(1 / np.log2(2 + np.arange(max(1, sizes.max()))))])
    return 1 / ideal[sizes]


class Tree(NamedTuple):
    """Weights and intercepts of the nodes, their children (a leaf is ~leaf), mean labels of the leaves."""

    weights: sp.csr_array  # (nodes, p)
    intercepts: np.ndarray  # (nodes,)
    children: np.ndarray  # (nodes, 2)
    leaves: sp.csr_array  # (leaves, d)

    def find(self, X: sp.csr_array) -> np.ndarray:
        """The leaf of each row."""
        found = np.zeros(X.shape[0], np.int64)
        if len(self.intercepts):
            W, row = self.weights, np.zeros(X.shape[1])
            arrays = (X.indptr, X.indices, X.data, W.indptr, W.indices, W.data)
            find_leaves(*arrays, self.intercepts, self.children, row, found)
        return found


def grow_tree(
    X: sp.csr_array,
    Y: sp.csr_array,
    weights: np.ndarray,
    leaf_size: int,
    C: float,
    rng: np.random.Generator,
) -> Tree:
    """One tree on all rows; `weights` (d,) are 1 / p_l."""
    gains, labels = ideal_gains(Y), (Y.indptr, Y.indices)
    scores, discounts = np.zeros(Y.shape[1]), np.zeros((2, Y.shape[1]))
    starts = np.zeros(X.shape[1], np.int64)
    found: list = []  # (features, weights, intercept) of nodes
    children: list = []
    leaves: list = []
    waiting = [(np.arange(X.shape[0]), -1, 0)]  # rows, parent, side
    while waiting:
        rows, parent, side = waiting.pop()
        left = rng.random(rows.size) < 0.5
        if rows.size > leaf_size:
            left = split_rows(rows, left, gains, *labels, weights, scores, discounts, MAX_TURNS)
        if rows.size <= leaf_size or left.all() or not left.any():
            own = ~len(leaves)
            leaves.append(rows)
        else:
            features, *columns = columns_of(rows, X.indptr, X.indices, X.data, starts)
            w, b = fit_split(left.astype(np.float64), *columns, C, SWEEPS)
            own = len(found)
            found.append((features[w != 0], w[w != 0], b))
            children.append([0, 0])
            waiting += [(rows[left], own, 0), (rows[~left], own, 1)]
        if parent >= 0:
            children[parent][side] = own
    return _pack(found, children, leaves, X.shape, sp.csr_array(Y.multiply(weights)))


def _pack(found, children, leaves, shape, Y):
    indptr = np.cumsum([0, *(len(node[0]) for node in found)])
    indices = np.concatenate([np.empty(0, np.int64), *(node[0] for node in found)])
    data = np.concatenate([np.empty(0), *(node[1] for node in found)])
    weights = sp.csr_array((data, indices, indptr), shape=(len(found), shape[1]))
    sizes = np.array([len(rows) for rows in leaves])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    mean = sp.csr_array(
        (np.repeat(1 / sizes, sizes), np.concatenate(leaves), indptr), shape=(len(leaves), shape[0])
    )
    intercepts = np.array([node[2] for node in found])
    return Tree(weights, intercepts, np.array(children).reshape(-1, 2), sp.csr_array(mean @ Y))


def label_means(X: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """mu (d, p): the mean of the rows of each label, 0 for labels without rows."""
    counts = np.maximum(label_counts(Y), 1)
    return sp.csr_array(sp.diags_array(1 / counts) @ (Y.T @ X))


class PfastreXMLClassifier(Baseline):
    """Trees that rank labels by propensity-scored nDCG, joined with classifiers around label means.

    Parameters
    ----------
    n_trees : int
    leaf_size : int
        Most rows of a leaf.
    C : float
        Weight of the logistic loss of the nodes' classifiers.
    alpha : float
        Share of the trees in the score, eq. (3); 1 for trees alone.
    gamma : float
        Sharpness of the classifiers around label means.
    n_jobs : int, optional
        Threads of prediction. The result does not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    trees_ : [Tree]
    means_ : (d, p) CSR
    classes_ : label names if y was a data frame, else 0 .. d-1
    """

    def __init__(
        self, n_trees=50, *, leaf_size=10, C=10.0, alpha=0.8, gamma=30.0, n_jobs=None, random_state=None
    ):
        self.n_trees = n_trees
        self.leaf_size = leaf_size
        self.C = C
        self.alpha = alpha
        self.gamma = gamma
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "PfastreXMLClassifier":
        """Train on X (n, p), sparse or dense, and y (n, d), a 0/1 matrix or data frame."""
        check_count("n_trees", self.n_trees)
        check_count("leaf_size", self.leaf_size)
        X, Y = self._begin(X, y)
        rng = generator(self.random_state)
        X, Y = sp.csr_array(X, dtype=np.float64), sp.csr_array(Y, dtype=np.float64)
        weights = inverse_propensities(label_counts(Y), X.shape[0])
        self.trees_ = [grow_tree(X, Y, weights, self.leaf_size, self.C, rng) for _ in range(self.n_trees)]
        self.means_ = label_means(X, Y)
        self._lengths = np.asarray(self.means_.multiply(self.means_).sum(axis=1)).ravel()
        return self

    def _top_k(self, rows, k):
        X = sp.csr_array(rows, dtype=np.float64)
        shares = sum(tree.leaves[tree.find(X)] for tree in self.trees_) / self.n_trees
        found = np.full((X.shape[0], k), -1), np.full((X.shape[0], k), -np.inf, np.float32)
        for i in range(X.shape[0]):
            own = slice(shares.indptr[i], shares.indptr[i + 1])
            labels, score = shares.indices[own], np.log(np.maximum(shares.data[own], SMALLEST_SHARE))
            if self.alpha < 1:
                x = X[[i]].T
                product = (self.means_[labels] @ x).toarray().ravel()
                distance = self._lengths[labels] - 2 * product + x.multiply(x).sum()
                score = self.alpha * score - (1 - self.alpha) * np.logaddexp(0, self.gamma * distance / 2)
            best = np.argsort(-score, kind="stable")[:k]
            found[0][i, : len(best)], found[1][i, : len(best)] = labels[best], score[best]
        return found
