"""Candidates of the matcher -> a better order: one small linear classifier per label (ours)."""

from .ranker import LabelRanker, blend, train_ranker, training_pairs

__all__ = ["LabelRanker", "blend", "train_ranker", "training_pairs"]
