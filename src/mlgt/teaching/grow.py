"""The parts of a model after a lesson: groups, classifiers, rankers, centroids, co-occurrence.

`teaching.update` has the equations.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import id_type
from .._core.progress import Progress
from .._core.sparse import canonical
from ..classifiers.solver import TILE
from ..classifiers.train import LinearGroups
from ..decoding.soft import DEFAULT_SLOPE, group_log_probability
from ..model.fitted import FittedModel
from ..ranking import CooccurrenceShares, LabelRanker, train_ranker
from ..ranking.centroids import CentroidIndex
from ..ranking.pairs import Pairs
from ..ranking.train import PRUNE
from .lesson import Lesson

MIN_ENTRY = 0.02
"""Magnitude below which words that a centroid did not have are left out."""
LIFT = 1.0
SWEEPS = 8
GROUP_C = 0.1
"""Factor of C in (2) for the groups of a model without rankers."""


def join_groups(
    margins: np.ndarray,
    Y: sp.csr_array,
    fresh: np.ndarray,
    weight: int,
    *,
    slope: float = DEFAULT_SLOPE,
    lift: float = LIFT,
    n_usual: int | None = None,
) -> np.ndarray:
    """Eq. (1): (labels, weight) ids of the groups for the labels `fresh` of Y (n, d), each of which has a
    row; `margins` (n, m) of the same rows, `slope` that of soft decoding. The first `n_usual` rows are as
    rows usually are; None takes all."""
    values = group_log_probability(margins, slope)
    own = sp.csr_array(canonical(Y)[:, fresh].T)
    means = (own @ values) / np.diff(own.indptr)[:, None]
    evidence = means - np.float32(lift) * values[:n_usual].mean(axis=0)
    return np.sort(np.argsort(-evidence, axis=1, kind="stable")[:, :weight], axis=1)


def widen_groups(A: sp.csr_array, n_labels: int, fresh: np.ndarray, members: np.ndarray) -> sp.csr_array:
    """A (m, d) with `n_labels` columns, those of the labels `fresh` as in `members` (labels, c)."""
    entries = sp.coo_array(A)
    kept = ~np.isin(entries.col, fresh)
    rows = np.concatenate([entries.row[kept], members.ravel()])
    columns = np.concatenate([entries.col[kept], np.repeat(fresh, members.shape[1])])
    ones = np.ones(len(rows), np.float32)
    return canonical(sp.csr_array((ones, (rows, columns)), shape=(A.shape[0], n_labels)))


def one_vs_all(A: sp.csr_array) -> bool:
    """True if group i is label i alone."""
    return A.shape[0] == A.shape[1] == A.nnz and bool(A.diagonal().all())


def update_groups(
    classifiers: LinearGroups,
    X: sp.csr_array,
    Z: sp.csr_array,
    *,
    C: float,
    factor: float = GROUP_C,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LinearGroups:
    """Eq. (2) for all groups: classifiers that also fit the new rows X (n, p), pooled as Z (n, m)."""
    n, m = Z.shape
    coef, intercept = np.array(classifiers.coef), np.array(classifiers.intercept)
    positive = canonical(sp.csr_array(Z).T)
    for first in range(0, m, TILE):  # n pairs per group: not all groups at once
        own = slice(first, min(first + TILE, m))
        count = own.stop - first
        rows = np.tile(np.arange(n, dtype=np.int32), count)
        right = positive[own].toarray().ravel() > 0
        pairs = Pairs(np.arange(count + 1, dtype=np.int64) * n, rows, right)
        start = _as_ranker(coef[:, own], intercept[own])
        fitted = train_ranker(
            X, pairs, start=start, C=factor * C, max_iter=SWEEPS, prune=0.0, n_jobs=n_jobs, seed=seed
        )
        coef[:, own], intercept[own] = fitted.weights.toarray().T, fitted.bias
        if progress is not None:
            progress(own.stop, m)
    grown = LinearGroups(coef, intercept, classifiers.n_iter)
    return grown.rounded(classifiers.bits)


def _as_ranker(coef, bias):
    """Dense classifiers (p, m) in the form of label rankers."""
    p, m = coef.shape
    columns = np.tile(np.arange(p, dtype=id_type(p)), m)
    indptr = np.arange(m + 1, dtype=np.int64) * p
    return LabelRanker(indptr, columns, coef.T.ravel(), np.ones(m, np.float32), np.asarray(bias), p)


def grow_one_vs_all(
    classifiers: LinearGroups,
    lesson: Lesson,
    new: LabelRanker,
    *,
    C: float,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LinearGroups:
    """Every label a group: those with new rows move as above, `new` ones have their own classifiers."""
    known, d = classifiers.coef.shape[1], lesson.Y.shape[1]
    coef, intercept = np.zeros((lesson.X.shape[1], d), np.float32), np.full(d, -1.0, np.float32)
    coef[:, :known], intercept[:known] = classifiers.coef, classifiers.intercept
    touched = np.flatnonzero(lesson.touched)
    if lesson.n_replayed and len(touched):
        old = LinearGroups(coef[:, touched], intercept[touched])
        fitted = update_groups(
            old,
            lesson.X,
            lesson.Y[:, touched],
            C=C,
            factor=1.0,
            n_jobs=n_jobs,
            seed=seed,
            progress=progress,
        )
        rate = lesson.rate[touched]
        coef[:, touched] += rate * (fitted.coef - old.coef)
        intercept[touched] += rate * (fitted.intercept - old.intercept)
    seen = np.flatnonzero(lesson.fresh & (lesson.share > 0))
    coef[:, seen], intercept[seen] = new.weights[seen].toarray().T, new.bias[seen]
    grown = LinearGroups(coef, intercept, classifiers.n_iter)
    return grown.rounded(classifiers.bits)


def rescale_groups(model: FittedModel, labels: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> Any:
    """The group classifiers with the margins of the groups of these `labels`, one each, times scale (d,)
    plus shift (d,)."""
    linear, groups = model.classifiers, sp.csc_array(model.groups)
    own = groups.indices[groups.indptr[labels]]
    factor, more = np.ones(linear.n_groups, np.float32), np.zeros(linear.n_groups, np.float32)
    factor[own], more[own] = scale[labels], shift[labels]
    intercept = linear.intercept * factor + more
    if linear.scale is not None:
        return replace(linear, intercept=intercept, scale=linear.scale * factor)
    return replace(linear, intercept=intercept, weights=linear.weights * factor)


def update_ranker(
    ranker: LabelRanker,
    lesson: Lesson,
    pairs: Pairs,
    new: LabelRanker,
    *,
    C: float,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LabelRanker:
    """Labels with new rows move as above, by their `pairs` of rows; `new` ones are as given."""
    old = widen_ranker(ranker, len(lesson.fresh))
    grown = old
    if lesson.n_replayed and lesson.touched.any():
        fitted = train_ranker(
            lesson.X, pairs, start=old, labels=lesson.touched, C=C, max_iter=SWEEPS, prune=0.0,
            n_jobs=n_jobs, seed=seed, progress=progress,
        )  # fmt: skip
        moved = averaged(old, fitted, lesson.touched, lesson.rate)
        grown = grown.updated(moved.pruned(PRUNE), lesson.touched)
    grown = grown.updated(new, lesson.fresh)
    return grown if ranker.values.dtype.kind == "f" else grown.in_bytes()


def averaged(old: LabelRanker, new: LabelRanker, labels: np.ndarray, share: np.ndarray) -> LabelRanker:
    """old + share (new - old) for the `labels` (d,) bool; others have no weights."""
    part = np.where(labels, share, 0).astype(np.float32)
    rest = np.where(labels, 1 - share, 0).astype(np.float32)
    both = sp.csr_array(sp.diags_array(rest) @ old.weights + sp.diags_array(part) @ new.weights)
    both.sort_indices()
    bias = rest * old.bias + part * new.bias
    return replace(
        old, indptr=both.indptr.astype(np.int64), columns=both.indices.astype(old.columns.dtype),
        values=both.data.astype(np.float32), scale=np.ones(len(bias), np.float32), bias=bias,
    )  # fmt: skip


def widen_ranker(ranker: LabelRanker, d: int) -> LabelRanker:
    """The ranker with d labels, new ones last, which know no feature."""
    more = d - len(ranker.bias)
    return replace(
        ranker,
        indptr=np.concatenate([ranker.indptr, np.repeat(ranker.indptr[-1:], more)]),
        scale=np.concatenate([ranker.scale, np.ones(more, np.float32)]),
        bias=np.concatenate([ranker.bias, np.full(more, -1.0, np.float32)]),
    )


def add_centroids(
    index: CentroidIndex, centers: sp.csr_array, share: np.ndarray, X: sp.csr_array
) -> CentroidIndex:
    """The centroids, moved by `share` (d,) towards the `centers` (d, p) of new rows; for rows like X."""
    old = index.centroids(centers.shape[0])
    keep, take = (sp.diags_array(part.astype(np.float32)) for part in (1 - share, share))
    added = sp.csr_array(take @ centers)
    known = sp.csr_array(added.multiply(old.astype(bool)))
    fresh = sp.csr_array(added - known)
    fresh.data[(np.abs(fresh.data) < MIN_ENTRY) & ~np.isin(fresh.indices, index.dense)] = 0
    fresh.eliminate_zeros()
    both = sp.csr_array(keep @ old + known + fresh)
    partly = (share > 0) & (share < 1)
    lengths = np.sqrt(both.multiply(both).sum(axis=1))
    target = np.sqrt(old.multiply(old).sum(axis=1))  # pruned: shorter than 1
    target = (1 - share) * target + share
    factor = np.where(partly, target / np.maximum(lengths, 1e-30), 1).astype(np.float32)
    moved = sp.csr_array(sp.diags_array(factor) @ both)
    return CentroidIndex.build(moved, X, max_dropped=0.0, dense=index.dense)


def add_cooccurrence(
    shares: CooccurrenceShares, G: sp.csr_array, fresh: np.ndarray, counts: np.ndarray
) -> CooccurrenceShares:
    """Shares P(l | l') that concern a label `fresh` (d,) bool, from the co-occurrence G (d, d) of the new
    rows and the `counts` (d,) of all rows; the others stay."""
    d = len(fresh)
    entries = sp.coo_array(G)
    concerned = (fresh[entries.row] | fresh[entries.col]) & (entries.row != entries.col)
    row, column, value = (part[concerned] for part in (entries.row, entries.col, entries.data))
    G = sp.csr_array((value, (row, column)), shape=(d, d)) + sp.diags_array(counts.astype(np.float32))
    new = CooccurrenceShares.from_counts(G)
    indptr = np.concatenate([shares.indptr, np.repeat(shares.indptr[-1:], d + 1 - len(shares.indptr))])
    old = _entries(shares, indptr, d)
    kept = ~(fresh[old.row] | fresh[old.col])
    more = _entries(new, new.indptr, d)
    row, column, value = (
        np.concatenate([getattr(old, name)[kept], getattr(more, name)]) for name in ("row", "col", "data")
    )
    both = sp.csr_array((value, (row, column)), shape=(d, d))
    both.sort_indices()
    return CooccurrenceShares(
        both.indptr.astype(np.int64), both.indices.astype(id_type(d)), both.data.astype(np.uint8)
    )


def _entries(shares, indptr, d):
    labels = shares.labels.astype(np.int32, copy=False)
    return sp.coo_array(sp.csr_array((shares.values, labels, indptr), shape=(d, d)))
