"""Candidates of the matcher -> a better order: one small linear classifier per label (ours)."""

from .blend import BEFORE_BLENDS, ONE_VS_ALL, Blend, evidence, learn_blend
from .company import Companions
from .logistic import logistic
from .ranker import LabelRanker, train_ranker, training_pairs

__all__ = [
    "BEFORE_BLENDS",
    "ONE_VS_ALL",
    "Blend",
    "Companions",
    "LabelRanker",
    "evidence",
    "learn_blend",
    "logistic",
    "train_ranker",
    "training_pairs",
]
