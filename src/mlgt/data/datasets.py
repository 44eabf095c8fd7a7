"""Data sets by name: folders with `train.txt.gz` and `test.txt.gz` (see `data.xmc` for the format), and
Debian's debtags, which ship with mlgt (`embedded/README.md` says what they are)."""

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
import scipy.sparse as sp

from .._core.errors import DataFormatError
from ..text import smooth_idf, tf_idf
from . import Dataset, read_xmc

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


@dataclass(frozen=True, eq=False)
class Debtags:
    """Debian's packages: the words of their descriptions and their tags.

    X (n, p) holds TF-IDF values, rows of length 1; Y (n, d) the tags. Column j of X is the word
    `words[j]`, column l of Y the tag `tags[l]`, row i of `train` the package `train_packages[i]`.
    `train, test = load_debtags()` unpacks the two sides.
    """

    train: Dataset
    test: Dataset
    words: list[str] = field(repr=False)
    tags: list[str] = field(repr=False)
    train_packages: list[str] = field(repr=False)
    test_packages: list[str] = field(repr=False)
    provenance: dict[str, Any]  # Debian's release, its date, the checksums of its index

    def __iter__(self) -> Iterator[Dataset]:
        return iter((self.train, self.test))


def load_debtags() -> Debtags:
    """Load the data set that ships with mlgt: package descriptions -> tags such as `role::program`.

    No package of the test side is built from a source on the training side. Rows are in the order of
    the packages' names: shuffle before taking a sample.
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

    def rows(ids, ids_per_row, columns, values=1):
        return _csr(stored[ids], stored[ids_per_row], values, len(columns))

    words, tags = names("words"), names("tags")
    counts = rows("train_word_ids", "train_words_per_row", words, stored["train_word_counts"])
    test_counts = rows("test_word_ids", "test_words_per_row", words, stored["test_word_counts"])
    idf = smooth_idf(counts)
    return Debtags(
        train=Dataset(tf_idf(counts, idf), rows("train_tag_ids", "train_tags_per_row", tags)),
        test=Dataset(tf_idf(test_counts, idf), rows("test_tag_ids", "test_tags_per_row", tags)),
        words=words,
        tags=tags,
        train_packages=names("train_packages"),
        test_packages=names("test_packages"),
        provenance=json.loads(stored["provenance"].tobytes()),
    )


def _csr(ids, ids_per_row, values, n_columns):
    """(n, n_columns) float32 rows from the ids in them, `ids_per_row` at a time, and their values."""
    indptr = np.concatenate([[0], np.cumsum(ids_per_row, dtype=np.int32)], dtype=np.int32)
    data = np.full(ids.shape, values, dtype=np.float32)
    return sp.csr_array((data, ids.astype(np.int32), indptr), shape=(len(ids_per_row), n_columns))
