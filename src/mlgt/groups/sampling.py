"""From inclusion probabilities to groups: two ways to draw a column of A.

`bernoulli` is the paper's: independent entries, c ones on average. Column weights then vary, and labels
with 0 to 3 groups can hardly be decoded.

`fixed_size` is ours: exactly c ones in every column with the same inclusion probabilities, by
systematic sampling in random order (Madow 1949). With the entries in random order, let S be their
running sum and u uniform in [0, 1): entry j is drawn when a whole number lies in
(S_{j-1} + u, S_j + u].
"""

import numpy as np


def bernoulli(P: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Independent draws: boolean (rows, m) with P[i, j] = Pr(True)."""
    return rng.random(P.shape) < P


def fixed_size(P: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Exactly round(sum of the row) draws per row: boolean (rows, m), the same Pr(True)."""
    order = rng.permuted(np.tile(np.arange(P.shape[1]), (len(P), 1)), axis=1)
    sums = np.cumsum(np.take_along_axis(P, order, axis=1), axis=1)
    sums *= np.round(sums[:, -1:]) / sums[:, -1:]  # rounding errors must not remove or add a group
    ticks = np.floor(sums + rng.random((len(P), 1)))
    drawn = np.empty(P.shape, bool)
    np.put_along_axis(drawn, order, np.diff(ticks, axis=1, prepend=0.0) > 0, axis=1)
    return drawn


def fill_up(certain: np.ndarray, c: int, rng: np.random.Generator) -> np.ndarray:
    """`fixed_size` where up to c entries of a row are certain, (rows, m) bool, and all others alike."""
    keys, drawn = rng.random(certain.shape, np.float32), np.zeros(certain.shape, bool)
    keys[certain] = -1
    np.put_along_axis(drawn, np.argpartition(keys, c - 1, axis=1)[:, :c], True, axis=1)
    return drawn


SAMPLERS = {"bernoulli": bernoulli, "fixed_size": fixed_size}
