"""Texts in, sparse rows out; lists of label names in, a 0/1 matrix out; and back."""

from .names import check_label_lists, check_texts, label_matrix
from .terms import TextFeatures, learn_features
from .tfidf import smooth_idf, tf_idf

__all__ = [
    "TextFeatures",
    "check_label_lists",
    "check_texts",
    "label_matrix",
    "learn_features",
    "smooth_idf",
    "tf_idf",
]
