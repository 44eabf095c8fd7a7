"""Log-odds of new labels that are right as often as they say (ours).

The blend of the evidence was learnt without a new label, and how often it occurs among the new rows says
nothing about how often it will. With m_i the margin of row i by a classifier that did not see it and e_i
all other evidence, its log-odds are

    logit_i = e_i + F(s m_i + t),                                                                    (1)

F(u) = ranker log sigmoid(2 u) and, if the label is a group of its own, + matcher log sigmoid(slope u), as
in `ranking.blend`, eq. (1). The classifier is scaled by s and shifted by t, which minimise

    sum over its c rows of log(1 + exp(-logit_i))
      + c (1 - pi) / (pi n) sum over n other rows of log(1 + exp(logit_i)) + STIFFNESS (log s / s0)^2 / 2,

as if the label had the frequency pi of `Lesson.frequency`.                                          (2)

Few rows tell little about the surest of the others: the tail of their margins is heavier than (1) has it. A
label is therefore predicted from a bar on, the least log-odds between SURE and SUREST at which it is right
at least half of the time among these rows, which its classifiers did not see,

    right >= c (1 - pi) / (pi n) (wrong + 1/2),                                                      (3)

with half a wrong row more than were found. When a label gets more rows, this bar moves by their share among
all of its rows back to SURE.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._core.sigmoid import sigmoid
from ..decoding.soft import DEFAULT_SLOPE
from ..model.fitted import FittedModel
from ..ranking.blend import SLOPE, Blend
from ..ranking.sets import SURE, SUREST
from .fresh import FreshLabels
from .grow import one_vs_all, rescale_groups
from .lesson import Lesson

STEEPNESS, STIFFNESS = 1.5, 10.0
"""s0, and the weight in (2) that holds s near it; chosen on training rows."""

Curve = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""F and its derivative."""


def calibrate(model: FittedModel, lesson: Lesson, fresh: FreshLabels) -> FittedModel:
    """The model with scaled and shifted classifiers of the labels judged, and bars of those that came after
    training."""
    bars: dict[int, float] = {}
    if not len(fresh.judged) or (model.ranker is None and not one_vs_all(model.groups)):
        return _with_bars(model, lesson, bars)
    others, curve = other_evidence(model, lesson, fresh), margin_curve(model)
    d = len(model.label_counts)
    scale, shift = np.ones(d, np.float32), np.zeros(d, np.float32)
    own = lesson.Y[:, fresh.judged].toarray() > 0
    for i, label in enumerate(fresh.judged):
        margins, frequency = fresh.margins[:, i], lesson.frequency[label]
        s, t = fit_margins(margins, own[:, i], others[:, i], curve, frequency)
        scale[label], shift[label] = s, t
        bars[label] = find_bar(others[:, i] + curve(s * margins + t)[0], own[:, i], frequency)
    if model.ranker is not None:
        ranker = model.ranker
        ranker = replace(ranker, scale=ranker.scale * scale, bias=ranker.bias * scale + shift)
        model = replace(model, ranker=ranker)
    if model.ranker is None or model.centroids is None:
        model = replace(model, classifiers=rescale_groups(model, fresh.judged, scale, shift))
    return _with_bars(model, lesson, bars)


def _with_bars(model, lesson, bars):
    """The model with these bars by label; those of other labels with new rows move towards SURE."""
    sample = model.sample
    if sample is None or not len(sample.later):
        return model
    share = lesson.share[sample.later]
    moved = sample.bars + share * (np.float32(SURE) - sample.bars)
    found = [bars.get(label, bar) for label, bar in zip(sample.later.tolist(), moved.tolist())]
    return replace(model, sample=replace(sample, bars=np.array(found, np.float32)))


