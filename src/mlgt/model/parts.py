"""The parts of a fitted model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.ids import KnownIds
from ..decoding import LabelIndex
from ..groups.saffron import SaffronDesign
from ..ranking import Blend, CentroidIndex, CooccurrenceShares, LabelRanker, NameIndex, Rest
from ..ranking.sets import best_sets
from ..text import FeatureWords, TextFeatures
from ..vocabulary import Vocabulary
from .record import BlockStructure, TrainingRecord
from .sample import Sample


@dataclass(frozen=True)
class ModelParts:
    """All that prediction needs, and facts that follow from it."""

    classifiers: Any
    """`margins(X)` of rows scaled as in training -> (n, m)."""
    classes: np.ndarray
    """Names of all labels, or ids of those that are known."""
    label_counts: np.ndarray  # (d,) training rows of each known label
    n_rows: int  # training rows
    n_features: int  # of the caller's rows
    known_labels: KnownIds | None = None
    """The labels that are known; None if no id is left out. Scoring has positions, callers have ids."""
    known_features: KnownIds | None = None
    groups: Any = None  # (m, d) CSR; None for those of a design, made on demand
    index: LabelIndex | None = None
    """Search structure of the groups; None makes it on demand."""
    design: SaffronDesign | None = None
    feature_names: list[str] | None = None
    vocabulary: Vocabulary | None = None
    """The labels with their ids and further names, in the order of `classes`."""
    normalize: bool = True
    power: float = 1.0
    decoder_name: str = "soft"
    decoder_params: Mapping[str, Any] = field(default_factory=dict)
    ranker: LabelRanker | None = None
    centroids: CentroidIndex | None = None
    cooccurrence: CooccurrenceShares | None = None
    name_index: NameIndex | None = None
    """Names of labels, if they are evidence."""
    blend: Blend | None = None
    final_blend: Blend | None = None
    """The blend with the support of co-occurring labels."""
    rest: Rest | None = None
    """The log-odds of labels beyond the candidates; None is as the blend has it."""
    n_candidates: int = 0
    candidate_prior: float = 0.0
    """Weight of the label prior where candidates are chosen for a ranker."""
    tail: float = 0.0
    """Above 0, ranks by log p + tail log(inverse propensity); 1 is the expected gain in PSP@k."""
    blocks: BlockStructure | None = None
    feature_words: FeatureWords | None = None
    """The words of names among the features, for rows that are no texts."""
    features: TextFeatures | None = None
    """Texts -> rows."""
    columns: dict[str, Any] | None = None
    """Where the training file had texts and labels."""
    record: TrainingRecord = field(default_factory=TrainingRecord)
    sample: Sample | None = None
    """Rows that are kept to teach and check the model."""

    @property
    def n_labels(self) -> int:
        """Number of label ids, known or not: columns of the caller's Y."""
        return len(self.label_counts) if self.known_labels is None else self.known_labels.total

    @property
    def names(self) -> np.ndarray | None:
        """Names of all labels, or None if they have only ids."""
        return None if self.classes.dtype.kind == "i" else self.classes

    @property
    def returned_as(self) -> np.ndarray | None:
        """(d,) the label that each one is returned as, or -1; None if each is returned as itself."""
        return None if self.vocabulary is None else self.vocabulary.returned_as

    @property
    def A(self) -> sp.csr_array:
        """The group matrix (m, d)."""
        return self.groups if self.design is None else self.design.A

    @cached_property
    def label_index(self) -> LabelIndex:
        return LabelIndex(self.A) if self.index is None else self.index

    @property
    def n_groups(self) -> int:
        return self.groups.shape[0] if self.design is None else self.design.n_groups

    def sets(self, labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """The labels that are predicted of lists (n, k) of the caller's ids, best first; -1 elsewhere.

        These are the sets with the largest expected F1. The blend of the evidence was not learnt with
        labels that came after training: they are predicted only where they are sure (`Sample.bars`).
        """
        if self.sample is None:
            return best_sets(labels, logits)
        later = self.sample.later
        later = later if self.known_labels is None else self.known_labels.to_ids(later)
        return best_sets(labels, logits, later, self.sample.bars)
