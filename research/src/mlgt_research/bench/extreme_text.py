"""extremeText: fastText's word vectors below a probabilistic label tree; words without their values."""

from importlib import import_module
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from .fast_text import FastText, write_input
from .trained import Trained

__all__ = ["extreme_text", "write_input"]


def extreme_text(
    X: sp.csr_array, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    """extremeText has no seed."""
    extreme = import_module("extremeText")
    settings = {"thread": threads, "verbose": 0, **options}
    return FastText(extreme.train_supervised(str(folder / "train.txt"), **settings))
