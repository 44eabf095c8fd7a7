"""The command `mlgt`: one module per verb. Only the verb that runs imports what is heavy."""

from .main import main

__all__ = ["main"]
