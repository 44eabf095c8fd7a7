"""Candidates of the matcher -> a better order: one small linear classifier per label (ours)."""

from .blend import ONE_VS_ALL, Blend, Candidates, learn_blend
from .centroids import CentroidIndex, are_light, label_centroids
from .cooccurrence import CooccurrenceShares
from .logistic import logistic
from .names import LabelNames, NameIndex
from .order import Order
from .pairs import training_pairs
from .ranker import LabelRanker, train_ranker
from .rest import Rest, below
from .shortlist import insert, shortlist
from .train import RankerSettings, Ranking, train_ranking

__all__ = [
    "ONE_VS_ALL",
    "Blend",
    "Candidates",
    "CentroidIndex",
    "CooccurrenceShares",
    "LabelNames",
    "LabelRanker",
    "NameIndex",
    "Order",
    "RankerSettings",
    "Ranking",
    "Rest",
    "are_light",
    "below",
    "insert",
    "label_centroids",
    "learn_blend",
    "logistic",
    "shortlist",
    "train_ranker",
    "train_ranking",
    "training_pairs",
]
