"""Annif with the backend `mlgt`, until Annif has it itself.

Importing this package registers the backend, also in processes that the command starts.
"""

from typing import Any

from annif.backend import _backend_fns


def _mlgt() -> Any:
    from . import backend

    return backend.MLGTBackend


_backend_fns.setdefault("mlgt", _mlgt)


def create_app(*args: Any, **kwargs: Any) -> Any:
    """Return Annif's web application: `uvicorn --factory mlgt_annif:create_app`."""
    import annif

    return annif.create_app(*args, **kwargs)
