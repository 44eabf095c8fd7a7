"""A lesson: the new rows after the replayed ones of the model's sample, and what they are about."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._core.sigmoid import log_sigmoid
from .._core.sparse import canonical, label_counts
from ..decoding.soft import DEFAULT_SLOPE
from ..model.fitted import FittedModel
from ..ranking.blend import SLOPE

RATE = 2.0
"""How far known labels move, in shares of their new rows; chosen on training rows (docs/growing.md)."""
NEAR, MIN_NEAR = 0.5, 20
"""Distance of log-odds that are near zero, and how many labels near it `even_margin` needs."""


@dataclass(frozen=True)
class Lesson:
    """New rows after replayed ones, and what they are about."""

    X: sp.csr_array  # (replayed + new, p), scaled
    Y: sp.csr_array  # (replayed + new, d)
    n_replayed: int
    fresh: np.ndarray  # (d,) bool: labels without a training row so far
    touched: np.ndarray  # (d,) bool: other labels with a new row
    share: np.ndarray  # (d,) float32: new rows of each label, as a share of all of them
    rate: np.ndarray  # (d,) float32: how far known labels move
    frequency: np.ndarray  # (d,): share of all rows of each label, at least the mean of known ones
    level: float
    """The margin with which a label is as likely right as wrong."""


def make_lesson(model: FittedModel, X: sp.csr_array, Y: sp.csr_array) -> Lesson:
    """The lesson of scaled rows X (n, p) with labels Y (n, d) for a model that knows their features."""
    n, d_old, d = X.shape[0], len(model.label_counts), Y.shape[1]
    counts, old = label_counts(Y), np.append(model.label_counts, np.zeros(d - d_old, np.int64))
    fresh = (old == 0) & ((counts > 0) | (np.arange(d) >= d_old))
    share = (counts / np.maximum(counts + old, 1)).astype(np.float32)
    expected = old * (n / max(1, model.n_rows))
    excess = np.maximum(1, counts / (expected + np.sqrt(expected) + 1))
    rate = np.minimum(1, RATE * share / excess).astype(np.float32)
    n_replayed, rows = 0, (X, Y)
    if model.sample is not None:
        own = model.sample.with_labels(d)
        rows = sp.vstack([own.X[own.replayed], X]), sp.vstack([own.Y[own.replayed], Y])
        n_replayed = rows[0].shape[0] - n
    X, Y = canonical(rows[0], np.float32), canonical(rows[1], np.float32)
    known = model.label_counts[model.label_counts > 0]
    mean = known.mean() / max(1, model.n_rows) if len(known) else 0.5
    frequency = np.clip(counts / (model.n_rows + n), mean, 0.5)
    touched = (counts > 0) & ~fresh
    return Lesson(X, Y, n_replayed, fresh, touched, share, rate, frequency, even_margin(model))


def even_margin(model: FittedModel) -> float:
    """The margin of a new label with log-odds of 0.

    Where labels are in shared groups, it is the median of the candidates of kept rows with log-odds near 0.
    """
    blend, default = model.active_blend, 0.0
    if blend is None or not blend.calibrated:
        return default
    slope = model.decoder_params.get("slope", DEFAULT_SLOPE)
    if model.ranker is None:
        return float(np.clip(-blend.intercept / (slope * blend.margin), -1, 1))
    if model.centroids is None:  # a group of its own: the margin is all evidence
        margins, blend = np.linspace(-2, 2, 401, dtype=np.float32), model.final_blend or blend
        terms = {"ranker": log_sigmoid(margins, SLOPE), "matcher": log_sigmoid(margins, slope)}
        return float(np.interp(0, blend(terms), margins))
    if model.sample is None:
        return default
    X = model.sample.X[: model.sample.taught.start]
    found = model.candidates(X, model.n_candidates)
    about = np.abs(model.judge(X, found).logits) < NEAR
    margins = model.ranker.margins(X, found.labels)[about]
    return float(np.median(margins)) if len(margins) >= MIN_NEAR else default
