"""Rows X, W, A and a decoder -> the k best labels of each row, without ever holding n x d scores."""

from .centroids import WEIGHT, CentroidIndex, label_centroids, similarity
from .index import LabelIndex
from .search import group_margins, search

__all__ = [
    "WEIGHT",
    "CentroidIndex",
    "LabelIndex",
    "group_margins",
    "label_centroids",
    "search",
    "similarity",
]
