"""Data sets by name: folders with `train.txt.gz` and `test.txt.gz` (`mlgt.data.xmc` has the format), and
Debian's debtags, which ship with mlgt (see `embedded/README.md`)."""

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._core.csr import make_csr
from .._core.errors import DataFormatError
from .._core.files import PathLike
from ..text import smooth_idf, tf_idf
from . import Dataset, read_xmc

ENVIRONMENT = "MLGT_DATA"
"""Environment variable with the folder of the data sets."""


class Split(NamedTuple):
    """The training and the test rows of one data set."""

    train: Dataset
    test: Dataset


def load(name_or_folder: PathLike) -> Split:
    """Read a data set from a folder.

    Parameters
    ----------
    name_or_folder : str or path-like
        Folder with train.txt.gz and test.txt.gz (or train.txt and test.txt), or the name of such a folder
        below the one that the environment variable MLGT_DATA names.

    Returns
    -------
    Split
        Training and test rows; unpack them with `train, test = load(...)`.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or one of the files is missing.
    """
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


@dataclass(frozen=True, eq=False)
class Debtags:
    """Debian's packages: the words of their descriptions and their tags.

    `train, test = load_debtags()` unpacks the two sides.
    """

    train: Dataset
    test: Dataset
    words: list[str] = field(repr=False)
    tags: list[str] = field(repr=False)
    train_packages: list[str] = field(repr=False)
    test_packages: list[str] = field(repr=False)
    provenance: dict[str, Any]

    def __iter__(self) -> Iterator[Dataset]:
        return iter((self.train, self.test))


def load_debtags() -> Debtags:
    """Load the data set that ships with mlgt: package descriptions and tags such as `role::program`.

    No test package is built from the same source as a training package. Rows are sorted by the names of
    the packages: shuffle them before taking a sample.

    Returns
    -------
    Debtags
        Training and test rows, with the names of words, tags and packages.

    Raises
    ------
    DataFormatError
        If the embedded file is damaged or missing.

    Examples
    --------
    >>> from mlgt.datasets import load_debtags
    >>> data = load_debtags()
    >>> data.train.Y.shape
    (23714, 554)
    >>> train, test = data
    >>> [data.tags[l] for l in train.Y[[0]].indices[:2]]
    ['game::strategy', 'interface::graphical']
    """
    file = resources.files("mlgt.data") / "embedded" / "debtags.npz"
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            stored = {name: archive[name] for name in archive.files}
        return _decode_debtags(stored)
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise DataFormatError(
            f"{file} cannot be read ({error}): the data set comes with mlgt. Install mlgt again."
        ) from error


def _decode_debtags(stored) -> Debtags:
    def names(key):
        return stored[key].tobytes().decode("utf-8").split("\n")

    def rows(side, kind, columns, values=1):
        """Rows with 1 or the given values in the columns of their ids."""
        ids = stored[f"{side}_{kind}_ids"].astype(np.int32)
        indptr = np.concatenate([[0], np.cumsum(stored[f"{side}_{kind}s_per_row"], dtype=np.int64)])
        return make_csr(np.full(ids.shape, values, dtype=np.float32), ids, indptr, len(columns))

    words, tags = names("words"), names("tags")
    counts, test_counts = (rows(s, "word", words, stored[f"{s}_word_counts"]) for s in ("train", "test"))
    idf = smooth_idf(counts)
    return Debtags(
        train=Dataset(tf_idf(counts, idf), rows("train", "tag", tags)),
        test=Dataset(tf_idf(test_counts, idf), rows("test", "tag", tags)),
        words=words,
        tags=tags,
        train_packages=names("train_packages"),
        test_packages=names("test_packages"),
        provenance=json.loads(stored["provenance"].tobytes()),
    )
