"""Texts to sparse rows, and lists of label names to a 0/1 matrix."""

from .analysis import Words
from .analyzer import Analyzer
from .languages import LANGUAGES, check_languages, stemmer
from .marks import mark_words
from .name_words import FeatureWords, NameWords
from .names import (
    check_label_lists,
    check_pairs,
    check_texts,
    joining_mark,
    label_matrix,
    probable_separator,
    read_names,
)
from .options import check_term_options
from .terms import TextFeatures, learn_features
from .tfidf import smooth_idf, tf_idf

__all__ = [
    "LANGUAGES",
    "Analyzer",
    "FeatureWords",
    "NameWords",
    "TextFeatures",
    "Words",
    "check_label_lists",
    "check_languages",
    "check_pairs",
    "check_term_options",
    "check_texts",
    "joining_mark",
    "label_matrix",
    "learn_features",
    "mark_words",
    "probable_separator",
    "read_names",
    "smooth_idf",
    "stemmer",
    "tf_idf",
]
