"""The k best of the candidates of a row by all evidence, in one compiled pass.

    scores, margins, similarities -> first blend -> support of likely labels -> final blend -> the k best

The same bits as `Blend`, `CooccurrenceShares.support` and sorting one after the other, which make the terms
that explanations need.
"""

from dataclasses import dataclass

import numpy as np

from .._core.space import minus_ones
from . import _order_kernels as _kernels
from .blend import Blend
from .cooccurrence import N_LIKELY, CooccurrenceShares

_NO_FLOATS, _NO_PAIRS = np.empty(0, np.float32), np.empty((0, 0), np.float32)
_NO_SHARES = np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.uint8)


@dataclass(frozen=True)
class Order:
    """What orders candidates, as arrays."""

    offset: np.ndarray  # (d,) float32: the part of the matcher's score that is no evidence
    first: np.ndarray  # (8,) float32: coefficients of the blend, see `_coefficients`
    final: np.ndarray  # the same with co-occurrence, or none
    shares: tuple[np.ndarray, np.ndarray, np.ndarray]
    bonus: np.ndarray  # (d,) float32, or none
    unseen: np.ndarray  # (d,) float32: 1 for labels without a training row; none if names are no evidence

    @classmethod
    def of(
        cls,
        offset: np.ndarray,
        blend: Blend,
        final: Blend | None,
        shares: CooccurrenceShares | None,
        bonus: np.ndarray | None,
        ranked: bool,
        unseen: np.ndarray | None = None,
    ) -> "Order":
        """Order by these parts of a model; `ranked` says whether there are margins of rankers."""
        known = _NO_SHARES if shares is None else (shares.indptr, shares.labels, shares.values)
        return cls(
            offset=np.ascontiguousarray(offset, np.float32),
            first=_coefficients(blend, ranked),
            final=_NO_FLOATS if final is None or shares is None else _coefficients(final, ranked),
            shares=known,
            bonus=_NO_FLOATS if bonus is None else bonus,
            unseen=_NO_FLOATS if unseen is None else unseen,
        )

    def __call__(
        self,
        labels: np.ndarray,
        scores: np.ndarray,
        near: np.ndarray | None,
        margins: np.ndarray | None,
        k: int,
        named: tuple[np.ndarray, np.ndarray] = (_NO_PAIRS, _NO_PAIRS),
    ) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k), best first, of candidates (n, K), -1 where there is none, with the
        matcher's scores, offset included, similarities and margins if there are any, and how they are
        named, as `NameIndex.scores` has it."""
        n, width = labels.shape
        found, best = np.empty((n, k), np.int64), np.empty((n, k), np.float32)
        main = margins
        if margins is None:
            main = np.empty(labels.shape, np.float32)
            _kernels.log_odds(scores, labels, self.offset, main)
        _kernels.order(
            labels, scores, _NO_PAIRS if near is None else near, main, margins is not None, *named,
            self.unseen, self.offset, self.first, self.final, *self.shares, self.bonus,
            minus_ones(len(self.offset)), np.empty((5, max(width, N_LIKELY)), np.float32),
            np.empty(N_LIKELY, np.int64), found, best,
        )  # fmt: skip
        return found, best


def _coefficients(blend, ranked):
    main = blend.ranker if ranked else blend.margin
    names = blend.name, blend.phrase, blend.unseen
    own = blend.intercept, main, blend.matcher, blend.similarity, *names, blend.cooccurrence
    return np.array(own, np.float32)
