"""Edge partition by METIS (Karypis & Kumar 1998), through the package pymetis."""

import numpy as np
import scipy.sparse as sp

from ..._core.errors import PartitionerMissingError


def partition_edges(A: sp.csr_array, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the part of each vertex, (n,) int64: few, light edges between parts, part p near shares[p] n.

    A (n, n) is a CSR array of int64 weights without a diagonal; `shares` (k,) add up to 1. METIS
    gets a seed drawn from `rng`.
    """
    try:
        import pymetis
    except ImportError as error:
        raise PartitionerMissingError(
            "partitioner='metis' needs the package pymetis, which is not installed: pip install pymetis. "
            "Where it has no wheel (Windows, Linux on ARM), pass partitioner='propagation', which is built "
            "in; its blocks differ from those of METIS."
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
