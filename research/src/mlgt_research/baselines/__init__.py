"""What the paper compares with: one-vs-all, and compressed sensing of labels (MLCS)."""

from .mlcs import MLCSClassifier
from .one_vs_all import OneVsAllClassifier

__all__ = ["MLCSClassifier", "OneVsAllClassifier"]
