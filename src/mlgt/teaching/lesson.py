"""A lesson: the new rows after the replayed ones of the model's sample, and what they are about."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical, label_counts
from ..decoding.soft import DEFAULT_SLOPE
from ..model.fitted import FittedModel

RATE = 2.0
"""How far known labels move, in shares of their new rows; chosen on training rows (docs/growing.md)."""
PREDICTED, NEAR, MIN_NEAR = -0.6, 0.5, 20
"""Log-odds from which on labels are usually predicted, the distance of labels that are near it, and how
many of these `predicted_margin` needs."""


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
    level: float
    """The margin from which on a known label is predicted."""


def make_lesson(model: FittedModel, X: sp.csr_array, Y: sp.csr_array) -> Lesson:
    """The lesson of scaled rows X (n, p) with labels Y (n, d) for a model that knows their features."""
    d_old, d = len(model.label_counts), Y.shape[1]
    counts, old = label_counts(Y), np.append(model.label_counts, np.zeros(d - d_old, np.int64))
    fresh = (old == 0) & ((counts > 0) | (np.arange(d) >= d_old))
    share = (counts / np.maximum(counts + old, 1)).astype(np.float32)
    expected = old * (X.shape[0] / max(1, model.n_rows))
    excess = np.maximum(1, counts / (expected + np.sqrt(expected) + 1))
    rate = np.minimum(1, RATE * share / excess).astype(np.float32)
    n_replayed, rows = 0, (X, Y)
    if model.sample is not None:
        own = model.sample.with_labels(d)
        rows = sp.vstack([own.X[own.replayed], X]), sp.vstack([own.Y[own.replayed], Y])
        n_replayed = rows[0].shape[0] - X.shape[0]
    X, Y = canonical(rows[0], np.float32), canonical(rows[1], np.float32)
    return Lesson(X, Y, n_replayed, fresh, (counts > 0) & ~fresh, share, rate, predicted_margin(model))


def predicted_margin(model: FittedModel) -> float:
    """The median margin of labels of replayed rows that the model is about to predict."""
    blend, default = model.active_blend, 0.0
    if blend is None or not blend.calibrated:
        return default
    if model.ranker is None:
        slope = model.decoder_params.get("slope", DEFAULT_SLOPE)
        return float(np.clip((PREDICTED - blend.intercept) / (slope * blend.margin), -1, 1))
    if model.sample is None:
        return default
    X = model.sample.X[: model.sample.taught.start]
    found = model.candidates(X, model.n_candidates)
    about = np.abs(model.judge(X, found).logits - PREDICTED) < NEAR
    margins = model.ranker.margins(X, found.labels)[about]
    return float(np.median(margins)) if len(margins) >= MIN_NEAR else default
