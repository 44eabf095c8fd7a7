"""The common form of the decoders: linear in the group values.

    s_l = scale_l * sum over the groups i of label l of v_i  +  offset_l,      v = values(margins),     (1)

and a label with s_l < floor is impossible. Labels are ranked by s_l; ties go to the label that comes first
in `order`, by default the lowest id. A decoder chooses `values`, the label constants and the order;
`search` computes (1), for all labels or only for those that can be among the best.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical
from ..groups.pool import label_sums
from .index import LabelIndex
from .search import search


@dataclass(frozen=True)
class Decoder:
    """Eq. (1) for given groups."""

    values: Callable[[np.ndarray], np.ndarray]
    """Group margins (n, m) float32 -> group values (n, m) float32."""
    scale: np.ndarray  # (d,) float32
    offset: np.ndarray  # (d,) float32; -inf for a label in no group
    floor: float = -np.inf
    order: np.ndarray | None = None  # (d,) label ids, those that win ties first

    scores_given = True
    """True if the scores of given labels can be computed."""

    @cached_property
    def by_offset(self) -> np.ndarray:
        """Label ids by falling offset."""
        return np.argsort(-self.offset, kind="stable")

    @cached_property
    def below(self) -> np.float32:
        """The largest score that is impossible."""
        return np.nextafter(np.float32(self.floor), np.float32(-np.inf))

    @cached_property
    def is_even(self) -> bool:
        """True if scale and offset are the same for all labels, and ties go to the lowest id."""
        same = (self.scale == self.scale[0]).all() and (self.offset == self.offset[0]).all()
        return bool(self.order is None and same)

    def top_k(self, margins: np.ndarray, index: LabelIndex, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k), best first, padded with -1 and -inf."""
        return search(self.values(margins), index, self, k)

    def scores(self, margins: np.ndarray, A: sp.csr_array) -> np.ndarray:
        """Return all label scores (n, d) float32, eq. (1); -inf below the floor."""
        scores = label_sums(self.values(margins), A) * self.scale + self.offset
        return np.where(scores >= self.floor, scores, np.float32(-np.inf))


@dataclass(frozen=True)
class DesignDecoder:
    """Labels read off the groups of a SAFFRON design, without scores of all labels."""

    decode: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]

    scores_given = False

    def top_k(self, margins: np.ndarray, index: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k), best first, padded with -1 and -inf; `index` is not used."""
        return self.decode(margins, k)


def column_weights(A: sp.csr_array) -> np.ndarray:
    """Return the number of groups of each label, (d,) float32."""
    return np.bincount(canonical(A).indices, minlength=A.shape[1]).astype(np.float32)


def offset_without_groups(weights: np.ndarray) -> np.ndarray:
    """Return 0 for each label, but -inf for a label in no group, which has no tests."""
    return np.where(weights > 0, np.float32(0), np.float32(-np.inf))


def hard_tests(margins: np.ndarray) -> np.ndarray:
    """Return z = 1[margin > 0], the paper's 0/1 predictions."""
    return (margins > 0).astype(np.float32)
