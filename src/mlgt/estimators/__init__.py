"""The scikit-learn face: estimators that resolve settings, compose the stages and store the fitted
model."""

from .flat import MLGTClassifier
from .hierarchical import HierarchicalMLGTClassifier
from .load import load
from .methods import METHODS, make_estimator
from .tagger import TextTagger

__all__ = [
    "METHODS",
    "HierarchicalMLGTClassifier",
    "MLGTClassifier",
    "TextTagger",
    "load",
    "make_estimator",
]
