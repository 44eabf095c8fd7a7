"""scikit-learn estimators: they validate, then compose the stages."""

from .flat import MLGTClassifier

ESTIMATORS = {"MLGTClassifier": MLGTClassifier}

__all__ = ["ESTIMATORS", "MLGTClassifier"]
