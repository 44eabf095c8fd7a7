"""Choosing the column weight c (Remark 1): for a range of c, draw A, pool a random subset of the
training label vectors, recover them, and keep the c with the smallest Hamming loss.

No classifier takes part, so this measures the design alone, a proxy for prediction. Recovery is by the
paper's decoder, the k labels with the largest b = A'z, k = 5 as in the authors' code.
"""

from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical
from .quality import reduction_loss

CANDIDATE_WEIGHTS = (4, 8, 12, 16, 24, 32, 48, 64)


def choose_column_weight(
    draw: Callable[[int, np.random.Generator], sp.csr_array],
    Y: sp.csr_array,
    m: int,
    rng: np.random.Generator,
    *,
    candidates: Iterable[int] = CANDIDATE_WEIGHTS,
    n_rows: int = 1000,
    k: int = 5,
) -> tuple[int, dict[int, float]]:
    """Return (c, losses): the weight with the smallest R-loss, the smaller one on a tie.

    `draw(c, rng)` returns a group matrix with m rows and column weight c. Candidates above m / 2 are
    skipped, because a group would hold most labels.
    """
    fitting = [c for c in candidates if c <= m / 2] or [max(1, m // 2)]
    Y = canonical(Y)
    labelled = np.flatnonzero(np.diff(Y.indptr) > 0)
    sample = Y[np.sort(rng.choice(labelled, min(n_rows, len(labelled)), replace=False))]
    losses = {c: reduction_loss(sample, draw(c, rng), k) for c in fitting}
    return min(losses, key=lambda c: (losses[c], c)), losses
