"""New names of labels for a model of texts: those of new labels, or of a changed vocabulary."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..model.fitted import FittedModel
from ..ranking.names import MIN_IDF, NameIndex
from ..text import NameWords, TextFeatures


def rename(
    model: FittedModel, features: TextFeatures, names: Sequence[Sequence[str]], language: str | None = None
) -> tuple[FittedModel, TextFeatures]:
    """The model and its features with these names of each label, if names are evidence.

    A word that no name had before counts as one that occurs in none of the training rows.
    """
    if model.name_index is None or features.names is None:
        return model, features
    known = features.names.terms
    words, sequences = NameWords.learn(names, features.analyzer.for_names(language), known)
    rare = np.full(len(words.terms) - len(known), np.log1p(model.n_rows) + MIN_IDF)
    index = NameIndex.of(sequences, np.concatenate([model.name_index.idf, rare]), model.label_counts)
    return replace(model, name_index=index), replace(features, names=words)
