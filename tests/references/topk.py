"""`mlgt._core.topk.top_k` by a stable sort."""

import numpy as np


def top_k(scores, k):
    labels = np.full((len(scores), k), -1, dtype=np.int64)
    best = np.full((len(scores), k), -np.inf, dtype=scores.dtype)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    labels[:, : order.shape[1]] = order
    best[:, : order.shape[1]] = np.take_along_axis(scores, order, axis=1)
    labels[best == -np.inf] = -1
    return labels, best
