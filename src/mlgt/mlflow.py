"""Models of mlgt in MLflow: `pip install "mlgt[mlflow]"`.

    mlgt.mlflow.save_model(tagger, "tags")                  # or log_model(tagger, "tags") in a run
    served = mlflow.pyfunc.load_model("tags")
    served.predict(["a text"], params={"k": 3})             # a data frame: labels, probabilities
    tagger = mlgt.mlflow.load_model("tags")                 # the estimator again

What MLflow stores is the model folder of mlgt: arrays and JSON, no pickle. The "python_function" flavour
needs nothing but `mlgt` where it is loaded.
"""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._version import __version__
from .estimators import load
from .model.predictor import Predictor

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR_NAME = "mlgt"
FOLDER = "model"
"""Name of the model folder inside the folder of MLflow."""


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a model to a folder in the format of MLflow.

    Parameters
    ----------
    model : TextTagger, MLGTClassifier or HierarchicalMLGTClassifier
        A fitted estimator.
    path : str or path
        A folder that does not exist yet.
    mlflow_model : mlflow.models.Model, default=None
        The description to add the flavours to; `log_model` passes it.
    signature : mlflow.models.ModelSignature, default=None
        Inputs, outputs and parameters; None describes what mlgt knows of them.
    input_example : object, default=None
        An example of the input that MLflow keeps beside the model.
    pip_requirements : list of str, default=None
        What the model needs; None is this version of mlgt.
    metadata : dict, default=None
        Further entries of the description.
    """
    from mlflow import pyfunc
    from mlflow.models import Model

    description = Model() if mlflow_model is None else mlflow_model
    description.add_flavor(FLAVOR_NAME, mlgt_version=__version__, data=f"data/{FOLDER}")
    with tempfile.TemporaryDirectory(prefix="mlgt-") as temporary:
        data = Path(temporary) / FOLDER
        model.save(data)
        pyfunc.save_model(
            os.fspath(path),
            loader_module=__name__,
            data_path=os.fspath(data),
            mlflow_model=description,
            signature=_signature(model) if signature is None else signature,
            input_example=input_example,
            pip_requirements=pip_requirements or [f"mlgt=={__version__}"],
            metadata=metadata,
        )


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a model to the active run of MLflow, which is started if there is none.

    Parameters
    ----------
    model : TextTagger, MLGTClassifier or HierarchicalMLGTClassifier
        A fitted estimator.
    name : str, default="model"
        The name of the model in the run.
    **options : object
        Options of `save_model` and of `mlflow.models.Model.log`, such as `registered_model_name`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        What MLflow knows of the model, with its `model_uri`.
    """
    import sys

    import mlflow
    from mlflow.models import Model

    named = {"artifact_path": name} if int(mlflow.__version__.split(".")[0]) < 3 else {"name": name}
    return Model.log(
        **{"artifact_path": None, **named}, flavor=sys.modules[__name__], model=model, **options
    )


def load_model(model_uri: str | os.PathLike[str]) -> Any:
    """Load the estimator of a model that `save_model` or `log_model` wrote.

    Parameters
    ----------
    model_uri : str or path
        A folder, or an address such as "runs:/.../model" or "models:/tags/1".

    Returns
    -------
    TextTagger, MLGTClassifier or HierarchicalMLGTClassifier
        The estimator.
    """
    from mlflow.artifacts import download_artifacts
    from mlflow.models import Model

    folder = Path(download_artifacts(os.fspath(model_uri)))
    flavors = Model.load(os.fspath(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(
            f"{model_uri} is no model of mlgt: its flavours are {', '.join(flavors)}; expected one that "
            "mlgt.mlflow wrote. mlflow.pyfunc.load_model loads models of all kinds."
        )
    return load(folder / flavors[FLAVOR_NAME]["data"])


def _load_pyfunc(path: str) -> "_Served":
    """Load the model for `mlflow.pyfunc`, which calls this."""
    return _Served(Predictor(path))


class _Served:
    """What `mlflow.pyfunc.load_model` wraps."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> "pd.DataFrame":
        """Return labels and probabilities, best first; k in `params` is their number, 0 for "auto"."""
        import pandas as pd

        model = self.predictor.fitted_model()
        k: Any = int((params or {}).get("k", 5))
        if k < 0:
            raise ValueError(f"k={k} labels; expected 0 (as many as fit each row) or more.")
        k = min(k, len(model.label_counts)) or "auto"
        if self.predictor.features_ is not None:
            found = self.predictor.tag(_texts(model_input), k)
        else:
            found = model.named(*self.predictor.best(model_input, k))
        index = model_input.index if isinstance(model_input, pd.DataFrame) else None
        columns = {"labels": [[name for name, _ in row] for row in found]}
        columns["probabilities"] = [[float(value) for _, value in row] for row in found]
        return pd.DataFrame(columns, index=index)

    def get_raw_model(self) -> Predictor:
        """Return the predictor."""
        return self.predictor


def _texts(model_input: Any) -> list[str]:
    """Return the texts of what MLflow passes: a data frame, an array or a list."""
    if hasattr(model_input, "columns"):
        if len(model_input.columns) != 1:
            raise ValueError(
                f"There are the columns {', '.join(map(str, model_input.columns))}; expected one column "
                "with the texts. Join them as in training."
            )
        model_input = model_input.iloc[:, 0]
    return [model_input] if isinstance(model_input, str) else list(np.asarray(model_input, object).ravel())


def _signature(model: Any) -> Any:
    """Return inputs and outputs; without inputs for a model of rows, which may be sparse."""
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema
    from mlflow.types.schema import Array

    params = ParamSchema([ParamSpec("k", DataType.long, 5)])
    if getattr(model, "features_", None) is None:
        return ModelSignature(params=params)
    answers = {"labels": DataType.string, "probabilities": DataType.double}
    outputs = Schema([ColSpec(Array(kind), name) for name, kind in answers.items()])
    return ModelSignature(inputs=Schema([ColSpec(DataType.string)]), outputs=outputs, params=params)
