"""The data of an experiment: data sets by name with checksums, or a small sample of Debian's debtags."""

import os
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.rows import scale_rows
from mlgt._core.sparse import canonical
from mlgt.data import Dataset, write_xmc
from mlgt.data.datasets import ENVIRONMENT, Split, load, load_debtags

from ..evidence.record import sha256

SAMPLE = "debtags sample"
DEBTAGS = "Debian-debtags"
STAND_IN = "-synth"
"""The ending of the names of stand-ins: `mlgt synth DATA/RCV1x-synth --preset rcv1x` and so on."""


class Data:
    """Data sets below `folder` (default: MLGT_DATA), rows of length 1. With `quick` all are the sample.

    With `quiet`, experiments on them report no progress. `keep` is a folder for answers of systems.
    """

    def __init__(self, folder=None, quick=False, quiet=False, keep=None):
        self.folder: Any = folder or os.environ.get(ENVIRONMENT)
        self.quick, self.quiet, self.keep = quick, quiet, keep
        self.checksums = {}
        self._loaded = {}

    def available(self, names: Iterable[str]) -> list[str]:
        """The data sets to run among `names`; stand-ins that do not exist are left out."""
        if self.quick:
            return [SAMPLE]
        for name in names:
            if not name.endswith(STAND_IN) and name != DEBTAGS and not self._has(name):
                raise FileNotFoundError(
                    f"there is no data set {name} in {self.folder!r}: expected a folder {name} with "
                    f"train.txt.gz and test.txt.gz below --data DIR or the environment variable "
                    f"{ENVIRONMENT}. With --quick a sample that comes with mlgt is used."
                )
        return [name for name in names if name == DEBTAGS or self._has(name)]

    def load(self, name: str) -> Split:
        """Train and test of one data set."""
        if name not in self._loaded:
            self._loaded = {name: self._read(name)}  # one at a time
        return self._loaded[name]

    def files(self, name: str, folder: str | Path) -> list[Path]:
        """(train, test) of one data set as files: its own, or written to `folder` if it comes with mlgt."""
        split, paths = self.load(name), []
        for part, rows in zip(("train", "test"), split):
            own = [] if name in (SAMPLE, DEBTAGS) else _files(Path(self.folder) / name, part)
            paths.append(own[0].resolve() if own else Path(folder) / f"{part}.txt")
            if not own:
                write_xmc(paths[-1], rows.X, rows.Y)
        return paths

    def _has(self, name):
        return self.folder is not None and (Path(self.folder) / name).is_dir()

    def _read(self, name):
        split: Any
        if name == SAMPLE:
            split = debtags_sample()
        else:
            split = load_debtags() if name == DEBTAGS else load(Path(self.folder) / name)
        self.checksums[name] = _checksums(None if name in (SAMPLE, DEBTAGS) else Path(self.folder) / name)
        return Split(*(Dataset(scale_rows(canonical(part.X, np.float32)), part.Y) for part in split))


@cache
def debtags_sample(
    n_train: int = 600, n_test: int = 200, n_labels: int = 60, n_words: int = 800, seed: int = 0
) -> Split:
    """A part of Debian's debtags that trains in a moment: its most frequent labels and words."""
    data = load_debtags()
    labels = np.argsort(-data.train.Y.sum(axis=0), kind="stable")[:n_labels]
    words = np.argsort(-np.bincount(data.train.X.indices), kind="stable")[:n_words]
    rng = np.random.default_rng(seed)
    parts = []
    for part, n in ((data.train, n_train), (data.test, n_test)):
        rows = np.sort(rng.choice(part.X.shape[0], n, replace=False))
        X, Y = sp.csr_array(part.X[rows][:, words]), sp.csr_array(part.Y[rows][:, labels])
        parts.append(Dataset(canonical(X), canonical(Y)))
    return Split(*parts)


def _checksums(folder):
    if folder is None:
        with resources.as_file(resources.files("mlgt.data") / "embedded" / "debtags.npz") as file:
            return {"embedded": sha256(file)}
    files = [file for part in ("train", "test") for file in _files(folder, part)]
    return {file.name: sha256(file) for file in files}


def _files(folder, part):
    """[the file of rows], or none."""
    return sorted(folder.glob(f"{part}.txt*"))[:1]
