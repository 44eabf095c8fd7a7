"""Y -> label graph -> symmetric NMF, and the partition of the graph (sections 3 and 4 of the paper)."""
