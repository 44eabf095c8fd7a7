"""Edge partition by METIS (Karypis & Kumar 1998), through the package pymetis."""

import numpy as np

from ..._core.errors import PartitionerMissingError


def partition_edges(A, shares, rng):
    """Part of each vertex, (n,) int64: few and light edges of A between parts, part p near shares[p] n.

    A (n, n) is a CSR array of int64 weights without a diagonal; `shares` (k,) add up to 1. METIS draws
    from a seed of its own, taken from `rng`.
    """
    try:
        import pymetis
    except ImportError as error:
        raise PartitionerMissingError(
            "partitioner='metis' needs the package pymetis, which is not installed: pip install pymetis. "
            "Where it has no wheel (Windows, Linux on ARM), pass partitioner='propagation', which is built "
            "in; its blocks differ from METIS's."
        ) from error
    options = pymetis.Options(seed=int(rng.integers(2**31)))
    _, part = pymetis.part_graph(
        len(shares),
        pymetis.CSRAdjacency(A.indptr.astype(np.int64), A.indices.astype(np.int64)),
        eweights=A.data,
        tpwgts=list(shares),
        options=options,
    )
    return np.asarray(part, np.int64)
