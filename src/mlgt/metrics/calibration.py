"""Calibration: do predictions of a probability p come true in a share p of the cases?"""

import numpy as np


def reliability(probability: np.ndarray, right: np.ndarray, bins: int = 10) -> np.ndarray:
    """Compare predicted probabilities with how often the predictions are right."""
    place = np.minimum((np.asarray(probability) * bins).astype(int), bins - 1).ravel()
    counts = np.bincount(place, minlength=bins)
    predicted = np.bincount(place, np.ravel(probability), bins)
    true = np.bincount(place, np.ravel(right), bins)
    kept = counts > 0
    return np.stack([predicted[kept] / counts[kept], true[kept] / counts[kept], counts[kept]], axis=1)


def calibration_error(table: np.ndarray) -> float:
    """Compute the expected calibration error."""
    return float(np.average(np.abs(table[:, 0] - table[:, 1]), weights=table[:, 2])) if len(table) else 0.0
