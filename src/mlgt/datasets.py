"""Data sets by name: folders with `train.txt.gz` and `test.txt.gz` (see `data.xmc` for the format)."""

import os
from pathlib import Path
from typing import NamedTuple

from .data import Dataset, read_xmc

ENVIRONMENT = "MLGT_DATA"
"""The environment variable that names the folder of the data sets."""


class Split(NamedTuple):
    """The training and the test rows of one data set."""

    train: Dataset
    test: Dataset


def load(name_or_folder) -> Split:
    """Read a data set: a folder, or the name of one below the folder that MLGT_DATA names."""
    folder = Path(name_or_folder)
    if not folder.is_dir() and os.environ.get(ENVIRONMENT):
        folder = Path(os.environ[ENVIRONMENT]) / name_or_folder
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no data set {str(name_or_folder)!r}: expected a folder with train.txt.gz and "
            f"test.txt.gz, or the name of one below the folder that the environment variable "
            f"{ENVIRONMENT} names (now {os.environ.get(ENVIRONMENT)!r})."
        )
    return Split(*(read_xmc(_part(folder, part)) for part in ("train", "test")))


def _part(folder, part):
    for ending in (".txt.gz", ".txt"):
        if (folder / (part + ending)).is_file():
            return folder / (part + ending)
    raise FileNotFoundError(f"{folder} has no {part}.txt.gz and no {part}.txt.")
