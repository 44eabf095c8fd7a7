"""What teaching did to a model, on the rows that it keeps out of training."""

from dataclasses import dataclass

import numpy as np

from ..metrics import f1_rows, hits, ndcg_rows, surely_better
from ..model.fitted import FittedModel
from ..model.sample import Sample
from ..ranking.sets import best_sets

MIN_LOSS = 0.002
"""Loss below which a change is none, however sure."""
ERRORS = 3.0
"""Standard errors of a sure loss: three measures are looked at, after each lesson."""
MEASURES = ("P@1", "nDCG@5", "F1")


@dataclass(frozen=True)
class Checkup:
    """Means over the checked rows before and after, by measure, and those that are surely worse."""

    rows: int
    before: dict[str, float]
    after: dict[str, float]
    worse: list[str]

    def __str__(self) -> str:
        figures = ", ".join(
            f"{name} {self.before[name]:.3f} -> {self.after[name]:.3f}" for name in MEASURES
        )
        return f"{figures} on {self.rows} rows kept out of training"


def check_up(before: FittedModel, after: FittedModel) -> Checkup | None:
    """Compare two states of a model on the checked rows of the first; None if it has none.

    A measure is surely worse if it fell by more than MIN_LOSS and by ERRORS standard errors of the
    differences row by row.
    """
    if before.sample is None or not before.sample.sizes[0]:
        return None
    known = np.append(before.label_counts > 0, np.zeros(len(after.label_counts), bool))
    known[before.sample.later] = False
    old, new = (_measure(model, before.sample, known) for model in (before, after))
    worse = [
        name
        for name in MEASURES
        if surely_better(old[name], new[name], ERRORS) and old[name].mean() > new[name].mean() + MIN_LOSS
    ]
    means = [{name: float(values.mean()) for name, values in found.items()} for found in (old, new)]
    return Checkup(int(before.sample.sizes[0]), means[0], means[1], worse)


def _measure(model: FittedModel, sample: Sample, known: np.ndarray) -> dict[str, np.ndarray]:
    """The measures of each checked row of `sample` by its `known` labels: whether it has a label that the
    model knew nothing of before, nobody has said."""
    assert model.sample is not None
    sample = sample.with_labels(len(model.label_counts))
    sample = sample.with_features(model.sample.n_features - sample.n_features)
    X, Y = sample.X[sample.checked], sample.Y[sample.checked]
    k = min(max(5, model.max_candidates), len(model.label_counts))
    labels, scores = model.top_k(X, k)
    own = model.sample
    kept = best_sets(labels, scores, own.later, own.bars) if model.calibrated else labels[:, :5]
    labels, kept = (_without(found, known) for found in (labels, kept))
    first = hits(Y, labels[:, :1])[:, 0].astype(float)
    return {"P@1": first, "nDCG@5": ndcg_rows(Y, labels, 5), "F1": f1_rows(Y, kept)}


def _without(labels, known):
    """Lists of labels (n, k) without those that are not known."""
    labels = np.where((labels >= 0) & known[labels], labels, -1)
    return np.take_along_axis(labels, np.argsort(labels < 0, axis=1, kind="stable"), axis=1)
