"""A model folder -> the fitted estimator it was saved from."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..model.fitted import FittedModel
from ..model.reading import read_model, report_bad_header
from .flat import MLGTClassifier
from .hierarchical import HierarchicalMLGTClassifier
from .tagger import TextTagger

ESTIMATORS = {"MLGTClassifier": MLGTClassifier, "HierarchicalMLGTClassifier": HierarchicalMLGTClassifier}


def load(path: str | os.PathLike[str], *, digest: str | None = None) -> Any:
    """Read a model folder.

    Parameters
    ----------
    path : str or path
        A folder that `save` or `mlgt train` wrote.
    digest : str, default=None
        The digest that the model must have, as `mlgt inspect` shows it.

    Returns
    -------
    MLGTClassifier, HierarchicalMLGTClassifier or TextTagger
        The fitted estimator.

    Raises
    ------
    mlgt.errors.ModelFileError
        If the folder is missing, incomplete, altered or of an unknown version.
    """
    return restore_estimator(path, *read_model(path, digest))


def restore_estimator(path: str | os.PathLike[str], header: Mapping[str, Any], model: FittedModel) -> Any:
    """The estimator of a header and a model that were read from `path`."""
    with report_bad_header(path):
        rows_model = replace(model, features=None, columns=None)
        classifier = ESTIMATORS[header["class"]]._from_model(header["params"], rows_model)
        return (
            classifier
            if model.features is None
            else TextTagger._from_model(header["text"], classifier, model)
        )
