"""Match and rank: group testing finds candidates, a linear classifier per label orders them.

The matcher (groups and soft decoding) finds K candidate labels per row, which include nearly all that
one-vs-all would rank first. The ranker of label l is a linear SVM that separates the rows of l from the
rows for which l is a wrong candidate, and from no others:

    rows of l  =  {i : y_il = 1}  and  {i : y_il = 0, l in candidates(i)}.                          (1)

This makes n K pairs, instead of n d for one-vs-all. Most labels have few rows, whose mean is already a
good classifier. The weights are therefore regularised towards CENTROID_WEIGHT times the centroid of the
label, and the bias towards -1, because most candidates are wrong:

    |w - CENTROID_WEIGHT centroid_l|^2 / 2 + (b + 1)^2 / 2 + C_l sum of squared hinges over (1).    (2)

C_l is the same for all labels where these follow from the words. Where people chose them, some rows have a
wrong label and others lack one; a label with many rows, n_l, then fits its errors unless it is held back:

    C_l = C min(1, sqrt(SOFT_ROWS / n_l)).                                                          (3)

The coordinate steps are those of `classifiers.solver`; a few sweeps suffice. Small weights are dropped, the
others kept as bytes q, in units of scale_l. The values of a row are whole numbers too, in a unit of which
their magnitudes add up to SUM, so that a margin is one sum of 32 bits, the same in any order:

    w_l x_i  ~  scale_l unit_i sum_j q_lj [x_ij / unit_i].                                          (4)
"""

from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays, Stored, array_names, check_finite, check_runs, check_shapes, id_type
from .._core.csr import places_of
from .._core.memory import Growing, is_mapped, maker
from .._core.progress import Progress
from .._core.quantize import quantize_runs
from .._core.space import zeros
from .._core.sparse import row_pieces, squared_lengths
from ..compile.kernels import MANY, is_spared
from ..tasks import Stage, run_stage
from ..tasks.ahead import MAX_GATHERED, exceeds_memory, gather
from . import _kernels
from .pairs import Pairs

CENTROID_WEIGHT = np.float32(2.0)
SOFT_ROWS = 50
LIST_RATIO = 8
"""Ratio of a label's weights to a feature's from which on they are also kept by feature, in memory."""
MAX_LISTED = 1 << 23
"""Number of weights beyond which they are not: sorting them would take too long for a few rows."""
PIECE_ENTRIES, MIN_PIECES, MAX_PIECES = 8_000_000, 16, 256
"""Entries of the rows of a range of labels, which is a task of about a quarter of a second, and how many
ranges there are."""


