"""Logistic regression of a few coefficients, by Newton's method."""

from typing import Any

import numpy as np

RIDGE = 1.0


def logistic(features: np.ndarray, right: np.ndarray, start: Any) -> np.ndarray:
    """Coefficients (f + 1,), the intercept last, that make sigmoid(features w) the probability of `right`.

    `features` (n, f), `right` (n,) bool; drawn a little to `start`.
    """
    features = np.column_stack([features, np.ones(len(features))]).astype(np.float64)
    target, start = right.astype(np.float64), np.asarray(start, np.float64)

    def loss(w, logits):
        softplus = np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits)))
        return np.sum(softplus - target * logits) + RIDGE / 2 * np.sum((w - start) ** 2)

    w, logits = start.copy(), features @ start
    value = loss(w, logits)
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        gradient = features.T @ (p - target) + RIDGE * (w - start)
        curvature = (features * (p * (1 - p))[:, None]).T @ features + RIDGE * np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        while (following := loss(w - step, features @ (w - step))) > value and np.abs(step).max() > 1e-9:
            step /= 2
        w = w - step
        logits, value = features @ w, following
        if np.abs(step).max() < 1e-6:
            break
    return w
