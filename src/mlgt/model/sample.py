"""Rows that a model keeps, as features without texts: it is taught beside them, and checked on them.

checked    rows kept out of all training, up to MAX_CHECKED: what a model does on them before and after it
           is taught is comparable. Each of their labels has other training rows.
replayed   training rows drawn at random. Beside them, new rows are not all there is: they are the
           negatives of a new label, and hold known ones in place.
taught     rows that the model was taught last, which are replayed too. It remembers them: a row that is
           nearly one of them (a cosine of at least SAME) gets its labels, however little one row moves the
           classifiers.

Values are bytes in units of a scale per row, unless that moves a row by more than MAX_ROUNDING.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._core.arrays import (
    Arrays,
    Stored,
    array_names,
    check_finite,
    check_ids,
    check_kind,
    check_pointers,
    check_shapes,
    id_type,
)
from .._core.csr import make_csr
from .._core.quantize import quantize_runs
from .._core.sparse import canonical, squared_lengths
from ..ranking.sets import SURE, SUREST

MAX_ROWS, MIN_ROWS, ENTRIES_PER_WEIGHT = 1000, 200, 2
"""Default number of training rows that a model keeps; as many taught rows are kept in addition. Fewer are
kept, but MIN_ROWS, where they would have more entries than that for each weight of the classifiers: the
classifiers of a few labels of dense rows are small. Teaching on Mediamill does not need more."""
MAX_ROUNDING = 5e-4
"""Largest squared error of a row in bytes, as a share of its squared length."""
MAX_CHECKED = 150
ROWS_PER_CHECKED = 32
"""Training rows for each row that is kept out of training."""
MIN_CHECKED = 32
SAME = 0.999
MAX_SAMPLE = 1 << 20
"""Rows of the largest sample that is read."""


@dataclass(frozen=True)
class Sample(Stored):
    """Rows (s, p) as the classifiers see them, and their labels (s, d): checked, replayed, taught."""

    indptr: np.ndarray  # (s + 1,) int64
    columns: np.ndarray  # uint16, or int32 where there are more features
    values: np.ndarray  # int8 with `scale`; else float16, or float32 where one is too large or small for it
    label_indptr: np.ndarray  # (s + 1,) int64
    labels: np.ndarray  # uint16, or int32 where there are more labels
    sizes: np.ndarray  # (3,) int64
    later: np.ndarray  # int32: labels that came after the first two kinds of rows were labelled
    bars: np.ndarray  # float32: log-odds from which on each of these is predicted
    n_features: int
    n_labels: int
    scale: np.ndarray | None = None  # (s,) float32

    ARRAYS = array_names(
        "indptr", "columns", "values", "label_indptr", "labels", "sizes", "later", "bars", "scale"
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        X: sp.csr_array,
        Y: sp.csr_array,
        sizes: tuple[int, int, int],
        later: Sequence[int] = (),
        bars: Sequence[float] = (),
    ) -> "Sample":
        """The rows of X (s, p) with labels Y (s, d), in the order of `sizes`."""
        X, Y = canonical(X, np.float32), canonical(Y)
        values, scale = _shortened(X)
        parts = X.indptr.astype(np.int64), X.indices.astype(id_type(X.shape[1])), values
        labels = Y.indptr.astype(np.int64), Y.indices.astype(id_type(Y.shape[1]))
        kept = np.array(sizes, np.int64), np.array(later, np.int32), np.array(bars, np.float32)
        return cls(*parts, *labels, *kept, X.shape[1], Y.shape[1], scale)

    @cached_property
    def X(self) -> sp.csr_array:
        values, columns = self.values.astype(np.float32), self.columns.astype(np.int32)
        if self.scale is not None:
            values *= np.repeat(self.scale, np.diff(self.indptr))
        return make_csr(values, columns, self.indptr, self.n_features)

    @cached_property
    def Y(self) -> sp.csr_array:
        ones = np.ones(len(self.labels), np.float32)
        labels = self.labels.astype(np.int32)
        return sp.csr_array((ones, labels, self.label_indptr), shape=(len(self), self.n_labels))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def checked(self) -> slice:
        return slice(0, int(self.sizes[0]))

    @property
    def replayed(self) -> slice:
        return slice(int(self.sizes[0]), int(self.sizes[:2].sum()))

    @property
    def taught(self) -> slice:
        return slice(int(self.sizes[:2].sum()), len(self))

    def with_features(self, more: int) -> "Sample":
        return replace(self, n_features=self.n_features + more)

    def with_labels(self, d: int) -> "Sample":
        return replace(self, n_labels=d)

    def after(
        self, X: sp.csr_array, Y: sp.csr_array, fresh: np.ndarray, n_rows: int, rng: np.random.Generator
    ) -> "Sample":
        """The sample after the model of `n_rows` rows was taught X with Y, some of its labels `fresh`.

        Each new row takes the place of a replayed one with the probability that it would have been drawn
        from all rows (reservoir sampling); the last ones are remembered.
        """
        n, room = X.shape[0], int(self.sizes[1])
        own = np.arange(room)
        for i in range(n if room else 0):
            place = int(rng.integers(n_rows + i + 1))
            if place < room:
                own[place] = room + i
        pool = sp.vstack([self.X[self.replayed], X]), sp.vstack([self.Y[self.replayed], Y])
        limit = max(1, len(self) - int(self.sizes[2]))
        taught = [sp.vstack([old[self.taught], new])[-limit:] for old, new in ((self.X, X), (self.Y, Y))]
        rows = [
            sp.vstack([old[self.checked], sp.csr_array(both)[own], sp.csr_array(last)])
            for old, both, last in zip((self.X, self.Y), pool, taught)
        ]
        later = np.union1d(self.later, np.flatnonzero(fresh))
        bars = np.full(len(later), SURE, np.float32)
        bars[np.searchsorted(later, self.later)] = self.bars
        sizes = int(self.sizes[0]), room, taught[0].shape[0]
        return Sample.of(rows[0], rows[1], sizes, later.tolist(), bars.tolist())

    def beside(self, X: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
        """The rows to learn X beside: those replayed, and those taught that are no copies of X, which may
        have corrected their labels."""
        kept = np.ones(len(self), bool)
        kept[self.checked] = False
        kept[self.taught.start + alike(self.X[self.taught], X)[0]] = False
        return self.X[kept], self.Y[kept]

    def recall(self, X: sp.csr_array) -> Iterator[tuple[int, np.ndarray]]:
        """The rows of X that nearly are taught ones, with the labels of these, the last of several."""
        row, taught = alike(X, self.X[self.taught])
        found = np.full(X.shape[0], -1)
        np.maximum.at(found, row, taught)
        for i in np.flatnonzero(found >= 0):
            row = self.taught.start + found[i]
            yield int(i), self.labels[self.label_indptr[row] : self.label_indptr[row + 1]].astype(np.int64)

    @classmethod
    def from_arrays(cls, arrays: Arrays, p: int, d: int) -> "Sample":
        """Raise unless the arrays are rows of p features and d labels."""
        check_kind(arrays, "sizes", np.int64)
        check_shapes(arrays, sizes=(3,))
        check_ids(arrays, "sizes", MAX_SAMPLE)
        rows = int(arrays["sizes"].sum())
        check_kind(arrays, "values", *((np.int8,) if "scale" in arrays else (np.float16, np.float32)))
        values = units = arrays["values"]
        if "scale" in arrays:
            check_finite(arrays, "scale")
            check_shapes(arrays, scale=(rows,))
            units = 127 * arrays["scale"]
        if units.size and not float(np.abs(units).max()) <= 1e6:  # NaN is not
            raise ValueError("values of the sample are not all finite numbers up to 1e6")
        check_pointers(arrays, "indptr", rows, len(values))
        check_shapes(arrays, columns=values.shape)
        check_ids(arrays, "columns", p)
        check_pointers(arrays, "label_indptr", rows, len(arrays["labels"]))
        check_ids(arrays, "labels", d)
        check_ids(arrays, "later", d)
        if "bars" not in arrays:  # before they were stored
            arrays = {**arrays, "bars": np.full(len(arrays["later"]), SURE, np.float32)}
        check_finite(arrays, "bars")
        check_shapes(arrays, bars=arrays["later"].shape)
        found = {name: np.asarray(arrays[name]) for name in cls.ARRAYS if name in arrays}
        return cls(**found, n_features=p, n_labels=d)


def _shortened(X):
    """(values, scale or None) of rows in bytes, or in 16 or 32 bits, whatever is precise enough."""
    bytes_, scale = quantize_runs(X.data, X.indptr)
    error = X.data - bytes_ * np.repeat(scale, np.diff(X.indptr))
    lost, length = (
        squared_lengths(make_csr(data, X.indices, X.indptr, X.shape[1])) for data in (error, X.data)
    )
    if (lost <= MAX_ROUNDING * length).all():
        return bytes_, scale
    size, limits = np.abs(X.data), np.finfo(np.float16)
    short = size.max(initial=0) <= limits.max and size.min(initial=1) >= limits.tiny
    return X.data.astype(np.float16) if short else X.data, None


def alike(X: sp.csr_array, Z: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (i, j) of rows of X (n, p) and Z (m, p) that are nearly the same."""
    near = sp.coo_array(X @ Z.T)
    length, other = (np.sqrt(rows.multiply(rows).sum(axis=1)) for rows in (X, Z))
    same = near.data >= SAME * length[near.row] * other[near.col]
    return near.row[same], near.col[same]


