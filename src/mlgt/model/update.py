"""Updating a trained model with new rows and new labels (ours), without its old training rows.

A new label joins the c groups that its rows activate most, by the existing group classifiers:

    evidence_il = mean over the rows of l of v_i  -  LIFT * mean over all new rows of v_i,            (1)

with v_i the log-probability of group i. The classifiers of groups and labels then learn from the new rows
alone, but are regularised towards their old weights instead of zero:

    |w - w_old|^2 / 2 + (b - b_old)^2 / 2 + C sum of squared hinges over the new rows;                (2)

where the new rows need no change, nothing changes. The ranker of a new label starts from its centroid, as
in `ranking.ranker`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.ids import KnownIds, find_more, label_classes, occurring_ids
from .._core.progress import QUIET, Narrator, Progress
from .._core.rows import map_blocks
from .._core.sparse import canonical, label_counts
from .._core.validation import check_more_labels
from ..classifiers import solve
from ..classifiers.solver import TILE
from ..classifiers.train import EstimatorGroups, LinearGroups
from ..decoding import LabelIndex
from ..decoding.soft import DEFAULT_SLOPE, group_log_probability
from ..groups import pool
from ..labels.graph import cooccurrence
from ..ranking import CooccurrenceShares, LabelRanker, train_ranker
from ..ranking.centroids import CentroidIndex, label_centroids
from ..ranking.ranker import CENTROID_WEIGHT, Pairs
from ..ranking.train import PRUNE, candidate_pairs
from .fitted import FittedModel

LIFT = 1.0
SWEEPS = 8
GROUP_C_FACTOR, LABEL_C_FACTOR = 0.1, 0.3
"""Factors of C in (2) for groups and for known labels, which were trained on more than the new rows. They
were chosen, as LIFT, on training rows of EURLex-4K (`research/micro/growing.py --validate`)."""


def update_model(
    model: FittedModel,
    X: sp.csr_array,
    Y: sp.csr_array,
    classes: np.ndarray,
    known_labels: KnownIds | None,
    solver: Mapping[str, Any],
    *,
    n_jobs: int | None = None,
    seed: int = 0,
    narrator: Narrator = QUIET,
) -> FittedModel:
    """Train `model` further on rows X (n, p), not scaled, and their labels Y (n, d), new ones last.

    `classes` are the names or ids of all labels, `known_labels` the ids of the columns of Y if some are
    left out, as `label_more` returns them; `solver` the options of the solver.
    """
    model = widen_features(model, X)
    X = model.scaled(X)
    d_old, d = len(model.label_counts), Y.shape[1]
    counts, old_counts = label_counts(Y), np.append(model.label_counts, np.zeros(d - d_old, np.int64))
    fresh = (old_counts == 0) & ((counts > 0) | (np.arange(d) >= d_old))
    options: dict[str, Any] = {"C": model.record.C, "n_jobs": n_jobs, "seed": seed}
    with narrator.stage("training classifiers") as progress:
        A, classifiers = _update_groups(model, X, Y, fresh, solver, options | {"progress": progress})
    model = replace(
        model, groups=A, index=LabelIndex(A), classifiers=classifiers, classes=classes,
        label_counts=old_counts + counts, n_rows=model.n_rows + X.shape[0], known_labels=known_labels,
        vocabulary=model.vocabulary and model.vocabulary.with_labels(classes[len(model.vocabulary) :]),
    )  # fmt: skip
    if model.ranker is None:
        return model
    with narrator.stage("training rankers") as progress:
        return _update_ranking(model, X, Y, fresh, options | {"progress": progress})


def widen_features(model: FittedModel, X: sp.csr_array) -> FittedModel:
    """The model that also knows the features of X (n, p) which it left out: last, with weights of zero."""
    if model.known_features is None:
        return model
    known = model.known_features.with_more(occurring_ids(X), model.n_features)
    more = len(known.ids) - len(model.known_features.ids)
    parts = {name: getattr(model, name) for name in ("classifiers", "ranker", "centroids")}
    grown = {name: part.with_features(more) for name, part in parts.items() if part is not None}
    return replace(model, known_features=known, **grown)


def label_more(
    model: FittedModel, Y: sp.csr_array, columns: list[str] | None, names: Sequence[str] | None
) -> tuple[sp.csr_array, np.ndarray, KnownIds | None]:
    """(Y, classes, known labels) of the model with new rows of labels Y (n, d), in the caller's ids.

    A label that the model leaves out, as it never occurred before, is a new label. `columns` are the names
    of the columns of Y, `names` those of the new ones.
    """
    Y, named = check_more_labels(Y, columns, model.classes, names, model.n_labels)
    known = find_more(model.known_labels, model.n_labels, Y)
    Y = Y if known is None else known.select(Y)
    return Y, label_classes(named, known, Y.shape[1]), known


def check_updatable(model: FittedModel) -> None:
    """Raise unless `update_model` can update the model."""
    if model.design is not None or model.blocks is not None:
        what = "a SAFFRON design" if model.design is not None else "blocks of labels"
        raise ValueError(f"A model with {what} cannot be updated; train again with all rows and labels.")
    if isinstance(model.classifiers, EstimatorGroups):
        raise ValueError("A model trained with classifier=... has no weights to start from; train again.")


def _update_groups(model, X, Y, fresh, solver, options):
    """(A, classifiers): new labels join groups, or are groups of their own, and all groups learn the
    rows."""
    A, d = model.groups, Y.shape[1]
    d_old = A.shape[1]
    if A.shape[0] == A.nnz == d_old and A.diagonal().all():  # one-vs-all: the identity
        classifiers = grow_one_vs_all(model.classifiers, X, Y, fresh, **solver, **options)
        return sp.eye_array(d, format="csr", dtype=np.float32), classifiers
    joining, seen = np.flatnonzero(fresh), np.flatnonzero(fresh & (label_counts(Y) > 0))
    weight = model.record.column_weight or max(1, round(A.nnz / d_old))
    margins = np.concatenate(map_blocks(model.classifiers.margins, X, options["n_jobs"]))
    members = np.zeros((len(joining), weight), np.int64)
    members[:] = np.argsort(-margins.mean(axis=0), kind="stable")[:weight]  # a label without a row
    slope = model.decoder_params.get("slope", DEFAULT_SLOPE)
    members[np.isin(joining, seen)] = join_groups(margins, Y, seen, weight, slope=slope)
    A = widen_groups(A, d, joining, members)
    return A, update_groups(model.classifiers, X, pool(Y, A), **options)


def _update_ranking(model, X, Y, fresh, options):
    centers, centroids, shares = label_centroids(X, Y), model.centroids, model.cooccurrence
    if centroids is not None:
        centroids = add_centroids(centroids, centers, fresh, X)
    soft = model if model.decoder_name == "soft" else replace(model, decoder_name="soft", decoder_params={})
    matcher = replace(soft, ranker=None, blend=None).matcher(centroids, model.candidate_prior)
    pairs = candidate_pairs(matcher, X, Y, model.n_candidates, options["n_jobs"])
    options["C"] = max(1.0, model.record.C)
    ranker = update_ranker(model.ranker, X, pairs, centers, fresh, prune=PRUNE, **options)
    if shares is not None:
        shares = add_cooccurrence(shares, cooccurrence(Y), fresh)
    return replace(model, ranker=ranker, centroids=centroids, cooccurrence=shares)


def join_groups(
    margins: np.ndarray,
    Y: sp.csr_array,
    fresh: np.ndarray,
    weight: int,
    *,
    slope: float = DEFAULT_SLOPE,
    lift: float = LIFT,
) -> np.ndarray:
    """Eq. (1): (labels, weight) ids of the groups for the labels `fresh` of Y (n, d), each of which has a
    row; `margins` (n, m) of the same rows, `slope` that of soft decoding."""
    values = group_log_probability(margins, slope)
    own = sp.csr_array(canonical(Y)[:, fresh].T)
    means = (own @ values) / np.diff(own.indptr)[:, None]
    evidence = means - np.float32(lift) * values.mean(axis=0)
    return np.sort(np.argsort(-evidence, axis=1, kind="stable")[:, :weight], axis=1)


def widen_groups(A: sp.csr_array, n_labels: int, fresh: np.ndarray, members: np.ndarray) -> sp.csr_array:
    """A (m, d) with `n_labels` columns, those of the labels `fresh` as in `members` (labels, c)."""
    entries = sp.coo_array(A)
    kept = ~np.isin(entries.col, fresh)
    rows = np.concatenate([entries.row[kept], members.ravel()])
    columns = np.concatenate([entries.col[kept], np.repeat(fresh, members.shape[1])])
    ones = np.ones(len(rows), np.float32)
    return canonical(sp.csr_array((ones, (rows, columns)), shape=(A.shape[0], n_labels)))


def update_groups(
    classifiers: LinearGroups,
    X: sp.csr_array,
    Z: sp.csr_array,
    *,
    C: float,
    factor: float = GROUP_C_FACTOR,
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
    return grown if classifiers.scale is None else grown.in_bytes()


def _as_ranker(coef, bias):
    """Dense classifiers (p, m) in the form of label rankers."""
    p, m = coef.shape
    kind = np.uint16 if p <= 1 << 16 else np.int32
    columns = np.tile(np.arange(p, dtype=kind), m)
    indptr = np.arange(m + 1, dtype=np.int64) * p
    return LabelRanker(indptr, columns, coef.T.ravel(), np.ones(m, np.float32), np.asarray(bias), p)


def grow_one_vs_all(
    classifiers: LinearGroups,
    X: sp.csr_array,
    Y: sp.csr_array,
    fresh: np.ndarray,
    *,
    C: float,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **solver: Any,
) -> LinearGroups:
    """Every label of Y (n, d) a group: those known follow eq. (2), those `fresh` (d,) learn only from the
    new rows."""
    known = classifiers.coef.shape[1]
    options: dict[str, Any] = {"n_jobs": n_jobs, "seed": seed}
    old = update_groups(
        classifiers, X, Y[:, :known], C=C, factor=LABEL_C_FACTOR, progress=progress, **options
    )
    coef, intercept = np.zeros((X.shape[1], Y.shape[1]), np.float32), np.zeros(Y.shape[1], np.float32)
    coef[:, :known], intercept[:known] = old.coef, old.intercept
    if fresh.any():
        new = solve(X, Y[:, np.flatnonzero(fresh)], C=C, **options, **solver)
        coef[:, fresh], intercept[fresh] = new.coef, new.intercept
    grown = LinearGroups(coef, intercept, classifiers.n_iter)
    return grown if classifiers.scale is None else grown.in_bytes()


def update_ranker(
    ranker: LabelRanker,
    X: sp.csr_array,
    pairs: Pairs,
    centers: sp.csr_array,
    fresh: np.ndarray,
    *,
    C: float,
    prune: float,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LabelRanker:
    """Eq. (2) for all labels with a pair among the new rows; those `fresh` start from their `centers`."""
    start = widen_ranker(ranker, len(fresh)).updated(_centered(centers, ranker), fresh)
    touched = (np.diff(pairs.indptr) > 0) & ~fresh
    options: dict[str, Any] = {
        "start": start,
        "max_iter": SWEEPS,
        "prune": prune,
        "n_jobs": n_jobs,
        "seed": seed,
    }
    known = train_ranker(X, pairs, labels=touched, C=LABEL_C_FACTOR * C, **options)
    new = train_ranker(X, pairs, labels=fresh, C=C, progress=progress, **options)
    grown = start.updated(known, touched).updated(new, fresh)
    return grown if ranker.values.dtype.kind == "f" else grown.in_bytes()


def widen_ranker(ranker: LabelRanker, d: int) -> LabelRanker:
    """The ranker with d labels, new ones last, which know no feature."""
    more = d - len(ranker.bias)
    return replace(
        ranker,
        indptr=np.concatenate([ranker.indptr, np.repeat(ranker.indptr[-1:], more)]),
        scale=np.concatenate([ranker.scale, np.ones(more, np.float32)]),
        bias=np.concatenate([ranker.bias, np.full(more, -1.0, np.float32)]),
    )


def _centered(centers, like):
    """Rankers as they are before training: CENTROID_WEIGHT times the centroid, bias -1."""
    d = centers.shape[0]
    columns = centers.indices.astype(like.columns.dtype)
    ones, bias = np.ones(d, np.float32), np.full(d, -1.0, np.float32)
    return LabelRanker(
        centers.indptr.astype(np.int64),
        columns,
        CENTROID_WEIGHT * centers.data,
        ones,
        bias,
        like.n_features,
    )


def add_centroids(
    index: CentroidIndex, centers: sp.csr_array, fresh: np.ndarray, X: sp.csr_array
) -> CentroidIndex:
    """The centroids with those of the labels `fresh` (d,) bool from `centers` (d, p), for rows like X."""
    d, p = centers.shape
    values = index.values * np.repeat(index.scale, np.diff(index.indptr))
    old = sp.csr_array((values, index.labels, index.indptr), shape=(p, d)).T
    keep, take = (sp.diags_array(mask.astype(np.float32)) for mask in (~fresh, fresh))
    return CentroidIndex.build(sp.csr_array(keep @ old + take @ centers), X)


def add_cooccurrence(shares: CooccurrenceShares, G: sp.csr_array, fresh: np.ndarray) -> CooccurrenceShares:
    """Shares P(l | l') that concern a label `fresh` (d,) bool, from the co-occurrence G (d, d) of the new
    rows; the others stay."""
    d = len(fresh)
    entries = sp.coo_array(G)
    concerned = fresh[entries.row] | fresh[entries.col] | (entries.row == entries.col)
    G = sp.csr_array(
        (entries.data[concerned], (entries.row[concerned], entries.col[concerned])), shape=(d, d)
    )
    new = CooccurrenceShares.from_counts(G)
    indptr = np.concatenate([shares.indptr, np.repeat(shares.indptr[-1:], d + 1 - len(shares.indptr))])
    old = sp.coo_array(sp.csr_array((shares.values, shares.labels, indptr), shape=(d, d)))
    kept = ~(fresh[old.row] | fresh[old.col])
    more = sp.coo_array(sp.csr_array((new.values, new.labels, new.indptr), shape=(d, d)))
    row, column, value = (
        np.concatenate([getattr(old, name)[kept], getattr(more, name)]) for name in ("row", "col", "data")
    )
    both = sp.csr_array((value, (row, column)), shape=(d, d))
    both.sort_indices()
    return CooccurrenceShares(
        both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data.astype(np.uint8)
    )