@dataclass(frozen=True)
class LabelRanker(Stored):
    """d sparse linear classifiers: that of label l has scale_l values[indptr[l] : indptr[l + 1]]."""

    indptr: np.ndarray  # (d + 1,) int64
    columns: np.ndarray  # uint16, or int32 where there are more features
    values: np.ndarray  # float32, or int8 with a scale
    scale: np.ndarray  # (d,) float32
    bias: np.ndarray  # (d,) float32
    n_features: int

    ARRAYS = array_names("indptr", "values", "scale", "bias") | {"indices": "columns"}

    def margins(self, X: Any, candidates: np.ndarray, by_feature: bool = True) -> np.ndarray:
        """r for every row of X and each of its candidates (n, K); -inf where there is none (-1).

        Without `by_feature`, weights are not listed by feature, which does not pay for some rows; nor for a
        small file on a machine that has never compiled what reads the lists.
        """
        out = np.empty(candidates.shape, np.float32)
        out.fill(-np.inf)
        by_feature = by_feature and not is_spared(_kernels.score_candidates, MANY)
        listed, labels = by_feature and len(self._lists[0]) > 0, np.ascontiguousarray(candidates)
        space = zeros(max(X.shape[1], len(self.bias)))
        space = space.view(np.int32) if self.values.dtype == np.int8 else space
        score = _kernels.score_candidates if listed else _kernels.scan_candidates
        score(
            X.indptr, X.indices, X.data, self.indptr, self.columns, self.values, self.scale, self.bias,
            *(self._lists if listed else ()), labels, space, out,
        )  # fmt: skip
        return out

    @cached_property
    def _lists(self):
        """(pointers, labels, values) of the weights by feature if its lists are short, else empty arrays.

        A row reads those of its features, or the weights of its candidates. Features and labels are taken
        as often as they have weights.
        """
        lengths, n_weights = np.diff(self.indptr), len(self.values)
        if 0 < n_weights <= MAX_LISTED:
            widths = np.bincount(self.columns, minlength=self.n_features).astype(np.float64)
            if LIST_RATIO * (widths @ widths) <= lengths @ lengths.astype(np.float64):
                columns, indptr = self.columns.astype(np.int32), self.indptr.astype(np.int32)
                shape = len(self.bias), self.n_features
                lists = sp.csc_array(sp.csr_array((self.values, columns, indptr), shape=shape))
                return lists.indptr.astype(np.int64), lists.indices.astype(np.int32), lists.data
        return np.empty(0, np.int64), np.empty(0, np.int32), self.values[:0]

    @property
    def weights(self) -> sp.csr_array:
        """(d, p) CSR, float32."""
        shape = (len(self.bias), self.n_features)
        return sp.csr_array((self._scaled(), self.columns.astype(np.int32), self.indptr), shape=shape)

    def _scaled(self):
        """The weights as float32; `values` itself if it has them."""
        if self.values.dtype == np.float32 and (self.scale == 1).all():
            return self.values
        return self.values * np.repeat(self.scale, np.diff(self.indptr))

    def updated(self, other: "LabelRanker", chosen: np.ndarray) -> "LabelRanker":
        """This ranker with the classifiers of `other` for the labels `chosen` (d,) bool."""
        scale, bias = (
            np.where(chosen, *both) for both in ((other.scale, self.scale), (other.bias, self.bias))
        )

        def parts():
            for labels in row_pieces(np.maximum(self.indptr, other.indptr)):
                runs = [one.indptr[labels.start : labels.stop + 1] for one in (self, other)]
                spans = [slice(run[0], run[-1]) for run in runs]
                lengths = np.where(chosen[labels], np.diff(runs[1]), np.diff(runs[0]))
                size = spans[0].stop - spans[0].start
                start = np.where(
                    chosen[labels], size + runs[1][:-1] - runs[1][0], runs[0][:-1] - runs[0][0]
                )
                taken = places_of(start, lengths)
                arrays = ((self.columns, other.columns), (self.values, other.values))
                yield lengths, *(np.concatenate([a[spans[0]], b[spans[1]]])[taken] for a, b in arrays)

        return replace(self._of(parts(), other), scale=scale, bias=bias)

    def _of(self, parts, *others):
        """This ranker with the weights of `parts`, (counts, columns, values) of ranges of labels, of the
        types of it and of others; in files if its own are."""
        kinds = (
            np.result_type(*(getattr(one, name) for one in (self, *others)))
            for name in ("columns", "values")
        )
        joined = [Growing(kind, is_mapped(self.values)) for kind in kinds]
        counts = Growing(np.int64)
        for found in parts:
            for whole, part in zip((counts, *joined), found):
                whole.append(part)
        indptr = np.concatenate([[0], np.cumsum(counts.finish())])
        columns, values = (whole.finish() for whole in joined)
        return replace(self, indptr=indptr, columns=columns, values=values)

    def with_features(self, more: int) -> "LabelRanker":
        """The same classifiers with `more` features, last, of weight zero."""
        p = self.n_features + more
        return replace(self, columns=self.columns.astype(id_type(p), copy=False), n_features=p)

    def in_bytes(self) -> "LabelRanker":
        """The same classifiers with weights of one byte."""
        values, scale = quantize_runs(self._scaled(), self.indptr)
        return replace(self, values=values, scale=scale)

    def pruned(self, threshold: float) -> "LabelRanker":
        """The same classifiers without the weights of magnitude below `threshold`."""

        def parts():
            for labels in row_pieces(self.indptr):
                own = slice(self.indptr[labels.start], self.indptr[labels.stop])
                lengths = np.diff(self.indptr[labels.start : labels.stop + 1])
                kept = np.abs(self.values[own] * np.repeat(self.scale[labels], lengths)) >= threshold
                ends = np.concatenate([[0], np.cumsum(kept)])[
                    self.indptr[labels.start : labels.stop + 1] - own.start
                ]
                yield np.diff(ends), self.columns[own][kept], self.values[own][kept]

        return self._of(parts())

    @classmethod
    def from_arrays(cls, arrays: Arrays, p: int, d: int) -> "LabelRanker":
        """Raise unless the arrays are the classifiers of d labels over p features."""
        check_runs(arrays, "indices", d, p, np.int8, np.float32)
        check_shapes(arrays, bias=(d,))
        check_finite(arrays, "bias")
        scale = arrays["scale"] if "scale" in arrays else np.ones(d, np.float32)
        return cls(arrays["indptr"], arrays["indices"], arrays["values"], scale, arrays["bias"], p)