def find_bar(logits: np.ndarray, own: np.ndarray, frequency: float) -> float:
    """The least log-odds from SURE to SUREST at which eq. (3) holds, or else SUREST."""
    if own.all():
        return SURE
    weight = _weight_of_others(own, frequency)
    for bar in np.sort(np.append(SURE, logits[(logits > SURE) & (logits < SUREST)])):
        given = logits >= bar
        if (given & own).sum() >= weight * ((given & ~own).sum() + 0.5):
            return float(bar)
    return SUREST


def _weight_of_others(own, frequency):
    """What a row without the label counts in eqs. (2) and (3)."""
    return own.sum() * (1 - frequency) / frequency / (~own).sum()


def fit_margins(
    margins: np.ndarray, own: np.ndarray, others: np.ndarray, curve: Curve, frequency: float
) -> tuple[float, float]:
    """(s, t) of eq. (2) for rows of these margins, of which those `own` (n,) bool have the label."""
    if own.all():
        return 1.0, 0.0
    weight = np.where(own, 1.0, _weight_of_others(own, frequency))
    sign = np.where(own, -1.0, 1.0)

    def loss(at):
        s = np.exp(at[0])
        value, slope = curve(s * margins + at[1])
        logits = sign * (others + value)
        total = weight @ np.logaddexp(0, logits) + STIFFNESS / 2 * (at[0] - np.log(STEEPNESS)) ** 2
        pull = weight * sign * sigmoid(logits) * slope
        return total, np.array([pull @ (s * margins) + STIFFNESS * (at[0] - np.log(STEEPNESS)), pull.sum()])

    from scipy.optimize import minimize  # slow to import, and for teaching alone

    start = [np.log(STEEPNESS), -STEEPNESS * np.median(margins[own])]
    at = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-2, 4), (-50, 50)]).x
    return float(np.exp(at[0])), float(at[1])


def margin_curve(model: FittedModel) -> Curve:
    """F of eq. (1); where the log-odds are no probabilities, with F(0) = 0."""
    blend = _blend(model)
    slope = model.decoder_params.get("slope", DEFAULT_SLOPE)
    if model.ranker is None:
        factor = slope * (blend.margin if blend.calibrated else 1.0)
        return lambda u: (factor * u, np.full_like(u, factor))
    terms = [(blend.ranker, SLOPE)] + ([(blend.matcher, slope)] if model.centroids is None else [])

    def curve(u):
        value = sum(weight * -np.logaddexp(0, -steep * u) for weight, steep in terms)
        return value, sum(weight * steep * sigmoid(-steep * u) for weight, steep in terms)

    return curve


def other_evidence(model: FittedModel, lesson: Lesson, fresh: FreshLabels) -> np.ndarray:
    """e (n, f) of eq. (1) for the rows of the lesson and the labels judged."""
    blend, labels = _blend(model), fresh.judged
    if not blend.calibrated:
        return np.full(fresh.margins.shape, -margin_curve(model)(np.zeros(1))[0][0])
    e = np.full(fresh.margins.shape, blend.intercept)
    if model.centroids is not None:
        e += blend.matcher * model.given(lesson.X, labels).scores
        e += blend.similarity * fresh.similarities
    if model.cooccurrence is not None and model.final_blend is not None:
        e += blend.cooccurrence * _support(model, lesson.X, labels)
    return e


def _support(model, X, labels):
    """(n, f): the support of the labels from the candidates of the rows."""
    found = model.candidates(X, model.n_candidates)
    margins = None if model.ranker is None else model.ranker.margins(X, found.labels)
    logits = model.blend(found.evidence(margins))
    given = np.tile(labels, (len(logits), 1))
    others = np.where(np.isin(found.labels, labels), -1, found.labels)
    logits = np.where(others < 0, np.float32(-np.inf), logits)
    logits = np.concatenate([logits, np.full(given.shape, -np.inf, np.float32)], axis=1)
    support = model.cooccurrence.support(np.concatenate([others, given], axis=1), logits)
    return support[:, -len(labels) :]


def _blend(model):
    """The blend that orders labels last."""
    final = None if model.cooccurrence is None else model.final_blend
    return final or model.blend or Blend()
