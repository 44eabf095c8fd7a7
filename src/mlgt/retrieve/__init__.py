"""Rows X, W, A and a decoder -> the k best labels of each row, without ever holding n x d scores."""

from .index import LabelIndex
from .search import Rows, group_margins, map_blocks, search, unit_rows

__all__ = ["LabelIndex", "Rows", "group_margins", "map_blocks", "search", "unit_rows"]
