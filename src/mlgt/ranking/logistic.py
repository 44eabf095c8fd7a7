"""Logistic regression of a few coefficients, by Newton's method."""

from typing import Any

import numpy as np

RIDGE = 1.0
TOLERANCE = 1e-5
"""Largest change of a coefficient in the last step."""


def logistic(features: np.ndarray, right: np.ndarray, start: Any) -> np.ndarray:
    """Coefficients (f + 1,), the intercept last, that make sigmoid(features w) the probability of `right`.

    `features` (n, f), `right` (n,) bool; drawn a little to `start`.
    """
    F = np.vstack([features.T, np.ones(len(features))]).astype(np.float64)  # (f + 1, n)
    total, w = F @ right.astype(np.float64), np.array(start, np.float64)
    start = w

    def measure(w):
        """(value of the objective, probabilities): both need the same exponentials."""
        logits = w @ F
        e = np.exp(-np.abs(logits))
        softplus = np.maximum(logits, 0).sum() + np.log1p(e).sum()
        value = softplus - w @ total + RIDGE / 2 * np.sum((w - start) ** 2)
        return value, np.where(logits >= 0, 1.0, e) / (1 + e)

    value, p = measure(w)
    for _ in range(50):
        gradient = F @ p - total + RIDGE * (w - start)
        curvature = (F * (p * (1 - p))) @ F.T + RIDGE * np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        following, p = measure(w - step)
        while following > value and np.abs(step).max() > 1e-9:
            step /= 2
            following, p = measure(w - step)
        w, value = w - step, following
        if np.abs(step).max() < TOLERANCE:
            break
    return w