def put_first(own: np.ndarray, labels: np.ndarray, scores: np.ndarray) -> None:
    """Put the labels `own` first in a list of labels and scores, both (k,), which are changed.

    They get log-odds of at least SUREST; the others keep their order, from -SUREST down.
    """
    k, other = len(labels), ~np.isin(labels, own)
    best = float(scores[other].max(initial=-np.inf))
    rest = scores[other] - np.float32(max(0.0, best + SUREST) if np.isfinite(best) else 0.0)
    sure = np.full(len(own), max(SUREST, float(scores[0])), np.float32)
    labels[:] = np.concatenate([own, labels[other]])[:k]
    scores[:] = np.concatenate([sure, rest])[:k]


def affordable_rows(keep: int, entries: float, n_weights: int) -> int:
    """The number of rows to keep, at most `keep`, for rows of so many `entries` and classifiers of
    `n_weights` weights."""
    return min(keep, max(MIN_ROWS, int(ENTRIES_PER_WEIGHT * n_weights / max(1.0, entries))))


def choose_rows(
    Y: sp.csr_array, held: np.ndarray, seen: np.ndarray, keep: int, check: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(checked, replayed) training rows, ascending, of a sample of `keep` rows.

    Rows are checked only with `check`, and among those `held` out for other choices if there are any. The
    draw depends on the shape of the data alone, not on the seed.
    """
    rng = np.random.default_rng([len(seen), Y.nnz])
    count = min(MAX_CHECKED, keep // 3, len(seen) // ROWS_PER_CHECKED) if check else 0
    checked: list[int] = []
    if count >= MIN_CHECKED:
        left = np.bincount(Y.indices, minlength=Y.shape[1])
        for row in rng.permutation(held if len(held) else seen):
            own = Y.indices[Y.indptr[row] : Y.indptr[row + 1]]
            if len(own) and left[own].min() > 1:
                checked.append(int(row))
                left[own] -= 1
            if len(checked) == count:
                break
    others = np.setdiff1d(seen, checked)
    replayed = rng.choice(others, min(len(others), keep - len(checked)), replace=False)
    return np.sort(np.array(checked, np.int64)), np.sort(replayed)
