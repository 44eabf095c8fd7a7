"""Teaching a trained model new rows and labels (ours), without its old training rows but for a sample.

A lesson is the new rows after the replayed ones of the model's `sample`. Beside these,

groups      of a model with rankers stay as they are. A new label is a group of its own or, where
            centroids find candidates too, joins the c groups that its rows activate most, compared with
            replayed rows:

    evidence_il = mean over the rows of l of v_i  -  mean over replayed rows of v_i,                  (1)

            with v_i the log-probability of group i.
classifiers of known labels with new rows are fitted to the lesson, regularised towards their old weights,

    |w - w_old|^2 / 2 + (b - b_old)^2 / 2 + C sum of squared hinges,                                  (2)

            and move by a share of the way: that of their new rows among all of theirs, times up to RATE the
            more of these there are, as one row may be an exception. The rate falls with the excess of a
            label over the rows that its frequency explains, which says more about the lesson than about
            the label. Other labels stay as they are.
new labels  have classifiers of their own, see `teaching.fresh` and `teaching.calibrate`.
centroids   are running means.

Rows that the model was taught are remembered, see `model.sample`. Without a sample, known labels stay as
they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.blas import one_blas_thread
from .._core.ids import KnownIds, find_more, label_classes, occurring_ids
from .._core.progress import QUIET, Narrator
from .._core.rows import as_csr, map_blocks
from .._core.sparse import canonical, label_counts
from .._core.validation import check_more_labels
from ..classifiers.train import EstimatorGroups, LinearGroups
from ..decoding import LabelIndex
from ..decoding.soft import DEFAULT_SLOPE
from ..groups import pool
from ..labels.graph import cooccurrence
from ..model.fitted import FittedModel
from ..ranking.centroids import label_centroids
from ..ranking.train import PRUNE, candidate_pairs
from .calibrate import calibrate
from .fresh import fit_fresh
from .grow import (
    SWEEPS,
    add_centroids,
    add_cooccurrence,
    grow_one_vs_all,
    join_groups,
    one_vs_all,
    update_groups,
    update_ranker,
    widen_groups,
)
from .lesson import make_lesson


@one_blas_thread()
def update_model(
    model: FittedModel,
    X: sp.csr_array,
    Y: sp.csr_array,
    classes: np.ndarray,
    known_labels: KnownIds | None,
    *,
    n_jobs: int | None = None,
    seed: int = 0,
    narrator: Narrator = QUIET,
) -> FittedModel:
    """Train `model` further on rows X (n, p), not scaled, and their labels Y (n, d), new ones last.

    `classes` are the names or ids of all labels, `known_labels` the ids of the columns of Y if some are
    left out, as `label_more` returns them.
    """
    model = widen_features(model, X)
    X = as_csr(model.scaled(X))
    lesson = make_lesson(model, X, Y)
    d, n_rows = Y.shape[1], model.n_rows
    options: dict[str, Any] = {"C": model.record.C, "n_jobs": n_jobs, "seed": seed}
    with narrator.stage("training classifiers") as progress:
        new = fit_fresh(
            lesson.X, lesson.Y, lesson.fresh & (lesson.share > 0),
            C=max(1.0, model.record.C), max_iter=SWEEPS, prune=PRUNE, n_jobs=n_jobs, seed=seed,
        )  # fmt: skip
        A, classifiers = _update_groups(model, lesson, new.ranker, options | {"progress": progress})
    sample = model.sample
    if sample is not None:
        sample = sample.with_labels(d).after(
            X, Y, lesson.fresh, n_rows, np.random.default_rng([seed, n_rows])
        )
    counts = np.append(model.label_counts, np.zeros(d - len(model.label_counts), np.int64)) + label_counts(
        Y
    )
    model = replace(
        model, groups=A, index=LabelIndex(A), classifiers=classifiers, classes=classes, sample=sample,
        label_counts=counts, n_rows=n_rows + X.shape[0], known_labels=known_labels,
        vocabulary=model.vocabulary and model.vocabulary.with_labels(classes[len(model.vocabulary) :]),
        name_index=model.name_index and replace(model.name_index, counts=counts),
    )  # fmt: skip
    if model.ranker is not None:
        with narrator.stage("training rankers") as progress:
            model = _update_ranking(model, lesson, new.ranker, X, options | {"progress": progress})
    return calibrate(model, lesson, new)


def with_more_features(model: FittedModel, more: int) -> FittedModel:
    """The model with `more` features, last, of weight zero."""
    parts = {name: getattr(model, name) for name in ("classifiers", "ranker", "centroids", "sample")}
    grown = {name: part.with_features(more) for name, part in parts.items() if part is not None}
    return replace(model, n_features=model.n_features + more, **grown)


def widen_features(model: FittedModel, X: sp.csr_array) -> FittedModel:
    """The model that also knows the features of X (n, p) which it left out: last, with weights of zero."""
    if model.known_features is None:
        return model
    known = model.known_features.with_more(occurring_ids(X), model.n_features)
    more = len(known.ids) - len(model.known_features.ids)
    return replace(with_more_features(model, more), known_features=known, n_features=model.n_features)


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


def _update_groups(model, lesson, new, options):
    """(A, classifiers): `new` labels are groups of their own or join others, as above."""
    A, d = model.groups, lesson.Y.shape[1]
    d_old = A.shape[1]
    if one_vs_all(A):
        classifiers = grow_one_vs_all(model.classifiers, lesson, new, **options)
        return sp.eye_array(d, format="csr", dtype=np.float32), classifiers
    joining, seen = np.flatnonzero(lesson.fresh), np.flatnonzero(lesson.fresh & (lesson.share > 0))
    if model.ranker is not None and model.centroids is None:
        return _add_groups(model, joining, seen, new)
    weight = model.record.column_weight or max(1, round(A.nnz / d_old))
    margins = np.concatenate(map_blocks(model.classifiers.margins, lesson.X, options["n_jobs"]))
    members = np.zeros((len(joining), weight), np.int64)
    members[:] = np.argsort(-margins.mean(axis=0), kind="stable")[:weight]  # a label without a row
    slope = model.decoder_params.get("slope", DEFAULT_SLOPE)
    members[np.isin(joining, seen)] = join_groups(
        margins, lesson.Y, seen, weight, slope=slope, n_usual=lesson.n_replayed or None
    )
    A = widen_groups(A, d, joining, members)
    if model.ranker is not None:
        return A, model.classifiers
    return A, update_groups(model.classifiers, lesson.X, pool(lesson.Y, A), **options)


def _add_groups(model, joining, seen, new):
    """(A, classifiers) with a group of its own for each label `seen`; those without a row are in none."""
    (m, _), d, old = model.groups.shape, len(new.bias), model.classifiers
    entries = sp.coo_array(model.groups)
    kept = ~np.isin(entries.col, joining)
    rows = np.concatenate([entries.row[kept], m + np.arange(len(seen))])
    columns = np.concatenate([entries.col[kept], seen])
    ones = np.ones(len(rows), np.float32)
    A = canonical(sp.csr_array((ones, (rows, columns)), shape=(m + len(seen), d)))
    if not len(seen):
        return A, old
    coef = np.concatenate([old.coef, new.weights[seen].toarray().T], axis=1)
    grown = LinearGroups(coef, np.concatenate([old.intercept, new.bias[seen]]), old.n_iter)
    return A, grown.rounded(old.bits)


def _update_ranking(model, lesson, new, X_new, options):
    fresh, n = lesson.fresh, lesson.n_replayed
    Y_new = lesson.Y[n:]
    centers, centroids, shares = label_centroids(X_new, Y_new), model.centroids, model.cooccurrence
    if centroids is not None:
        centroids = add_centroids(centroids, centers, lesson.share, lesson.X)
    soft = model if model.decoder_name == "soft" else replace(model, decoder_name="soft", decoder_params={})
    matcher = replace(soft, ranker=None, blend=None).matcher(centroids, model.candidate_prior)
    pairs = candidate_pairs(matcher, lesson.X, lesson.Y, model.n_candidates, options["n_jobs"])
    options["C"] = max(1.0, model.record.C)
    ranker = update_ranker(model.ranker, lesson, pairs, new, **options)
    if shares is not None:
        shares = add_cooccurrence(shares, cooccurrence(Y_new), fresh, model.label_counts)
    return replace(model, ranker=ranker, centroids=centroids, cooccurrence=shares)
