"""All binary classifiers at once: dual coordinate descent over tiles of groups.

For each column z of Z (n, m), with targets y_i = 2 z_i - 1 and a bias b regularised as liblinear's
(a constant feature of value 1), minimise

    P(w, b) = (|w|^2 + b^2) / 2 + sum_i c_i loss(y_i (w'x_i + b)),   c_i = C row_weight_i class_weight,  (1)

by coordinate steps on its dual, keeping w = sum_i alpha_i y_i x_i:

    D(alpha) = -(|w|^2 + b^2) / 2 - sum_i conjugate_i(alpha_i) <= P(w, b).                        (2)

With M = y_i (w'x_i + b) and q = |x_i|^2 + 1, one step sets (Hsieh et al., ICML 2008)

    squared hinge, loss max(0, 1 - M)^2:
        alpha <- max(0, alpha - (M - 1 + alpha / 2c) / (q + 1 / 2c)),                             (3)

or (Yu, Huang & Lin, Machine Learning 85, 2011), in the unconstrained u = logit(alpha / c),

    logistic, loss log(1 + exp(-M)):   u <- v with v + M + q c (sigmoid(v) - sigmoid(u)) = 0.     (4)

A tile of 64 groups is one unit of work: a row is read once for all of them. A thread works on a whole tile,
and every tile visits the rows in the same order, which depends only on X, seed and sweep, so the result is
the same for any number of threads. Short runs of rows are taken in random order, some of them at a time,
whose rows are shuffled; the runs are longer from LARGE_ENTRIES on, when X may be in a file that is larger
than the memory. A tile stops when each of its groups has a relative duality gap (P - D) / P <= tol, so its
objective is within tol of the best.

Memory: W, plus 5 n TILE + 4 p TILE bytes per thread; there is no array of n x m floats.
"""

import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.progress import Progress
from .._core.space import aligned_zeros
from .._core.sparse import canonical, column_counts, row_pieces, squared_lengths
from ..tasks import Stage, run_stage
from ..tasks.ahead import LARGE_ENTRIES, exceeds_memory, read_ahead
from . import _kernels

TILE, SPACE, ROWS_PER_SUM = _kernels.TILE, _kernels.SPACE, _kernels.ROWS_PER_SUM
LOSSES = ("squared_hinge", "logistic")
RUN_ROWS, MIXED_ROWS = 16, 1024
"""Rows of a run, and rows that are shuffled together: while these are visited, their dual variables come
from the caches. The descent gets as far as with a random order of all rows (`research/micro/visits.py`)."""
BLOCK_ENTRIES, MIXED_ENTRIES = 1 << 14, 1 << 21
"""Entries of a block of rows, if there is much data, and those of the blocks that are mixed: 16 MB. Blocks
alone would take many more sweeps, since neighbouring rows are often alike."""
_MIN_FACTOR, _MAX_FACTOR = 1e-10, 1e10  # range of C and of weights, whose products fit into float32


@dataclass(frozen=True)
class Solution:
    """Weights of m linear classifiers, and how close each is to its optimum."""

    coef: np.ndarray
    """(p, m) float32."""
    intercept: np.ndarray
    """(m,) float32."""
    objective: np.ndarray
    """(m,) P(w, b), eq. (1)."""
    gap: np.ndarray
    """(m,) (P - D) / P: the objective is at most this share above the best."""
    n_iter: np.ndarray
    """(m,) number of sweeps over the rows."""


