"""Texts to sparse rows, and lists of label names to a 0/1 matrix."""

from .names import (
    check_label_lists,
    check_texts,
    label_matrix,
    probable_separator,
    read_label_names,
)
from .spans import mark_words, spans
from .terms import TextFeatures, check_term_options, learn_features
from .tfidf import smooth_idf, tf_idf

__all__ = [
    "TextFeatures",
    "check_label_lists",
    "check_term_options",
    "check_texts",
    "label_matrix",
    "learn_features",
    "mark_words",
    "probable_separator",
    "read_label_names",
    "smooth_idf",
    "spans",
    "tf_idf",
]
