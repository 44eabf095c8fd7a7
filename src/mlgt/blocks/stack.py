"""Blocks side by side: one group matrix, one row of margins.

    A = [A_1; A_2; ...]  (m_1 + m_2 + ..., d),    margins = [XW_1 + b_1, XW_2 + b_2, ...]              (1)

A label of a separator has groups in every block below it; its votes A'z are then the blocks' votes, summed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.rows import Rows
from .route import SKIPPED, Router
from .sketch import CountSketch


def stack_groups(groups: Sequence[sp.csr_array], labels: Sequence[np.ndarray], d: int) -> sp.csr_array:
    """A of eq. (1), CSR: `groups` (m_i, d_i) of each block over its `labels` (d_i,), ascending."""
    indices = np.concatenate([own[A.indices] for A, own in zip(groups, labels)])
    sizes = np.concatenate([np.diff(A.indptr) for A in groups])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    ones = np.ones(len(indices), np.float32)
    return sp.csr_array((ones, indices.astype(np.int32), indptr), shape=(len(sizes), d))


@dataclass(frozen=True)
class BlockClassifiers:
    """The group classifiers of all blocks, in the order of the stacked groups."""

    parts: Sequence[Any]
    """Each with `margins(X)` -> (n, m_i) and `n_groups`, m_i."""
    sketch: CountSketch | None = None
    router: Router | None = None
    """None evaluates all blocks."""

    def margins(self, X: Any) -> np.ndarray:
        """(n, m) float32."""
        X = self._hashed(X)
        if self.router is None:
            return np.concatenate([part.margins(X) for part in self.parts], axis=1)
        return self._routed(X, self.router.choose(X))

    def linear_at(self, row: Any) -> Callable[[Any], np.ndarray]:
        """`margins` by the blocks that are chosen for this row (1, p), as a linear function of any rows."""
        if self.router is None:
            return self.margins
        chosen = self.router.choose(self._hashed(row))
        return lambda X: self._routed(self._hashed(X), np.repeat(chosen, X.shape[0], axis=0))

    def _hashed(self, X):
        return X if self.sketch is None else self.sketch(X)

    def _routed(self, X, chosen):
        X = X.csr() if isinstance(X, Rows) and X.shape[0] > 1 else X
        parts = [_block_margins(part, X, np.flatnonzero(own)) for part, own in zip(self.parts, chosen.T)]
        return np.concatenate(parts, axis=1)

    @property
    def n_groups(self) -> int:
        return sum(part.n_groups for part in self.parts)

    @property
    def n_iter(self) -> int:
        return max(part.n_iter for part in self.parts)


def _block_margins(part, X, rows):
    """Margins (n, m_i) of a block that is evaluated for some rows; SKIPPED for the others."""
    if len(rows) == X.shape[0]:
        return part.margins(X)
    out = np.full((X.shape[0], part.n_groups), SKIPPED)
    if len(rows):
        out[rows] = part.margins(X[rows])
    return out
