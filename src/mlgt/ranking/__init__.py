"""Candidates of the matcher -> a better order: one small linear classifier per label (ours)."""

from .blend import BEFORE_BLENDS, ONE_VS_ALL, Blend, evidence, learn_blend
from .centroids import CentroidIndex, are_light, label_centroids
from .cooccurrence import Companions
from .logistic import logistic
from .ranker import LabelRanker, train_ranker, training_pairs
from .shortlist import by_frequency, shortlist

__all__ = [
    "BEFORE_BLENDS",
    "ONE_VS_ALL",
    "Blend",
    "CentroidIndex",
    "Companions",
    "LabelRanker",
    "are_light",
    "by_frequency",
    "evidence",
    "label_centroids",
    "learn_blend",
    "logistic",
    "shortlist",
    "train_ranker",
    "training_pairs",
]
