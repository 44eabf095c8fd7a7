"""The form all decoders here share: linear in the group values.

    s_l = scale_l * sum over the groups i of label l of v_i  +  offset_l,      v = values(margins),     (1)

and a label with s_l < floor cannot be. Labels are ranked by s_l; ties go to the label that comes first in
`order`, by default the lowest id. What a decoder decides is `values`, the label constants and the order;
who computes (1), for all labels or only for those that matter, is `retrieve`'s business.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.sparse import canonical
from ..groups.pool import lift
from .index import LabelIndex
from .search import search


@dataclass(frozen=True)
class Decoder:
    values: Callable[[np.ndarray], np.ndarray]
    """Group margins (n, m) float32 -> group values (n, m) float32."""
    scale: np.ndarray  # (d,) float32
    offset: np.ndarray  # (d,) float32; -inf for a label in no group
    floor: float = -np.inf
    order: np.ndarray | None = None  # (d,) label ids, those that win ties first

    scores_given = True
    """True if the scores of given labels can be computed."""

    def top_k(self, margins: np.ndarray, index: LabelIndex, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k), best first, padded with -1 and -inf."""
        return search(self.values(margins), index, self, k)

    def scores(self, margins, A):
        """All label scores (n, d) float32, eq. (1); -inf below the floor."""
        scores = lift(self.values(margins), A) * self.scale + self.offset
        return np.where(scores >= self.floor, scores, np.float32(-np.inf))


@dataclass(frozen=True)
class DesignDecoder:
    """Labels read off the groups of a SAFFRON design, without scores of all labels."""

    decode: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]

    scores_given = False

    def top_k(self, margins: np.ndarray, index: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k), best first, padded with -1 and -inf; `index` is not used."""
        return self.decode(margins, k)


def column_weights(A):
    """Groups of each label, shape (d,), float32."""
    return np.bincount(canonical(A).indices, minlength=A.shape[1]).astype(np.float32)


def offset_without_groups(weights):
    """0, but -inf for a label in no group: its tests say nothing about it."""
    return np.where(weights > 0, np.float32(0), np.float32(-np.inf))


def hard_tests(margins):
    """z = 1[margin > 0], the paper's 0/1 predictions."""
    return (margins > 0).astype(np.float32)
