"""A trained model takes in new rows and new labels (ours), without the rows it was trained on.

A new label joins the c groups that its rows wake most, by the group classifiers there are:

    evidence_il = mean over the rows of l of v_i  -  LIFT * mean over all new rows of v_i,            (1)

with v_i the log-probability of group i. The classifiers of groups and labels then learn from the new rows
alone, but are drawn to what they are rather than to zero:

    |w - w_old|^2 / 2 + (b - b_old)^2 / 2 + C sum of squared hinges over the new rows;                (2)

where the new rows ask for nothing, nothing changes. The ranker of a new label starts from its centroid, as
in `rerank`.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical
from ..classifiers import solve
from ..classifiers.solver import TILE
from ..classifiers.train import LinearGroups
from ..decoding.soft import group_log_probability
from ..ranking import Companions, LabelRanker, train_ranker
from ..ranking.centroids import CentroidIndex
from ..ranking.ranker import START, Pairs

LIFT = 1.0
SWEEPS = 8
GROUPS, KNOWN = 0.1, 0.3
"""What C is multiplied by in (2) for groups and for labels that were known: they have learnt from more rows
than the new ones. Chosen, as LIFT, on training rows of EURLex-4K (research/micro/growing.py --validate)."""


def join_groups(margins, Y, fresh, weight, lift=LIFT):
    """Eq. (1): (labels, weight) ids of the groups for the labels `fresh` of Y (n, d), each of which has a
    row; `margins` (n, m) of the same rows."""
    values = group_log_probability(margins, 3.0)
    own = sp.csr_array(canonical(Y)[:, fresh].T)
    means = (own @ values) / np.diff(own.indptr)[:, None]
    evidence = means - np.float32(lift) * values.mean(axis=0)
    return np.sort(np.argsort(-evidence, axis=1, kind="stable")[:, :weight], axis=1)


def widen_groups(A, n_labels, fresh, members):
    """A (m, d) with `n_labels` columns, those of the labels `fresh` as in `members` (labels, c)."""
    entries = sp.coo_array(A)
    kept = ~np.isin(entries.col, fresh)
    rows = np.concatenate([entries.row[kept], members.ravel()])
    columns = np.concatenate([entries.col[kept], np.repeat(fresh, members.shape[1])])
    ones = np.ones(len(rows), np.float32)
    return canonical(sp.csr_array((ones, (rows, columns)), shape=(A.shape[0], n_labels)))


def update_groups(classifiers, X, Z, *, C, share=GROUPS, n_jobs=None, seed=0, progress=None):
    """Eq. (2) for all groups: classifiers that also fit the new rows X (n, p), pooled as Z (n, m)."""
    n, m = Z.shape
    coef, intercept = np.array(classifiers.coef), np.array(classifiers.intercept)
    positive = canonical(sp.csr_array(Z).T)
    for first in range(0, m, TILE):  # n pairs a group: not all groups at once
        own = slice(first, min(first + TILE, m))
        count = own.stop - first
        rows = np.tile(np.arange(n, dtype=np.int32), count)
        right = positive[own].toarray().ravel() > 0
        pairs = Pairs(np.arange(count + 1, dtype=np.int64) * n, rows, right)
        start = _as_ranker(coef[:, own], intercept[own])
        fitted = train_ranker(
            X, pairs, start=start, C=share * C, max_iter=SWEEPS, prune=0.0, n_jobs=n_jobs, seed=seed
        )
        coef[:, own], intercept[own] = fitted.weights.toarray().T, fitted.bias
        if progress is not None:
            progress(own.stop, m)
    grown = LinearGroups(coef, intercept, classifiers.n_iter)
    return grown if classifiers.scale is None else grown.in_bytes()


def _as_ranker(coef, bias):
    """Dense classifiers (p, m) in the form of label rankers."""
    p, m = coef.shape
    kind = np.uint16 if p <= 1 << 16 else np.int32
    columns = np.tile(np.arange(p, dtype=kind), m)
    indptr = np.arange(m + 1, dtype=np.int64) * p
    return LabelRanker(indptr, columns, coef.T.ravel(), np.ones(m, np.float32), np.asarray(bias), p)


def grow_one_vs_all(classifiers, X, Y, fresh, *, C, n_jobs=None, seed=0, progress=None, **solver):
    """Every label of Y (n, d) a group: those known follow eq. (2), those `fresh` (d,) learn only from the
    new rows."""
    known = classifiers.coef.shape[1]
    options = {"n_jobs": n_jobs, "seed": seed}
    old = update_groups(classifiers, X, Y[:, :known], C=C, share=KNOWN, progress=progress, **options)
    coef, intercept = np.zeros((X.shape[1], Y.shape[1]), np.float32), np.zeros(Y.shape[1], np.float32)
    coef[:, :known], intercept[:known] = old.coef, old.intercept
    if fresh.any():
        new = solve(X, Y[:, np.flatnonzero(fresh)], C=C, **options, **solver)
        coef[:, fresh], intercept[fresh] = new.coef, new.intercept
    grown = LinearGroups(coef, intercept, classifiers.n_iter)
    return grown if classifiers.scale is None else grown.in_bytes()


def update_ranker(ranker, X, pairs, centers, fresh, *, C, prune, n_jobs=None, seed=0, progress=None):
    """Eq. (2) for all labels with a pair among the new rows; those `fresh` start from their `centers`."""
    start = _widen_ranker(ranker, len(fresh)).updated(_centered(centers, ranker), fresh)
    touched = (np.diff(pairs.indptr) > 0) & ~fresh
    options = {"start": start, "max_iter": SWEEPS, "prune": prune, "n_jobs": n_jobs, "seed": seed}
    known = train_ranker(X, pairs, labels=touched, C=KNOWN * C, **options)
    new = train_ranker(X, pairs, labels=fresh, C=C, progress=progress, **options)
    grown = start.updated(known, touched).updated(new, fresh)
    return grown if ranker.values.dtype.kind == "f" else grown.in_bytes()


def _widen_ranker(ranker, d):
    more = d - len(ranker.bias)
    return replace(
        ranker,
        indptr=np.concatenate([ranker.indptr, np.repeat(ranker.indptr[-1:], more)]),
        scale=np.concatenate([ranker.scale, np.ones(more, np.float32)]),
        bias=np.concatenate([ranker.bias, np.full(more, -1.0, np.float32)]),
    )


def _centered(centers, like):
    """Rankers as they are before training: START times the centroid, bias -1."""
    d = centers.shape[0]
    columns = centers.indices.astype(like.columns.dtype)
    ones, bias = np.ones(d, np.float32), np.full(d, -1.0, np.float32)
    return LabelRanker(
        centers.indptr.astype(np.int64), columns, START * centers.data, ones, bias, like.n_features
    )


def add_centroids(index, centers, fresh, X):
    """The centroids with those of the labels `fresh` (d,) bool from `centers` (d, p), for rows like X."""
    d, p = centers.shape
    values = index.values * np.repeat(index.scale, np.diff(index.indptr))
    old = sp.csr_array((values, index.labels, index.indptr), shape=(p, d)).T
    keep, take = (sp.diags_array(mask.astype(np.float32)) for mask in (~fresh, fresh))
    return CentroidIndex.of(sp.csr_array(keep @ old + take @ centers), X)


def add_companions(companions, G, fresh):
    """Shares P(l | l') that concern a label `fresh` (d,) bool, from the co-occurrence G (d, d) of the new
    rows; the others stay."""
    d = len(fresh)
    entries = sp.coo_array(G)
    concerned = fresh[entries.row] | fresh[entries.col] | (entries.row == entries.col)
    G = sp.csr_array(
        (entries.data[concerned], (entries.row[concerned], entries.col[concerned])), shape=(d, d)
    )
    new = Companions.of(G)
    indptr = np.concatenate(
        [companions.indptr, np.repeat(companions.indptr[-1:], d + 1 - len(companions.indptr))]
    )
    old = sp.coo_array(sp.csr_array((companions.values, companions.labels, indptr), shape=(d, d)))
    kept = ~(fresh[old.row] | fresh[old.col])
    more = sp.coo_array(sp.csr_array((new.values, new.labels, new.indptr), shape=(d, d)))
    row, column, value = (
        np.concatenate([getattr(old, name)[kept], getattr(more, name)]) for name in ("row", "col", "data")
    )
    both = sp.csr_array((value, (row, column)), shape=(d, d))
    both.sort_indices()
    return Companions(
        both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data.astype(np.uint8)
    )
