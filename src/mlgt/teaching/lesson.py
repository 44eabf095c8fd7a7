"""A lesson: the new rows after the replayed ones of the model's sample, and what they are about."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._core.sparse import canonical, label_counts
from ..model.fitted import FittedModel

RATE = 2.0
"""How far known labels with many new rows move, in shares of these. One new row, which may be an exception,
moves them half as far. Chosen on training rows (docs/growing.md)."""


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


def make_lesson(model: FittedModel, X: sp.csr_array, Y: sp.csr_array) -> Lesson:
    """The lesson of scaled rows X (n, p) with labels Y (n, d) for a model that knows their features."""
    n, d_old, d = X.shape[0], len(model.label_counts), Y.shape[1]
    counts, old = label_counts(Y), np.append(model.label_counts, np.zeros(d - d_old, np.int64))
    fresh = (old == 0) & ((counts > 0) | (np.arange(d) >= d_old))
    share = (counts / np.maximum(counts + old, 1)).astype(np.float32)
    expected = old * (n / max(1, model.n_rows))
    excess = np.maximum(1, counts / (expected + np.sqrt(expected) + 1))
    weight = RATE - (RATE - 1) / np.maximum(counts, 1)
    rate = np.minimum(1, weight * share / excess).astype(np.float32)
    n_replayed, rows = 0, (X, Y)
    if model.sample is not None:
        beside = model.sample.with_labels(d).beside(X)
        rows = sp.vstack([beside[0], X]), sp.vstack([beside[1], Y])
        n_replayed = rows[0].shape[0] - n
    X, Y = canonical(rows[0], np.float32), canonical(rows[1], np.float32)
    known = model.label_counts[model.label_counts > 0]
    mean = min(0.5, known.mean() / max(1, model.n_rows)) if len(known) else 0.5
    frequency = np.clip(counts / (model.n_rows + n), mean, 0.5)
    touched = (counts > 0) & ~fresh
    return Lesson(X, Y, n_replayed, fresh, touched, share, rate, frequency)
