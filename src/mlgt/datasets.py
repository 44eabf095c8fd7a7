"""`mlgt.datasets` is `mlgt.data.datasets`."""

from .data.datasets import ENVIRONMENT, Debtags, Split, load, load_debtags

__all__ = ["ENVIRONMENT", "Debtags", "Split", "load", "load_debtags"]
