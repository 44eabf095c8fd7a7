"""Predictions where labels were merged into others or withdrawn, as `Vocabulary.returned_as` has it."""

import numpy as np


def return_labels(
    labels: np.ndarray, scores: np.ndarray, returned_as: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """(labels, scores) (n, k), best first: merged labels once, with their best score, no withdrawn ones."""
    labels = np.where(labels >= 0, returned_as[labels], -1)
    order = np.argsort(labels, axis=1, kind="stable")
    ordered = np.take_along_axis(labels, order, axis=1)
    again = np.zeros(labels.shape, bool)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    gone = again | (labels < 0)
    kept = np.argsort(gone, axis=1, kind="stable")[:, :k]
    labels, scores = np.where(gone, -1, labels), np.where(gone, np.float32(-np.inf), scores)
    return np.take_along_axis(labels, kept, axis=1), np.take_along_axis(scores, kept, axis=1)


def return_scores(scores: np.ndarray, returned_as: np.ndarray) -> np.ndarray:
    """Scores (n, d): those of merged labels at the label that they are returned as, -inf at others."""
    found = np.full_like(scores, -np.inf)
    for l in np.flatnonzero(returned_as >= 0):
        np.maximum(found[:, returned_as[l]], scores[:, l], out=found[:, returned_as[l]])
    return found
