"""Match and rank: group testing finds candidates, a linear classifier per label orders them.

The matcher (groups and soft decoding) names K candidate labels for a row, nearly all that one-vs-all would
rank first. Label l's ranker is a linear SVM that has to tell its own rows from the rows on whose candidate
list it wrongly stands, and from no others:

    rows of l  =  {i : y_il = 1}  and  {i : y_il = 0, l in candidates(i)}.                          (1)

n K pairs in all, instead of n d for one-vs-all. The objective is that of `solve`, squared hinge with a
regularised bias, by the same coordinate steps; a few sweeps do, and small weights are dropped. A candidate
with matcher score s (a mean log-probability) and ranker margin r is ranked by

    log sigmoid(2 r) + s,                                                                           (2)

which beat either alone and other mixtures on held-out training rows of EURLex-4K and YSO-Finna-en.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..decode.soft import log_sigmoid
from ..sparse import canonical
from ..threads import run_all
from . import _kernels, _twins

SLOPE = np.float32(2.0)
_PIECES = 64  # label ranges handed to threads; fixed, so that results do not depend on their number


class Pairs(NamedTuple):
    """Training rows of each label: those of label l are rows[indptr[l] : indptr[l + 1]]."""

    indptr: np.ndarray  # (d + 1,) int64
    rows: np.ndarray  # int32
    positive: np.ndarray  # bool


@dataclass(frozen=True)
class LabelRanker:
    """Sparse weights of d linear classifiers."""

    weights: sp.csr_array  # (d, p) float32
    bias: np.ndarray  # (d,) float32

    def margins(self, X, candidates):
        """r for every row of X and each of its candidates (n, K); -inf where there is none (-1)."""
        out = np.full(candidates.shape, -np.inf, np.float32)
        W = self.weights
        _kernels.score_candidates(
            X.indptr, X.indices, X.data, W.indptr, W.indices, W.data, self.bias, candidates,
            np.zeros(X.shape[1], np.float32), out,
        )  # fmt: skip
        return out


def training_pairs(candidates, Y):
    """Eq. (1): positives from Y (n, d), negatives from the candidates (n, K) that are none."""
    Y = canonical(Y)
    n, d = Y.shape
    named = (np.arange(n)[:, None] * d + candidates)[candidates >= 0]
    true = np.repeat(np.arange(n), np.diff(Y.indptr)) * d + Y.indices
    negative = np.setdiff1d(named, true)
    pairs = np.concatenate([true, negative])
    positive = np.arange(len(pairs)) < len(true)
    order = np.lexsort((pairs // d, pairs % d))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(pairs % d, minlength=d))])
    return Pairs(indptr, (pairs[order] // d).astype(np.int32), positive[order])


def train_ranker(
    X,
    pairs,
    *,
    C=1.0,
    tol=0.1,
    max_iter=8,
    prune=0.05,
    row_weight=None,
    n_jobs=None,
    seed=0,
    progress=None,
    compiled=True,
):
    """Fit the classifiers of all labels on their `pairs` of rows of X (n, p), CSR.

    A label stops when a sweep moves no dual variable by more than `tol`, or after `max_iter` sweeps.
    Weights of magnitude below `prune` are dropped. The result does not depend on `n_jobs`.
    """
    d = len(pairs.indptr) - 1
    norms = (1.0 + X.multiply(X).sum(axis=1)).astype(np.float32).ravel()
    weights = np.ones(X.shape[0]) if row_weight is None else row_weight
    weights = np.asarray(weights, np.float32)
    bias = np.zeros(d, np.float32)
    edges = np.linspace(0, d, min(d, _PIECES) + 1).astype(np.int64)
    fit = _kernels.fit_labels if compiled else _twins.fit_labels
    pieces: list = [None] * (len(edges) - 1)

    def run(piece):
        first, last = edges[piece], edges[piece + 1]
        values, columns, counts = fit(
            X.indptr, X.indices, X.data, X.shape[1], norms, weights, pairs.indptr, pairs.rows,
            pairs.positive, first, last, np.float32(C), np.float32(tol), max_iter, np.float32(prune), seed,
            bias,
        )  # fmt: skip
        pieces[piece] = (values, columns, counts)
        return int(last - first)

    run_all(run, range(len(pieces)), n_jobs, progress, d)
    values, columns, counts = (np.concatenate([piece[i] for piece in pieces]) for i in range(3))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return LabelRanker(sp.csr_array((values, columns, indptr), shape=(d, X.shape[1])), bias)


def blend(margins, matcher_scores):
    """Eq. (2), float32; -inf where there is no candidate."""
    with np.errstate(invalid="ignore"):
        mixed = log_sigmoid(SLOPE * margins) + matcher_scores
    return np.where(np.isfinite(margins), mixed, np.float32(-np.inf))
