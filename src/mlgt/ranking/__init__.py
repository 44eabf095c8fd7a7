"""Candidates of the matcher -> a better order: one small linear classifier per label (ours)."""

from .blend import ONE_VS_ALL, Blend, Candidates, learn_blend
from .centroids import CentroidIndex, are_light, label_centroids
from .cooccurrence import CooccurrenceShares
from .logistic import logistic
from .names import NameIndex, name_centroids
from .ranker import LabelRanker, train_ranker, training_pairs
from .shortlist import INDEXED_LABELS, append, shortlist
from .train import RankerSettings, Ranking, train_ranking

__all__ = [
    "INDEXED_LABELS",
    "ONE_VS_ALL",
    "Blend",
    "Candidates",
    "CentroidIndex",
    "CooccurrenceShares",
    "LabelRanker",
    "NameIndex",
    "RankerSettings",
    "Ranking",
    "append",
    "are_light",
    "label_centroids",
    "learn_blend",
    "logistic",
    "name_centroids",
    "shortlist",
    "train_ranker",
    "train_ranking",
    "training_pairs",
]
