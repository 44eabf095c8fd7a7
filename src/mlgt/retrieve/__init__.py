"""Rows X, W, A and a decoder -> the k best labels of each row, without ever holding n x d scores."""

from .centroids import CentroidIndex, are_light, label_centroids
from .index import LabelIndex
from .search import group_margins, search
from .shortlist import by_frequency, shortlist

__all__ = [
    "CentroidIndex",
    "LabelIndex",
    "are_light",
    "by_frequency",
    "group_margins",
    "label_centroids",
    "search",
    "shortlist",
]
