"""Candidates of the matcher -> a better order: one small linear classifier per label (ours)."""

from .blend import ONE_VS_ALL, Blend, evidence, learn_blend
from .centroids import CentroidIndex, are_light, label_centroids
from .cooccurrence import CooccurrenceShares
from .logistic import logistic
from .ranker import LabelRanker, train_ranker, training_pairs
from .rest import Rest, below, matcher_total
from .shortlist import INDEXED_LABELS, shortlist
from .train import RankerSettings, Ranking, train_ranking

__all__ = [
    "INDEXED_LABELS",
    "ONE_VS_ALL",
    "Blend",
    "CentroidIndex",
    "CooccurrenceShares",
    "LabelRanker",
    "RankerSettings",
    "Ranking",
    "Rest",
    "are_light",
    "below",
    "evidence",
    "label_centroids",
    "learn_blend",
    "logistic",
    "matcher_total",
    "shortlist",
    "train_ranker",
    "train_ranking",
    "training_pairs",
]
