"""Y -> label graph -> symmetric NMF, and the partition of the graph (sections 3 and 4 of the paper).

A partitioner is a module `partition/NAME.py` with `partition_edges(A, shares, rng)`, which returns the part
of each vertex of the graph A. To add one, write its file and name it here.
"""

PARTITIONERS = {"metis": "by the package pymetis; the default", "propagation": "built in"}
"""Names and descriptions of the partitioners. Their modules are imported when they are used, so that the
command can list the names without loading NumPy."""
