"""Models that are served, each under the name of its folder, and replaced while they are in use."""

import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import MLGTError
from ..model.header import HEADER
from ..model.predictor import Predictor
from .answers import Answer, Found
from .errors import unfit
from .labels import LabelSearch
from .parsing import DEFAULT_K, Tagging

QUICK_SIZE, QUICK_LABELS = 12_000, 100
"""Characters, or entries of rows, and labels per text that take a few milliseconds."""
_FORBIDDEN = re.compile(r"[/\\\x00-\x1f\x7f]")


@dataclass(frozen=True, eq=False)
class ServedModel:
    """One model as it was read; a replaced model is another object, so answers under way stay whole."""

    name: str
    path: Path
    predictor: Predictor
    stamp: tuple[int, ...]
    """Distinguishes the header file of the folder from a later one."""
    read_at: float

    @classmethod
    def read(cls, name: str, path: Path) -> "ServedModel":
        """Read the model of a folder."""
        stamp = _stamp(path)  # before reading, so that a change meanwhile is seen
        return cls(name, path, Predictor(path), stamp, time.time())

    def is_current(self) -> bool:
        """Return whether the folder still holds this model, or none that could be read instead."""
        return _stamp(self.path) in (self.stamp, ())

    @property
    def of_texts(self) -> bool:
        """True if the model takes texts, False if rows."""
        return self.predictor.features_ is not None

    @property
    def value(self) -> str:
        """What the number beside a label is."""
        return "probability" if self.predictor.calibrated_ else "score"

    @property
    def n_known(self) -> int:
        """Labels that can be returned."""
        return len(self.predictor.fitted_model().label_counts)

    @cached_property
    def search(self) -> LabelSearch:
        """The index of the names of labels; computed at first use."""
        return LabelSearch(self.predictor)

    def facts(self) -> dict[str, Any]:
        """Return what a client should know of the model."""
        predictor, columns = self.predictor, self.predictor.columns_ or {}
        vocabulary = predictor.fitted_model().vocabulary
        return {
            "name": self.name,
            "takes": "texts" if self.of_texts else "rows",
            "value": self.value,
            "labels": int(predictor.n_labels_),
            "features": int(predictor.n_features_in_),
            "training_rows": int(predictor.n_rows_),
            "text_columns": list(columns.get("text", ["text"])),
            "label_column": columns.get("labels") or "labels",
            "label_separator": columns.get("separator") or ";",
            "language": None if vocabulary is None else vocabulary.language,
            "read_at": _iso(self.read_at),
        }

    def warm_up(self) -> None:
        """Compile or load every kernel that requests need."""
        row = np.zeros(1, np.int64), np.ones(1, np.float32)
        item = "a" if self.of_texts else row
        for call in (TagCall(self, 1), TagCall(self, 1, explain=True)):
            for count in (1, 2, 16):  # rows, few and many are computed differently
                call([item] * count)

    # A request for this model.

    def call(self, tagging: Tagging) -> "TagCall":
        """Return the call that answers items of a request; raise if this model cannot."""
        if tagging.of_texts != self.of_texts:
            takes, key = ("texts", "texts") if self.of_texts else ("rows of features", "rows")
            raise unfit(f'The model {self.name} takes {takes}; expected "{key}" in the request.')
        if self.value != "probability" and (tagging.k == "auto" or tagging.threshold is not None):
            what = 'k="auto"' if tagging.k == "auto" else '"threshold"'
            raise unfit(f"{what} needs probabilities, which {self.name} does not have; pass a number as k.")
        if not tagging.of_texts:
            self._check_rows(tagging.items)
        if tagging.among is not None:
            try:
                self.predictor.fitted_model().label_ids(tagging.among)
            except ValueError as error:
                raise unfit(str(error)) from None
        k = tagging.k
        if k is None:
            k = DEFAULT_K if tagging.threshold is None else self.predictor.n_candidates_
        k = k if isinstance(k, str) else min(k, self.n_known)
        return TagCall(self, k, tagging.threshold, tagging.among, tagging.explain)

    def _check_rows(self, rows):
        p = self.predictor.n_features_in_
        for i, (indices, _) in enumerate(rows):
            if len(indices) and indices.max() >= p:
                raise unfit(f"rows[{i}].indices has {indices.max()}; expected numbers below {p}.")


