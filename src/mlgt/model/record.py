"""What a fitted model has beside its parts: its blocks, what is known of its training, how it judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..blocks import Calibration, Layout
from ..labels.partition import Partition
from ..ranking import Blend


@dataclass(frozen=True)
class BlockStructure:
    """Which labels and groups are in which block, and how their scores are combined."""

    partition: Partition
    groups: Sequence[sp.csr_array]  # (m_i, d_i) each
    combination: str
    calibration: Calibration | None = None
    column_weights: Sequence[int | None] = ()
    n_rows: Sequence[int] = ()
    """Training rows of each block."""

    @cached_property
    def layout(self) -> Layout:
        labels = [self.partition.labels(i) for i in range(self.partition.n_blocks)]
        return Layout(self.groups, labels, self.partition.n_labels)


@dataclass(frozen=True)
class TrainingRecord:
    """What is known of the training; prediction does not need it."""

    C: float = 1.0
    column_weight: int | None = None
    column_weight_losses: Mapping[int, float] | None = None
    reproducible: bool = True
    tried: Mapping[tuple[float, float], float] = field(default_factory=dict)
    """nDCG@5 by (power, C), in the order tried."""
    held_out: Mapping[str, Any] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why each automatic setting was chosen, by parameter."""


@dataclass(frozen=True)
class Judgement:
    """Log-odds (n, K) of labels and their evidence: logits = blend.combine(evidence)."""

    logits: np.ndarray
    blend: Blend
    evidence: dict[str, np.ndarray]
