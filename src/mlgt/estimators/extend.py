"""A fitted flat model takes in new rows and labels: `mlgt.grow` has the mathematics."""

import numpy as np
import scipy.sparse as sp

from .._core.progress import as_narrator
from .._core.rows import map_blocks
from .._core.validation import check_labels, check_more_labels
from ..decoding.index import LabelIndex
from ..groups import pool
from ..labels.graph import cooccurrence, label_counts
from ..model.update import (
    add_centroids,
    add_companions,
    grow_one_vs_all,
    join_groups,
    update_groups,
    update_ranker,
    widen_groups,
)
from ..ranking.centroids import label_centroids
from ..ranking.train import PRUNE, candidate_pairs
from .checks import generator


def extend(model, X, y, names=None):
    """Teach `model` the rows X (n, p), scaled as in training, and their labels y."""
    Y, own = check_labels(y, X.shape[0])
    Y, classes = check_more_labels(Y, own, model.classes_, names)
    rng = generator(model.random_state)
    narrator = as_narrator(model.verbose)
    d_old, d = len(model.label_counts_), Y.shape[1]
    counts, old_counts = label_counts(Y), np.append(model.label_counts_, np.zeros(d - d_old, np.int64))
    fresh = (old_counts == 0) & ((counts > 0) | (np.arange(d) >= d_old))
    options = {"C": model.C_, "n_jobs": model.n_jobs, "seed": int(rng.integers(2**31))}
    with narrator.stage("training classifiers") as progress:
        _grow_groups(model, X, Y, fresh, options | {"progress": progress})
    model.classes_, model._index = classes, LabelIndex(model.groups_)
    model.label_counts_, model.n_rows_ = old_counts + counts, model.n_rows_ + X.shape[0]
    if model.ranker_ is not None:
        with narrator.stage("training rankers") as progress:
            _grow_ranking(model, X, Y, fresh, options | {"progress": progress})


def _grow_groups(model, X, Y, fresh, options):
    """New labels join groups, or are groups of their own, and all groups learn the new rows."""
    d_old, d = model.groups_.shape[1], Y.shape[1]
    if model.groups_.shape == (d_old, d_old) and model.groups_.nnz == d_old:
        solver = {"loss": model.loss, "tol": model._tolerance(d_old), "max_iter": model.max_iter}
        model.classifiers_ = grow_one_vs_all(model.classifiers_, X, Y, fresh, **solver, **options)
        model.groups_, model.n_groups_ = sp.eye_array(d, format="csr", dtype=np.float32), d
        return
    joining, seen = np.flatnonzero(fresh), np.flatnonzero(fresh & (label_counts(Y) > 0))
    weight = model.column_weight_ or max(1, round(model.groups_.nnz / d_old))
    margins = np.concatenate(map_blocks(model.classifiers_.margins, X, model.n_jobs))
    members = np.zeros((len(joining), weight), np.int64)
    members[:] = np.argsort(-margins.mean(axis=0), kind="stable")[:weight]  # a label without a row
    members[np.isin(joining, seen)] = join_groups(margins, Y, seen, weight)
    model.groups_ = widen_groups(model.groups_, d, joining, members)
    model.classifiers_ = update_groups(model.classifiers_, X, pool(Y, model.groups_), **options)


def _grow_ranking(model, X, Y, fresh, options):
    centers = label_centroids(X, Y)
    if model.centroids_ is not None:
        model.centroids_ = add_centroids(model.centroids_, centers, fresh, X)
    matching = model._matcher(model.centroids_)
    pairs = candidate_pairs(matching, X, Y, model.n_candidates_, model.n_jobs)
    options["C"] = max(1.0, model.C_)
    model.ranker_ = update_ranker(model.ranker_, X, pairs, centers, fresh, prune=PRUNE, **options)
    if model.companions_ is not None:
        model.companions_ = add_companions(model.companions_, cooccurrence(Y), fresh)
