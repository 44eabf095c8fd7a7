"""Scores of a label from several blocks, combined. L_l is the number of blocks that have label l.

A decoder gives label l the score s_il in block i: its votes A_i'z, or its mean log-probability.

    sum          sum over its blocks of s_il: the paper's authors' code
    weighted     sum over its blocks of s_il / L_l, weights that add to 1: the paper's text
    calibrated   (1 / L_l) sum over its blocks of (slope_i s_il + intercept_i), + bonus if L_l > 1: ours
    count        the number of blocks that have l among their best labels, ties by its best score
    union        all labels that a block has among its best, by their best score

The first three are linear in the group values, so they are a `Decoder` of the stacked groups, which can be
searched and ranked like any other. `count` and `union` look at sets of labels: each block contributes its
N_BEST best, by votes only labels with at least one vote.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays, Stored, array_names, check_finite, check_shapes
from ..decoding import DECODERS, Decoder, search
from ..decoding.index import LabelIndex

LINEAR = ("sum", "weighted", "calibrated")
COMBINATIONS = (*LINEAR, "count", "union")
VOTES = ("top_k", "top_k_frequency")
N_BEST = 5
"""Labels per block for `count` and `union`: the number the paper predicts."""


@dataclass(frozen=True)
class Calibration(Stored):
    """The coefficients that turn soft scores into log-odds; see `calibrate`."""

    slopes: np.ndarray  # (blocks,) float32, > 0
    intercepts: np.ndarray  # (blocks,) float32
    bonus: float = 0.0
    """Added to the log-odds of labels in separators."""

    ARRAYS = array_names("slopes", "intercepts")

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_blocks: int, bonus: float) -> "Calibration":
        """Raise unless the arrays are the coefficients of n_blocks blocks."""
        check_finite(arrays, "slopes", "intercepts")
        check_shapes(arrays, slopes=(n_blocks,), intercepts=(n_blocks,))
        return cls(np.asarray(arrays["slopes"]), np.asarray(arrays["intercepts"]), float(bonus))


@dataclass(frozen=True)
class Layout:
    """Which groups and labels are in which block."""

    groups: Sequence[sp.csr_array]  # (m_i, d_i) each
    labels: Sequence[np.ndarray]  # (d_i,) each, ascending
    n_labels: int

    @cached_property
    def block_of_group(self) -> np.ndarray:
        """The block of each group, (m,)."""
        return np.repeat(np.arange(len(self.groups)), [A.shape[0] for A in self.groups])

    @cached_property
    def blocks_of_label(self) -> np.ndarray:
        """L, the number of blocks of each label, (d,) float32."""
        return np.bincount(np.concatenate(self.labels), minlength=self.n_labels).astype(np.float32)


def combined_decoder(
    decoder: Decoder,
    layout: Layout,
    combination: str,
    name: str,
    options: dict[str, Any],
    label_counts: np.ndarray,
    calibration: Calibration | None = None,
) -> Decoder:
    """The decoder of the stacked groups, called `name`, with its scores combined as named."""
    if combination in LINEAR:
        return combine(decoder, layout, combination, name, calibration)
    parts = _block_decoders(layout, name, label_counts, options)
    own = {field.name: getattr(decoder, field.name) for field in fields(decoder)}
    return NamedSets(**own, parts=parts, counted=combination == "count")


def combine(
    decoder: Decoder, layout: Layout, combination: str, name: str, calibration: Calibration | None = None
) -> Decoder:
    """The decoder of the stacked groups, called `name`, as one of the linear combinations."""
    L = layout.blocks_of_label
    if combination == "sum":  # soft scores are means over all groups of a label
        return replace(decoder, scale=decoder.scale * L) if name == "soft" else decoder
    if combination == "weighted":
        return decoder if name == "soft" else replace(decoder, scale=decoder.scale / L)
    assert calibration is not None
    bonus = np.where(L > 1, np.float32(calibration.bonus), np.float32(0))
    scaled = partial(
        _calibrated_values,
        values=decoder.values,
        slope=calibration.slopes[layout.block_of_group],
        intercept=calibration.intercepts[layout.block_of_group],
    )
    prior = decoder.offset * calibration.slopes.mean()  # in the units of log-odds
    return replace(decoder, values=scaled, offset=prior + bonus)


def _calibrated_values(margins, values, slope, intercept):
    return values(margins) * slope + intercept


@dataclass(frozen=True)
class NamedSets(Decoder):
    """Each block names its best labels; they are counted or united."""

    parts: Sequence[tuple] = field(default=(), repr=False)
    """(labels, index, decoder) of each block."""
    counted: bool = False

    scores_given = False

    def top_k(self, margins: np.ndarray, index: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k), best first, padded with -1 and -inf; `index` is not used."""
        rows, labels, scores = self._united(margins)
        order = np.lexsort((labels, -scores, rows))
        rows, labels, scores = rows[order], labels[order], scores[order]
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        kept = place < k
        ids = np.full((len(margins), k), -1, np.int64)
        values = np.full((len(margins), k), -np.inf, np.float32)
        ids[rows[kept], place[kept]] = labels[kept]
        values[rows[kept], place[kept]] = scores[kept]
        return ids, values

    def scores(self, margins: np.ndarray, A: sp.csr_array) -> np.ndarray:
        """(n, d) float32, -inf for labels that no block names."""
        out = np.full((len(margins), A.shape[1]), -np.inf, np.float32)
        rows, labels, scores = self._united(margins)
        out[rows, labels] = scores
        return out

    def _united(self, margins):
        """(rows, labels, scores) of all labels named, each once a row."""
        d, first = len(self.scale), 0
        keys, found = [], []
        for labels, index, decoder in self.parts:
            own = np.ascontiguousarray(margins[:, first : first + index.n_groups])
            first += index.n_groups
            ids, scores = search(decoder.values(own), index, decoder, min(N_BEST, index.n_labels))
            rows, place = np.nonzero(ids >= 0)
            keys.append(rows * d + labels[ids[rows, place]])
            found.append(scores[rows, place])
        key, which = np.unique(np.concatenate(keys), return_inverse=True)
        best = np.full(len(key), -np.inf, np.float32)
        np.maximum.at(best, which, np.concatenate(found))
        if self.counted:  # ties by the best score, squeezed into [0, 1)
            best = np.bincount(which, minlength=len(key)) + (1 + best / (1 + np.abs(best))) / 2
        return key // d, key % d, best.astype(np.float32)


def _block_decoders(layout, name, label_counts, options):
    parts = []
    for A, labels in zip(layout.groups, layout.labels):
        decoder = DECODERS[name](A, label_counts[labels], **options)
        if name in VOTES:
            decoder = replace(decoder, floor=1.0)
        parts.append((labels, LabelIndex(A), decoder))
    return parts
