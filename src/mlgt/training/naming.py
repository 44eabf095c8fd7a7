"""Names of labels -> what training needs to use them as evidence (`ranking.names`)."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from ..ranking import LabelNames
from ..text import Analyzer, FeatureWords, NameWords, TextFeatures, learn_features, smooth_idf
from ..vocabulary import Vocabulary


def learn_texts(
    texts: Sequence[str],
    names: Sequence[Sequence[str]],
    analyzer: Analyzer,
    language: str | None = None,
    **options: Any,
) -> tuple[TextFeatures, sp.csr_array, LabelNames]:
    """(features, X, names) of texts and the names of each label, in one pass over the texts.

    `language` is that of the names, `options` are those of `learn_features`. All names of a label make its
    vector.
    """
    words, sequences = NameWords.learn(names, analyzer.for_names(language))
    features, rows = learn_features(texts, analyzer=analyzer, names=words, **options)
    vectors = features.parts_rows(" ".join(own) for own in names)
    return features, rows.csr(), LabelNames(sequences, rows.words, vectors)


def names_of_rows(
    X: sp.csr_array,
    feature_names: Sequence[str] | None,
    label_names: Sequence[Any] | None,
    vocabulary: Vocabulary | None,
) -> tuple[LabelNames | None, FeatureWords | None]:
    """Names of labels, and the words of features, for rows X (n, p); None unless both have names that share
    a word."""
    if not feature_names or (label_names is None and vocabulary is None):
        return None, None
    names = vocabulary.all_names() if vocabulary else [[str(name)] for name in cast(Any, label_names)]
    analyzer = Analyzer()
    words, sequences = NameWords.learn(names, analyzer)
    feature_words = FeatureWords.learn(list(map(str, feature_names)), words, analyzer)
    if not feature_words.matched:
        return None, None
    vectors = _vectors(sequences, feature_words, len(words.terms), smooth_idf(X))
    return LabelNames(sequences, feature_words.rows(X), vectors), feature_words


def _vectors(sequences, feature_words, n_words, idf):
    """(d, p) CSR: the idf of the features of one word that names have."""
    lengths, p = np.diff(feature_words.indptr), len(idf)
    single = np.flatnonzero(lengths == 1)
    word = feature_words.words[feature_words.indptr[single]]
    single, word = single[word >= 0], word[word >= 0]
    features = sp.csr_array((idf[single].astype(np.float32), (word, single)), shape=(n_words, p))
    pairs = [(label, w) for label, own in enumerate(sequences) for w in {w for name in own for w in name}]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    ones = np.ones(len(pairs), np.float32)
    labels = sp.csr_array((ones, (rows, columns)), shape=(len(sequences), n_words))
    vectors = sp.csr_array(labels @ features)
    vectors.sort_indices()
    return vectors
