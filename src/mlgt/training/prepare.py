"""Checked rows and labels -> the data of training, without ids that never occur, with names as evidence."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import scipy.sparse as sp

from .._core.blas import one_blas_thread
from .._core.ids import find_known, label_classes
from .._core.progress import Narrator
from .._core.validation import check_row_weight
from ..model.fitted import FittedModel
from ..ranking import LabelNames
from ..tasks import keep_training
from ..vocabulary import Vocabulary
from .checks import Params
from .naming import names_of_rows
from .train import TrainingData


def prepare(
    params: Params,
    X: sp.csr_array,
    Y: sp.csr_array,
    sample_weight: Any = None,
    label_names: Sequence[Any] | None = None,
    feature_names: list[str] | None = None,
    vocabulary: Vocabulary | None = None,
    names: LabelNames | None = None,
) -> TrainingData:
    """The data of rows X (n, p) with labels Y (n, d).

    No label of a `vocabulary` is left out. `names` are those of texts; for rows whose features have names,
    they are made here.
    """
    labels, features = None if vocabulary is not None else params.known_labels(Y), find_known(X)
    feature_words = None
    if names is None and params.may_rank and labels is None:
        names, feature_words = names_of_rows(X, feature_names, label_names, vocabulary)
    X, Y = X if features is None else features.select(X), Y if labels is None else labels.select(Y)
    if names is not None and features is not None:
        names = replace(names, vectors=features.select(names.vectors))
    params.check(Y.shape[1])
    weight, seen = check_row_weight(sample_weight, X, Y)
    classes = label_classes(label_names if vocabulary is None else vocabulary.names, labels, Y.shape[1])
    return TrainingData(
        X, Y, classes, seen, weight, feature_names, labels, features, vocabulary, names, feature_words
    )


def train_kept(
    train: Callable[..., FittedModel], params: Params, data: TrainingData, narrator: Narrator
) -> FittedModel:
    """train(params, data, narrator), whose finished tasks are kept inside `mlgt.keep_work`. Classifiers of
    the user's own may have as many threads as they like."""
    matrices = [(M.data, M.indices, M.indptr, M.shape) for M in (data.X, data.Y)]
    limits = one_blas_thread() if params.classifier is None else nullcontext()
    with keep_training(params.given, (matrices, data.weight, data.names), narrator.say), limits:
        return train(params, data, narrator)
