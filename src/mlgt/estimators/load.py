"""A model folder -> the fitted estimator it was saved from."""

import os
from dataclasses import replace
from typing import Any

from ..model.files import read_model, report_bad_header
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
    header, model = read_model(path, digest)
    with report_bad_header(path):
        rows_model = replace(model, features=None, columns=None)
        classifier = ESTIMATORS[header["class"]]._from_model(header["params"], rows_model)
        return (
            classifier
            if model.features is None
            else TextTagger._from_model(header["text"], classifier, model)
        )
