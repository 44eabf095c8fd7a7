"""Label graph -> blocks and separators (section 4 of the paper)."""

from .dissect import PARTITIONERS, partition_labels
from .tree import Partition, lost_share

__all__ = ["PARTITIONERS", "Partition", "lost_share", "partition_labels"]
