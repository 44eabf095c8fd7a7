"""A smaller ranker after training: weights that hardly count are dropped."""

from dataclasses import replace

import numpy as np


def prune(ranker, threshold):
    """The ranker without the weights of magnitude below `threshold`; the others stay as they are."""
    lengths = np.diff(ranker.indptr)
    kept = np.abs(ranker.values * np.repeat(ranker.scale, lengths)) >= threshold
    before = np.concatenate([[0], np.cumsum(kept)])
    return replace(
        ranker, indptr=before[ranker.indptr], columns=ranker.columns[kept], values=ranker.values[kept]
    )
