"""Label graph -> blocks and separators (section 4 of the paper).

A partitioner is a module here with `partition_edges(A, shares, rng)`, which returns the part of each
vertex of the graph A. To add one, write its file and name it in `PARTITIONERS` of `dissect`.
"""

from .dissect import PARTITIONERS, check_split, partition_labels
from .places import read_places, write_places
from .reordering import read_permutation, read_reordering, write_reordering
from .tree import Partition, lost_share, one_block, separators_apart

__all__ = [
    "PARTITIONERS",
    "Partition",
    "check_split",
    "lost_share",
    "one_block",
    "partition_labels",
    "read_permutation",
    "read_places",
    "read_reordering",
    "separators_apart",
    "write_places",
    "write_reordering",
]