def solve(
    X: Any,
    Z: Any,
    *,
    loss: str = "squared_hinge",
    C: Any = 1.0,
    tol: float = 1e-3,
    max_iter: int = 200,
    row_weight: Any = None,
    class_weight: Any = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Solution:
    """Train one linear classifier per column of Z on the rows of X.

    Parameters
    ----------
    X : CSR or dense, (n, p). Converted to float32 CSR: a dense X takes 8 bytes per entry.
    Z : sparse or dense, (n, m). Non-zero means positive.
    loss : "squared_hinge" (a linear SVM) or "logistic".
    C : inverse regularisation, as in scikit-learn and liblinear; one number, or (m,), one per group.
    tol : relative duality gap at which a tile of groups stops.
    max_iter : sweeps after which a tile stops in any case, with a ConvergenceWarning.
    row_weight : (n,) factors of the rows' losses, >= 0.
    class_weight : None, "balanced", a pair (negative, positive) or {0: negative, 1: positive}, or
        (m, 2) such pairs.
    n_jobs : threads, as in joblib; the result does not depend on it.
    seed : determines the order in which rows are visited.
    progress : called as progress(groups done, m).
    """
    X = canonical(X, np.float32)
    Z = canonical(Z)
    _check(X, Z, loss, C, tol, max_iter)
    (n, p), m = X.shape, Z.shape[1]
    rows = np.ones(n, np.float32) if row_weight is None else _row_weights(row_weight, n)
    cost = np.asarray(C, np.float32).reshape(-1, 1) * _class_weights(class_weight, Z)
    norms = (1.0 + squared_lengths(X)).astype(np.float32)
    problem = SimpleNamespace(
        X=X, norms=norms, rows=rows, visited=np.flatnonzero(rows > 0), loss=loss, tol=tol,
        max_iter=max_iter, seed=seed,
    )  # fmt: skip
    weights = np.zeros((p, m), np.float32), np.zeros(m, np.float32)
    out = Solution(*weights, np.zeros(m), np.zeros(m), np.zeros(m, np.int64))

    tiles = [slice(start, min(start + TILE, m)) for start in range(0, m, TILE)]

    def inputs(i):
        return sp.csc_array(Z[:, tiles[i]]), cost[tiles[i]]

    def store(i, tile):
        width = tiles[i].stop - tiles[i].start
        for whole, array in zip(vars(out).values(), tile):
            whole[..., tiles[i]] = array[..., :width]
        return width

    run_stage(Stage("classifiers", _solve_tile, problem, len(tiles), inputs, store), n_jobs, progress, m)
    _warn_unconverged(out.gap, tol, max_iter, C)
    return out


def _solve_tile(problem, inputs):
    """The arrays of `Solution` for one tile, by descent until each of its groups meets `tol`; the last tile
    may have unused lanes."""
    (Z, cost), loss, tol, max_iter = inputs, problem.loss, problem.tol, problem.max_iter
    X, n, width = problem.X, problem.X.shape[0], Z.shape[1]
    sweep, losses = getattr(_kernels, f"sweep_{loss}"), getattr(_kernels, f"loss_{loss}")
    sign = np.full((n, TILE), -1, np.int8)
    sign[Z.indices, np.repeat(np.arange(width), np.diff(Z.indptr))] = 1
    lane_cost = np.full((2, TILE), cost.min(), np.float32)
    lane_cost[:, :width] = cost.T
    dual = np.full((n, TILE), _kernels.START_LOGIT if loss == "logistic" else 0.0, dtype=np.float32)
    W, b = aligned_zeros((X.shape[1], TILE)), aligned_zeros((TILE,))
    targets = sign.reshape(-1), lane_cost.reshape(-1)  # flat, as the kernels see them
    weights = W.reshape(-1), b, aligned_zeros((SPACE,))
    norm = np.zeros(TILE)  # |w|^2 + b^2
    for sweeps in range(1, max_iter + 1):
        stats = np.zeros((3, TILE))
        for order, own in _visits(X, problem.visited, np.random.default_rng((problem.seed, sweeps))):
            sweep(
                own.indptr, own.indices, own.data, order, problem.norms, problem.rows,
                *targets, dual.reshape(-1), *weights, stats.reshape(-1),
            )  # fmt: skip
        norm += stats[2]
        gap = _relative_gap(norm, stats[0], stats[1])
        if gap[:width].max() > tol and sweeps < max_iter:
            continue
        # The estimate uses stale losses; one pass over the rows gives the exact gap.
        exact = np.zeros(TILE)
        losses(X.indptr, X.indices, X.data, problem.rows, *targets, *weights, exact)
        norm = np.einsum("pt,pt->t", W, W, dtype=np.float64) + b.astype(np.float64) ** 2
        gap = _relative_gap(norm, exact, stats[1])
        if gap[:width].max() <= tol:
            break
    return W, b, norm / 2 + exact, gap, np.full(TILE, sweeps)


def _visits(X, visited, rng):
    """Yield the rows to visit in a random order, and X or a copy of them, in one piece or, if there is much
    data, in several."""
    if X.nnz < LARGE_ENTRIES:
        order = visited[_mixed(len(visited), rng)]
        n_pieces = max(1, -(-X.nnz // MIXED_ENTRIES)) if exceeds_memory(X) else 1
        size = -(-len(order) // (n_pieces * ROWS_PER_SUM)) * ROWS_PER_SUM  # sums are those of one piece
        pieces = [order[first : first + size] for first in range(0, len(order), size)]
    else:
        found = list(row_pieces(X.indptr, BLOCK_ENTRIES))
        blocks = [np.arange(found[i].start, found[i].stop) for i in rng.permutation(len(found))]
        some = max(1, MIXED_ENTRIES // BLOCK_ENTRIES)
        mixed = [np.concatenate(blocks[i : i + some]) for i in range(0, len(blocks), some)]
        pieces = [rng.permutation(np.intersect1d(rows, visited, assume_unique=True)) for rows in mixed]
    yield from read_ahead(X, pieces)


def _mixed(n, rng):
    """The numbers below n: runs of RUN_ROWS in random order, and MIXED_ROWS of that order shuffled at a
    time."""
    runs = rng.permutation(-(-n // RUN_ROWS))
    order = (RUN_ROWS * runs[:, None] + np.arange(RUN_ROWS)).ravel()
    order = order[order < n]
    whole = order[: n - n % MIXED_ROWS].reshape(-1, MIXED_ROWS)
    rng.permuted(whole, axis=1, out=whole)
    rng.shuffle(order[whole.size :])
    return order


def _relative_gap(norm, loss, conjugate):
    """Return (P - D) / P with P = norm/2 + loss and D = -norm/2 - conjugate."""
    return (norm + loss + conjugate) / np.maximum(norm / 2 + loss, np.finfo(np.float64).tiny)


def _row_weights(row_weight, n):
    weights = np.asarray(row_weight, dtype=np.float32)
    if weights.shape != (n,) or not ((weights >= 0) & (weights <= _MAX_FACTOR)).all():
        raise ValueError(
            f"row_weight has shape {weights.shape}; expected {n} finite factors >= 0, one per row."
        )
    weights = np.where(weights < _MIN_FACTOR, np.float32(0), weights)
    if not weights.any():
        raise ValueError("row_weight is zero for every row: nothing is left to train on.")
    return weights


def _class_weights(class_weight, Z):
    """Return (m, 2) factors for the negatives and the positives of each group."""
    n, m = Z.shape
    if class_weight is None:
        return np.ones((m, 2), np.float32)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f'class_weight="{class_weight}" is unknown; pass "balanced", a pair '
                "(negative, positive), or one pair per group."
            )
        positives = column_counts(Z)
        counts = np.stack([n - positives, positives], axis=1)
        return (n / (2.0 * np.maximum(counts, 1))).astype(np.float32)
    if isinstance(class_weight, dict):
        if set(class_weight) != {0, 1}:
            raise ValueError(f"class_weight has the keys {sorted(class_weight)}; expected 0 and 1.")
        class_weight = class_weight[0], class_weight[1]
    weights = np.asarray(class_weight, dtype=np.float32)
    if (
        weights.shape not in ((2,), (m, 2))
        or not ((weights >= _MIN_FACTOR) & (weights <= _MAX_FACTOR)).all()
    ):
        raise ValueError(
            f"class_weight has shape {weights.shape}; expected (2,) or ({m}, 2) finite factors > 0: "
            "negatives first, positives second."
        )
    return np.broadcast_to(weights, (m, 2))


def _check(X, Z, loss, C, tol, max_iter):
    if X.shape[0] != Z.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows but Z has {Z.shape[0]}: expected one row of targets per row "
            "of features."
        )
    if X.shape[0] == 0:
        raise ValueError("X has no rows: there is nothing to train on.")
    if loss not in LOSSES:
        raise ValueError(f"loss={loss!r} is unknown; choose one of {', '.join(LOSSES)}.")
    costs = np.asarray(C, np.float64)
    if costs.shape not in ((), (Z.shape[1],)):
        raise ValueError(f"C has shape {costs.shape}; expected one number, or {Z.shape[1]}, one per group.")
    if not ((costs >= _MIN_FACTOR) & (costs <= _MAX_FACTOR)).all():
        raise ValueError(
            f"C={C} must be a finite number above 0, from {_MIN_FACTOR:g} to {_MAX_FACTOR:g} "
            "(1.0 is a good start)."
        )
    if not tol > 0:
        raise ValueError(f"tol={tol} must be above 0 (1e-3 is a good start).")
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter} must be at least 1.")
    if not np.isfinite([X.data.min(initial=0), X.data.max(initial=0)]).all():  # either is NaN if one is
        raise ValueError("X has NaN or infinite values; replace or drop them before training.")


def _warn_unconverged(gap, tol, max_iter, C):
    late = int((~(gap <= tol)).sum())
    if late:
        from sklearn.exceptions import ConvergenceWarning  # prediction does not import scikit-learn

        warnings.warn(
            f"{late} of {len(gap)} classifiers stopped at max_iter={max_iter} sweeps with a relative "
            f"duality gap of up to {gap.max():.2g} (tol={tol:g}). Raise max_iter or tol, lower C "
            f"(now {np.max(C):g}), or scale the rows of X to unit length.",
            ConvergenceWarning,
            stacklevel=3,
        )
