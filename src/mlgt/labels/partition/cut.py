"""What a partition cuts: the weight of the edges between different parts."""

import numpy as np


def cut_weight(A, part):
    """Weight of the edges between different parts, each edge once; those of a vertex in no part
    (-1) are not cut."""
    of_row = np.repeat(part, np.diff(A.indptr))
    of_column = part[A.indices]
    return int(A.data[(of_row != of_column) & (of_row >= 0) & (of_column >= 0)].sum()) // 2
