"""The command `mlgt`: one module per verb. Heavy modules are imported only by the verb that runs."""

from .main import main

__all__ = ["main"]
