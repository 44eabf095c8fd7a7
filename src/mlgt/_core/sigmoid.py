"""Log-odds and probabilities."""

import numpy as np


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Probabilities of log-odds; 0 for -inf."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-logits))


def log_sigmoid(x: np.ndarray) -> np.ndarray:
    """log(1 / (1 + exp(-x))), without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
