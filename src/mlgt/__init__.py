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
    "keep_work": "tasks",
    "load": "estimators",
    "metrics": None,
    "data": None,
    "datasets": None,
    "on_cluster": "tasks",
}

__all__ = [
    "HierarchicalMLGTClassifier",
    "MLGTClassifier",
    "Predictor",
    "TextTagger",
    "__version__",
    "data",
    "datasets",
    "keep_work",
    "load",
    "metrics",
    "on_cluster",
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
