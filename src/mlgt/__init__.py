"""mlgt: extreme multilabel classification by group testing.

    labels -> co-occurrence graph -> blocks -> groups -> group classifiers -> group scores -> decoded labels

Names below are imported when first used, so that `import mlgt` is light.
"""

from ._version import __version__

_NAMES = {
    "HierarchicalMLGTClassifier": "estimators",
    "MLGTClassifier": "estimators",
    "Predictor": "model.predictor",
    "TextTagger": "estimators",
    "load": "estimators",
    "metrics": None,
    "data": None,
    "datasets": None,
}

__all__ = [
    "HierarchicalMLGTClassifier",
    "MLGTClassifier",
    "Predictor",
    "TextTagger",
    "__version__",
    "data",
    "datasets",
    "load",
    "metrics",
]


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(f"module 'mlgt' has no attribute {name!r}")
    from importlib import import_module

    home = _NAMES[name]
    if home is None:
        return import_module(f".{name}", __name__)
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
