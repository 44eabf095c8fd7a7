"""Logistic regression of a few coefficients, by Newton's method."""

from typing import Any

import numpy as np

RIDGE = 1.0
TOLERANCE = 1e-5
"""Largest change of a coefficient in the last step."""
N_BINS = 1024
"""Bins of `calibrate`."""


def logistic(features: np.ndarray, hits: np.ndarray, start: Any, trials: Any = 1.0) -> np.ndarray:
    """Coefficients (f + 1,), the intercept last, that make sigmoid(features w) the probability of a hit.

    `features` (n, f) stand for `trials` cases each, one number or (n,), of which `hits` (n,) are hits. The
    coefficients are drawn a little to `start`.
    """
    F = np.vstack([features.T, np.ones(len(features))]).astype(np.float64)  # (f + 1, n)
    total, w = F @ hits.astype(np.float64), np.array(start, np.float64)
    start, trials = w, np.broadcast_to(np.asarray(trials, np.float64), len(features))

    def measure(w):
        """(value of the objective, probabilities): both need the same exponentials."""
        logits = w @ F
        e = np.exp(-np.abs(logits))
        softplus = trials @ (np.maximum(logits, 0) + np.log1p(e))
        value = softplus - w @ total + RIDGE / 2 * np.sum((w - start) ** 2)
        return value, np.where(logits >= 0, 1.0, e) / (1 + e)

    value, p = measure(w)
    for _ in range(50):
        gradient = F @ (trials * p) - total + RIDGE * (w - start)
        curvature = (F * (trials * p * (1 - p))) @ F.T + RIDGE * np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        following, p = measure(w - step)
        while following > value and np.abs(step).max() > 1e-9:
            step /= 2
            following, p = measure(w - step)
        w, value = w - step, following
        if np.abs(step).max() < TOLERANCE:
            break
    return w


def calibrate(scores: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """(slope, intercept) that make sigmoid(slope score + intercept) the probability of `right` (n,) bool.

    The scores (n,) are gathered in bins of equal width, each represented by its mean: the regression then
    takes the time of N_BINS scores, and the error of the slope is of the second order in their width.
    """
    low, high = float(scores.min()), float(scores.max())
    width = max(high - low, 1e-12) / N_BINS
    bins = np.minimum((scores - low) / width, N_BINS - 1).astype(np.int64)
    trials, hits = np.bincount(bins), np.bincount(bins, right)
    used = np.flatnonzero(trials)
    means = np.bincount(bins, scores)[used] / trials[used]
    slope, intercept = logistic(means[:, None], hits[used], [0.0, 0.0], trials[used]).tolist()
    return slope, intercept