def label_costs(counts: np.ndarray, C: float) -> np.ndarray:
    """Eq. (3): C_l (d,) of labels with these counts of rows."""
    return np.float32(C) * np.sqrt(SOFT_ROWS / np.maximum(counts, SOFT_ROWS)).astype(np.float32)


def train_ranker(
    X: sp.csr_array,
    pairs: Pairs,
    centroids: sp.csr_array | None = None,
    *,
    start: LabelRanker | None = None,
    C: float | np.ndarray = 1.0,
    tol: float = 0.1,
    max_iter: int = 8,
    prune: float = 0.05,
    row_weight: np.ndarray | None = None,
    alpha: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LabelRanker:
    """Fit the classifiers of all labels on their `pairs` of rows of X (n, p), CSR, eq. (2).

    `C` is one number or one per label (d,). `centroids` (d, p) CSR; without them weights and bias are drawn
    towards 0, or with `start`, a `LabelRanker`, towards its weights and biases. A label stops when a sweep
    moves no dual variable by more than `tol`, or after `max_iter` sweeps. Weights of magnitude below
    `prune` are dropped. `alpha` (pairs,) float32 are dual variables to go on from; they are left where
    training stops. `labels` (d,) bool says which to train, if not all; others stay without weights. The
    result does not depend on `n_jobs`.
    """
    d, p = len(pairs.indptr) - 1, X.shape[1]
    norms = (1.0 + squared_lengths(X)).astype(np.float32)
    weights = np.ones(X.shape[0]) if row_weight is None else row_weight
    weights = np.asarray(weights, np.float32)
    alpha = np.zeros(len(pairs.rows), np.float32) if alpha is None else alpha
    labels = np.ones(d, bool) if labels is None else labels
    bias = np.zeros(d, np.float32)
    edges = _label_ranges(np.where(labels, np.diff(pairs.indptr), 0), X.nnz / max(1, X.shape[0]))
    pieces = _Pieces(len(edges) - 1, (np.float32, id_type(p), np.int64), is_mapped(X.data))
    problem = SimpleNamespace(
        X=X, norms=norms, weights=weights, pairs=pairs, labels=labels, seed=seed,
        towards=_towards(start, centroids, d, p),
        limits=(np.full(d, C, np.float32), np.float32(tol), max_iter, np.float32(prune)),
    )  # fmt: skip

    def inputs(piece):
        first, last = edges[piece], edges[piece + 1]
        return first, last, alpha[pairs.indptr[first] : pairs.indptr[last]]

    def store(piece, result):
        first, last, own = inputs(piece)
        own[:], bias[first:last] = result[3:]
        pieces.take(piece, result[:3])
        return int(last - first)

    run_stage(Stage("rankers", _fit_piece, problem, len(edges) - 1, inputs, store), n_jobs, progress, d)
    values, columns, counts = pieces.joined()
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return LabelRanker(indptr, columns, values, np.ones(d, np.float32), bias, p)


class _Pieces:
    """Arrays that are made in pieces, which are finished in any order; in files or in memory."""

    def __init__(self, n_pieces, dtypes, on_disk):
        self.found = [Growing(dtype, on_disk) for dtype in dtypes]
        self.spans = [[(0, 0)] * n_pieces for _ in dtypes]
        self.lock = Lock()

    def take(self, i, arrays):
        """The arrays of piece i."""
        with self.lock:
            for whole, spans, array in zip(self.found, self.spans, arrays):
                spans[i] = whole.size, whole.size + len(array)
                whole.append(array)

    def joined(self):
        """Yield the arrays of all pieces, in their order."""
        for whole, spans in zip(self.found, self.spans):
            found = whole.finish()
            if spans == sorted(spans):
                yield found
                continue
            out = maker(found)(found.shape, found.dtype)
            yield np.concatenate([found[slice(*span)] for span in spans], out=out)


def _label_ranges(counts, words):
    """Edges of ranges of labels with about as many rows each; `counts` (d,) are the rows of each label, of
    `words` entries. They depend on nothing else, so that kept tasks are found again."""
    d, done = len(counts), np.cumsum(counts)
    n_pieces = int(np.clip(done[-1] * words / PIECE_ENTRIES, MIN_PIECES, MAX_PIECES))
    inner = np.searchsorted(done, np.arange(1, n_pieces) * (done[-1] / n_pieces)) + 1
    return np.unique(np.concatenate([[0], np.minimum(inner, d), [d]]))


def _towards(start, centroids, d, p):
    """(pointers, columns, values, their factor, biases) that eq. (2) draws weights and biases towards."""
    if start is not None:
        towards, factor, bias = start.weights, np.float32(1), start.bias
    elif centroids is not None:
        towards, factor, bias = centroids, CENTROID_WEIGHT, np.full(d, -1.0, np.float32)
    else:
        towards, factor, bias = (
            sp.csr_array((d, p), dtype=np.float32),
            np.float32(1),
            np.zeros(d, np.float32),
        )
    columns = towards.indices.astype(np.int32, copy=False)
    values = towards.data.astype(np.float32, copy=False)
    return towards.indptr.astype(np.int64), columns, values, factor, bias  # one type, one compilation


def _fit_piece(problem, inputs):
    """(values, columns, counts, dual variables, biases) of a range of labels."""
    (first, last, alpha), X, indptr = inputs, problem.X, problem.pairs.indptr
    if not exceeds_memory(X):
        return _fit_range(problem, first, last, alpha)
    wanted = np.repeat(problem.labels[first:last], np.diff(indptr[first : last + 1]))
    rows = problem.pairs.rows[indptr[first] : indptr[last]] * wanted  # row 0 instead of what is not read
    entries = np.append(0, np.cumsum(np.diff(X.indptr)[rows] * wanted, dtype=np.int64))
    found = []
    for some in row_pieces(entries[indptr[first : last + 1] - indptr[first]], PIECE_ENTRIES):
        begin, end = (int(indptr[first + i] - indptr[first]) for i in (some.start, some.stop))
        own = first + some.start, first + some.stop
        found.append(_fit_gathered(problem, *own, rows[begin:end], alpha[begin:end]))
    return tuple(map(np.concatenate, zip(*found)))


def _fit_gathered(problem, first, last, rows, alpha):
    """`_fit_range` with these rows in memory, unless there are very many."""
    indptr = problem.pairs.indptr
    begin, end = indptr[first], indptr[last]
    X, used, places = gather(problem.X, rows)
    positive = problem.pairs.positive[begin:end]
    pairs = Pairs(np.clip(indptr, begin, end) - begin, places.astype(np.int32), positive)
    own = {"X": X, "norms": problem.norms[used], "weights": problem.weights[used], "pairs": pairs}
    return _fit_range(SimpleNamespace(**vars(problem) | own), first, last, alpha)


def _fit_range(problem, first, last, own):
    """`_fit_piece` with the rows of this problem."""
    pairs, X = problem.pairs, problem.X
    span = slice(pairs.indptr[first], pairs.indptr[last])
    d, p = len(pairs.indptr) - 1, X.shape[1]
    alpha, bias = np.zeros(len(pairs.rows), np.float32), np.zeros(d, np.float32)
    alpha[span] = own  # memory of the others is never touched
    counts, values, features = np.zeros(d, np.int64), np.empty(0, np.float32), np.empty(0, id_type(p))
    space, label, filled = _space(problem, first, last), first, 0
    while label < last:
        values, features = (_with_room(array[:filled], filled + 2 * p) for array in (values, features))
        label, filled = _kernels.fit_labels(
            X.indptr, X.indices, X.data, problem.norms, problem.weights, *pairs, *problem.towards, label,
            last, *problem.limits, problem.seed, problem.labels, *space, filled, alpha, bias, counts,
            values, features,
        )  # fmt: skip
    values, features = values[:filled].copy(), features[:filled].copy()
    return values, features, counts[first:last], alpha[span], bias[first:last]


def _space(problem, first, last):
    """Work spaces of `fit_labels` for each of these labels; in a file for labels with very many rows, if X
    is in one."""
    X, (indptr, rows, _), wanted = problem.X, problem.pairs, problem.labels[first:last]
    edges, rows, p = indptr[first : last + 1], rows[indptr[first] : indptr[last]], X.shape[1]
    lengths = np.append(0, np.cumsum(X.indptr[rows + 1] - X.indptr[rows], dtype=np.int64))
    n_rows, entries = (int((np.diff(own) * wanted).max()) for own in (edges, lengths[edges - edges[0]]))
    make = maker(X.data) if entries > MAX_GATHERED else np.empty
    copy = np.empty(n_rows + 1, np.int64), make((entries,), id_type(p)), make((entries,), np.float32)
    return (
        np.zeros(p, np.float32), np.zeros(p // 64 + 1, np.uint64), *copy,
        np.empty((2, n_rows), np.float32), np.empty(n_rows, np.int64),
    )  # fmt: skip


def _with_room(array, more):
    """The array with `more` further entries."""
    longer = np.empty(len(array) + more, array.dtype)
    longer[: len(array)] = array
    return longer
