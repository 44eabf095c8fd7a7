"""Y -> label graph -> symmetric NMF, and the partition of the graph (sections 3 and 4 of the paper)."""

from .graph import adjacency, cooccurrence
from .partition import PARTITIONERS, Partition, partition_labels
from .symnmf import symmetric_nmf

__all__ = ["PARTITIONERS", "Partition", "adjacency", "cooccurrence", "partition_labels", "symmetric_nmf"]
