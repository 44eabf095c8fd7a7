"""scikit-learn estimators: they validate, then compose the stages."""

from .flat import MLGTClassifier
from .hierarchical import HierarchicalMLGTClassifier
from .tagger import TextTagger

ESTIMATORS = {
    "MLGTClassifier": MLGTClassifier,
    "HierarchicalMLGTClassifier": HierarchicalMLGTClassifier,
}

__all__ = ["ESTIMATORS", "HierarchicalMLGTClassifier", "MLGTClassifier", "TextTagger"]