@dataclass(frozen=True)
class TagCall:
    """Texts or rows -> the best labels of each, by one model."""

    model: ServedModel
    k: int | str
    threshold: float | None = None
    among: tuple[str | int, ...] | None = None
    explain: bool = False

    def __call__(self, items: Sequence[Any]) -> list[Answer]:
        predictor, fitted = self.model.predictor, self.model.predictor.fitted_model()
        rows = predictor.features_(list(items)) if predictor.features_ is not None else self._rows(items)
        labels, values = fitted.best(rows, self.k, self.among)
        if self.threshold is not None:
            labels = np.where(values >= self.threshold, labels, -1)
        named = fitted.named(labels, values, with_ids=True)
        columns = [[label for label in row if label >= 0] for row in labels.tolist()]
        answers = [
            [Found(_plain(name), id, float(value), column) for (name, value, id), column in zip(row, own)]
            for row, own in zip(named, columns)
        ]
        return [self._explained(*pair) for pair in zip(items, answers)] if self.explain else answers

    def is_quick(self, items: Sequence[Any]) -> bool:
        """Return whether the answers take a few milliseconds."""
        if self.explain or self.among is not None or (isinstance(self.k, int) and self.k > QUICK_LABELS):
            return False
        return sum(len(item) if isinstance(item, str) else len(item[0]) for item in items) <= QUICK_SIZE

    def _rows(self, items):
        """Rows of a request as CSR; what stands twice in a row is added up."""
        p = self.model.predictor.n_features_in_
        if not items:
            return sp.csr_array((0, p), dtype=np.float32)
        indptr = np.cumsum([0, *(len(indices) for indices, _ in items)], dtype=np.int32)
        indices, values = (np.concatenate(part) for part in zip(*items))
        indices = indices.astype(np.int32)  # as kernels are compiled for
        rows = sp.csr_array((values, indices, indptr), shape=(len(items), p), dtype=np.float32)
        rows.sum_duplicates()
        return rows

    def _explained(self, item, answer):
        if not answer:
            return answer
        predictor = self.model.predictor
        row = item if isinstance(item, str) else self._rows([item])
        scores_given = predictor.fitted_model().decoder.scores_given
        wanted = [found.column for found in answer] if scores_given else None
        reasons = predictor.explain(row, len(answer), labels=wanted).labels
        by_label = {reason.label: reason for reason in reasons}
        return [
            found if (own := by_label.get(found.column)) is None else found.because(own.words, own.marks)
            for found in answer
        ]


class Models:
    """The models of a server by name.

    Parameters
    ----------
    folders : iterable of str or path
        Model folders; the last part of each path is the model's name.
    """

    def __init__(self, folders: Iterable[str | os.PathLike[str]]) -> None:
        self._models: dict[str, ServedModel] = {}
        self._failed: dict[str, tuple[int, ...]] = {}
        for folder in folders:
            path = Path(os.path.abspath(folder))
            if path.name in self._models:
                raise ValueError(
                    f"two models are called {path.name!r}, {self._models[path.name].path} and {path}; a "
                    "model is served under the name of its folder. Rename or link one of them."
                )
            if not path.name or _FORBIDDEN.search(path.name):
                raise ValueError(f"{folder} has no name that fits into an address; rename the folder.")
            self._models[path.name] = ServedModel.read(path.name, path)

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(list(self._models.values()))

    def __len__(self) -> int:
        return len(self._models)

    def get(self, name: str) -> ServedModel | None:
        """Return the model of this name, or None."""
        return self._models.get(name)

    def reload(self, force: bool = False) -> Iterator[str]:
        """Read models again whose folders have changed, or all; yield a line on each.

        A folder that cannot be read keeps its old model, and is tried again when it changes again.
        """
        for old in self:
            if not force and (old.is_current() or self._failed.get(old.name) == _stamp(old.path)):
                continue
            stamp = _stamp(old.path)
            try:
                new = ServedModel.read(old.name, old.path)
                new.warm_up()
            except (MLGTError, OSError) as error:
                self._failed[old.name] = stamp
                yield f"{old.name} could not be read again and stays as it was: {error}"
                continue
            self._failed.pop(old.name, None)
            self._models[old.name] = new
            yield f"{old.name} was read again from {old.path}"


def _stamp(path):
    """Inode, time and size of the header, or () if there is none."""
    try:
        found = os.stat(path / HEADER)
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _plain(name):
    return int(name) if isinstance(name, np.integer) else str(name)


def _iso(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
