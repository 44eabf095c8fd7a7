"""A model whose vocabulary changes: labels renamed, merged, withdrawn, or added without any row."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..classifiers.train import EstimatorGroups
from ..decoding import LabelIndex
from ..model.fitted import FittedModel
from ..vocabulary import Changes, Vocabulary, follow_vocabulary
from .grow import widen_groups, widen_ranker

UNSEEN_MARGIN = -1.0
"""Margin of a label without any row that is a group of its own: that of a classifier without positives."""


def change_vocabulary(model: FittedModel, vocabulary: Vocabulary) -> tuple[FittedModel, Changes]:
    """Return the model with the labels of a new vocabulary, and what has changed."""
    own = model.vocabulary
    if own is None:
        if model.names is None or model.known_labels is not None:
            raise ValueError(
                "The labels of this model have no names to find in a vocabulary; expected a model of texts."
            )
        own = Vocabulary((), (), ()).with_labels(model.names)
    movable = model.design is None and model.blocks is None
    movable = movable and not isinstance(model.classifiers, EstimatorGroups)
    changes = follow_vocabulary(own, vocabulary, model.label_counts.tolist(), may_grow=movable)
    model = widen_labels(model, changes.n_new)
    classes = np.array(changes.vocabulary.names, object)
    return replace(model, classes=classes, vocabulary=changes.vocabulary), changes


def widen_labels(model: FittedModel, more: int) -> FittedModel:
    """The model with `more` labels, last, that have no row: in as many groups as others, drawn at random.

    Where every label is a group of its own, so are they, with a margin that never fires.
    """
    if not more:
        return model
    m, d = model.groups.shape
    new = np.arange(d, d + more)
    parts: dict[str, Any] = {"label_counts": np.concatenate([model.label_counts, np.zeros(more, np.int64)])}
    if m == d == model.groups.nnz and model.groups.diagonal().all():
        A, linear = sp.eye_array(d + more, format="csr", dtype=np.float32), model.classifiers
        weights = np.zeros((linear.weights.shape[0], more), linear.weights.dtype)
        parts["classifiers"] = replace(
            linear,
            weights=np.concatenate([linear.weights, weights], axis=1),
            intercept=np.concatenate([linear.intercept, np.full(more, UNSEEN_MARGIN, np.float32)]),
            scale=None
            if linear.scale is None
            else np.concatenate([linear.scale, np.ones(more, np.float32)]),
        )
    else:
        weight = min(m, model.record.column_weight or max(1, round(model.groups.nnz / d)))
        rng = np.random.default_rng(d)
        members = np.stack([np.sort(rng.choice(m, weight, replace=False)) for _ in range(more)])
        A = widen_groups(model.groups, d + more, new, members)
    if model.ranker is not None:
        parts["ranker"] = widen_ranker(model.ranker, d + more)
    if model.cooccurrence is not None:
        indptr = model.cooccurrence.indptr
        indptr = np.concatenate([indptr, np.repeat(indptr[-1:], more)])
        parts["cooccurrence"] = replace(model.cooccurrence, indptr=indptr)
    if model.sample is not None:
        parts["sample"] = model.sample.with_labels(d + more)
    if model.name_index is not None:
        parts["name_index"] = replace(model.name_index, counts=parts["label_counts"])
    return replace(model, groups=A, index=LabelIndex(A), **parts)
