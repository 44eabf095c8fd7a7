"""Algorithm 1 of the paper: one binary classifier per group; then Algorithm 2's first loop.

`train` returns group classifiers with the method `margins(X)` -> (n, m) float32, positive where a group is
predicted. Groups that are never (or always) positive in training are not a special case for the solver.
scikit-learn's classifiers reject them: such a group gets the margin -CONSTANT_MARGIN (or +CONSTANT_MARGIN)
everywhere, beyond all log-odds below.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._core.arrays import Arrays, Stored, check_finite, check_ids, check_kind, check_shapes
from .._core.ids import KnownIds
from .._core.memory import on_disk
from .._core.progress import Progress
from .._core.quantize import (
    are_squares,
    deflate,
    inflate,
    pack_squares,
    quantize_columns,
    squares_of_bytes,
    unpack_squares,
)
from .._core.rows import as_csr
from .._core.sparse import canonical
from . import solve
from .margins import group_margins

CONSTANT_MARGIN = 15.0
MAX_DEFLATED_WEIGHTS = 1 << 26
"""Weights of a byte above which they are not deflated: inflating takes time, mapped files take none."""


@dataclass(frozen=True)
class LinearGroups(Stored):
    """m linear classifiers."""

    weights: np.ndarray  # (p, m) float32, or int8 in units of `scale`
    intercept: np.ndarray  # (m,) float32
    n_iter: int = 1
    scale: np.ndarray | None = None  # (m,) float32
    features: np.ndarray | None = None
    """The features of the rows of `weights`, ascending; None for all. The others have no weights."""
    n_features: int | None = None
    """p, if `features` are not all."""

    ARRAYS: ClassVar = {
        "coef": "weights",
        "coef_scale": "scale",
        "coef_features": "features",
        "intercept": "intercept",
    }

    @property
    def n_groups(self) -> int:
        return len(self.intercept)

    @property
    def coef(self) -> np.ndarray:
        """(p, m) float32."""
        own = self.weights if self.scale is None else self.weights * self.scale
        if self._known is None:
            return own
        full = np.zeros((self._known.total, self.n_groups), np.float32)
        full[self._known.ids] = own
        return full

    @cached_property
    def _known(self):
        if self.features is None or self.n_features is None:
            return None
        return KnownIds(self.features.astype(np.int64), self.n_features)

    def margins(self, X: sp.csr_array) -> np.ndarray:
        """Return the margins (n, m) of the rows of X."""
        if self._known is not None:
            X = self._known.select(X.csr() if hasattr(X, "csr") else X)
        return group_margins(X, self.weights, self.intercept, self.scale)

    def pruned(self, threshold: float) -> "LinearGroups":
        """Return the same classifiers without the features whose largest weight is below `threshold` times
        the largest there is (the highest one in a hundred features left aside), but without no more than
        that share of the features: on some data, all of them have large weights."""
        coef = self.coef
        peaks = np.abs(coef).max(axis=1, initial=0.0)
        limit = min(threshold * np.quantile(peaks, 0.99), np.quantile(peaks, min(threshold, 1.0)))
        kept = np.flatnonzero(peaks >= limit)
        if len(kept) == len(self.weights):
            return self
        return replace(
            self,
            weights=np.ascontiguousarray((self.weights if self._known is None else self._full())[kept]),
            features=kept.astype(np.int32),
            n_features=len(coef),
        )

    def _full(self):
        """The stored weights with a row for every feature."""
        full = np.zeros((self._known.total, self.n_groups), self.weights.dtype)
        full[self._known.ids] = self.weights
        return full

    @property
    def bits(self) -> int:
        """Bits of a weight in a file."""
        return 32 if self.scale is None else 4 if are_squares(self.weights) else 8

    def rounded(self, bits: int) -> "LinearGroups":
        """Return the same classifiers with weights of 4, 8 or 32 bits."""
        if bits == 32:
            return self
        if bits == 4 and self.scale is not None and self.bits == 8 and self.features is None:
            weights, scale = squares_of_bytes(self.weights, self.scale)
        else:
            weights, scale = quantize_columns(self.coef, squares=bits == 4)
        return replace(self, weights=weights, scale=scale, features=None, n_features=None)

    def to_arrays(self, deflated: bool = False) -> dict[str, np.ndarray]:
        """The arrays by name, deflated half bytes where that is all the weights have; `deflated` bytes can
        not be mapped either, but most weights of one-vs-all are nearly 0."""
        arrays = super().to_arrays()
        if self.bits == 4:
            arrays["coef"] = deflate(pack_squares(self.weights))
        elif self.bits == 8 and deflated and self.weights.size <= MAX_DEFLATED_WEIGHTS:
            arrays["coef"] = deflate(np.ascontiguousarray(self.weights), runs=True).view(np.int8)
        return arrays

    def with_features(self, more: int) -> "LinearGroups":
        """Return the same classifiers with `more` features, last, of weight zero."""
        if self.n_features is not None:
            return replace(self, n_features=self.n_features + more)
        rows = np.zeros((more, self.n_groups), self.weights.dtype)
        return replace(self, weights=np.concatenate([self.weights, rows]))

    def on_disk(self) -> "LinearGroups":
        """Return the same classifiers with weights in a file."""
        return replace(self, weights=on_disk(self.weights))

    @classmethod
    def from_arrays(cls, arrays: Arrays, p: int, n_iter: int = 1) -> "LinearGroups":
        """Raise unless the arrays are linear classifiers over p features."""
        check_finite(arrays, "intercept")
        m = len(arrays["intercept"])
        features = cls._stored_features(arrays, p)
        coef = np.asarray(arrays["coef"])
        packed = coef.dtype == np.uint8
        shape = p if features is None else len(features), (m + 1) // 2 if packed else m
        if coef.dtype == np.int8 and coef.ndim == 1 and math.prod(shape) > MAX_DEFLATED_WEIGHTS:
            raise ValueError(f"coef is a zlib stream of more than {MAX_DEFLATED_WEIGHTS} weights")
        if coef.dtype in (np.uint8, np.int8) and coef.ndim == 1:
            coef = inflate(coef.view(np.uint8), shape).view(coef.dtype)
        stored = {"coef": coef}
        check_shapes(stored, coef=shape)
        if m == 0:
            raise ValueError("intercept is empty; expected one for each of at least one group")
        scale = None
        if "coef_scale" in arrays:
            check_kind(stored, "coef", np.int8, np.uint8, ndim=2)
            check_finite(arrays, "coef_scale")
            check_shapes(arrays, coef_scale=(m,))
            scale = np.asarray(arrays["coef_scale"])
            coef = unpack_squares(coef, m) if packed else coef
        else:
            check_finite(stored, "coef", ndim=2)
        own = {} if features is None else {"features": features, "n_features": p}
        return cls(coef, np.asarray(arrays["intercept"]), n_iter, scale, **own)

    @staticmethod
    def _stored_features(arrays, p):
        if "coef_features" not in arrays:
            return None
        check_ids(arrays, "coef_features", p)
        features = np.asarray(arrays["coef_features"])
        if not len(features) or (features[1:] <= features[:-1]).any():
            raise ValueError("coef_features is empty or does not ascend")
        return features


@dataclass(frozen=True)
class EstimatorGroups:
    """m fitted scikit-learn classifiers; None if the group was constant."""

    estimators: list[Any]
    constants: np.ndarray  # (m,) margin of a constant group
    n_iter: int = 1

    @property
    def n_groups(self) -> int:
        return len(self.estimators)

    def margins(self, X: sp.csr_array) -> np.ndarray:
        """Return the margins (n, m) of the rows of X."""
        out = np.tile(self.constants, (X.shape[0], 1))
        X = sp.csr_matrix(as_csr(X))
        for j, estimator in enumerate(self.estimators):
            if estimator is not None:
                out[:, j] = _margin(estimator, X)
        return out


def train(
    X: sp.csr_array,
    Z: sp.csr_array,
    *,
    classifier: Any = None,
    row_weight: np.ndarray | None = None,
    bits: int = 32,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """Fit the groups Z (n, m): `LinearGroups` by `solver.solve` with its options, weights rounded to
    `bits`; or `EstimatorGroups` by clones of a scikit-learn classifier."""
    if classifier is not None:
        return _train_estimators(X, Z, classifier, row_weight, n_jobs, seed, progress)
    solution = solve(X, Z, row_weight=row_weight, n_jobs=n_jobs, seed=seed, progress=progress, **options)
    fitted = LinearGroups(solution.coef, solution.intercept, int(solution.n_iter.max()))
    return fitted.rounded(bits)


def _train_estimators(X, Z, classifier, row_weight, n_jobs, seed, progress):
    X = sp.csr_matrix(X)  # not every estimator accepts sparse arrays
    Z = sp.csc_array(canonical(Z))
    from joblib import Parallel, delayed

    n, m = Z.shape
    weights = np.ones(n) if row_weight is None else np.asarray(row_weight)
    extra = {} if row_weight is None else {"sample_weight": weights}
    visited = weights > 0
    seeds = np.random.default_rng(seed).integers(2**31, size=m)

    def fit(j):
        target = np.zeros(n, np.int64)
        target[Z.indices[Z.indptr[j] : Z.indptr[j + 1]]] = 1
        if len(np.unique(target[visited])) < 2:
            return None, target[visited][0]
        return _seeded(classifier, int(seeds[j])).fit(X, target, **extra), 0

    estimators: list[Any] = []
    constants = np.zeros(m, np.float32)
    fits = Parallel(n_jobs, prefer="threads", return_as="generator")(delayed(fit)(j) for j in range(m))
    for j, (estimator, constant) in enumerate(fits):
        estimators.append(estimator)
        constants[j] = CONSTANT_MARGIN if constant else -CONSTANT_MARGIN
        if progress is not None:
            progress(j + 1, m)
    return EstimatorGroups(estimators, constants)


def _seeded(classifier, seed):
    """Return a clone whose random_state, and that of its parts, is `seed`."""
    from sklearn.base import clone  # prediction does not import scikit-learn

    copy = clone(classifier)
    names = [name for name in copy.get_params() if name.split("__")[-1] == "random_state"]
    return copy.set_params(**dict.fromkeys(names, seed))


def _margin(estimator, X):
    """Return the estimator's score if it has one, else its 0/1 prediction as -1 and +1."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    if hasattr(estimator, "predict_proba"):
        proba = estimator.predict_proba(X)
        p = np.clip(proba[:, 1], 1e-6, 1 - 1e-6)
        return np.log(p / (1 - p))
    return np.where(np.asarray(estimator.predict(X)) > 0, 1.0, -1.0)
