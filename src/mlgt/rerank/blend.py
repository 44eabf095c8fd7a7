"""What matcher, ranker and centroids say of a candidate, as one number: its log-odds of being right.

    logit = c + ranker * log sigmoid(2 r) + matcher * s + similarity * t                             (1)

for the ranker's margin r, the matcher's score s (a mean log-probability) and the centroid's similarity t.
The four coefficients are those of a logistic regression on candidates of held-out training rows, so that
sigmoid(logit) is a probability. Where every label is a group of its own (one-vs-all) there is only

    logit = c + margin * (log-odds of exp(s)).                                                       (2)
"""

from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from ..decode.soft import log_sigmoid

SLOPE = np.float32(2.0)
ENOUGH = 50  # right candidates to learn from; with fewer the coefficients stay as they are
_RIDGE = 1.0


@dataclass(frozen=True)
class Blend:
    """Coefficients of eq. (1) or (2). As they stand they order well, but are no probabilities."""

    ranker: float = 2.5
    matcher: float = 0.8
    similarity: float = 0.0
    margin: float = 0.0
    intercept: float = 0.0
    calibrated: bool = False

    def __call__(self, margins, scores, similarities):
        """Log-odds (n, K) float32; -inf where there is no candidate."""
        with np.errstate(invalid="ignore"):
            total = np.float32(self.intercept) + sum(
                np.float32(getattr(self, name)) * value
                for name, value in evidence(margins, scores, similarities).items()
                if getattr(self, name)
            )
        return np.where(np.isfinite(scores), total, np.float32(-np.inf))

    def to_facts(self):
        return asdict(self)

    @classmethod
    def from_facts(cls, facts):
        known = {field.name for field in fields(cls)}
        if set(facts) != known or not all(np.isfinite(value) for value in facts.values()):
            raise ValueError(f"the blend is not {', '.join(sorted(known))}, all finite")
        return cls(**facts)


ONE_VS_ALL = Blend(ranker=0.0, matcher=0.0, margin=1.0)
"""Eq. (2), not yet calibrated."""

BEFORE_BLENDS = Blend(ranker=1.0, matcher=1.0)
"""What models of format version 1 are ranked by."""


def evidence(margins, scores, similarities):
    """The terms of eqs. (1) and (2), by the names of their coefficients; None where there is none."""
    terms = {}
    if margins is not None:
        terms["ranker"] = log_sigmoid(SLOPE * margins)
        terms["matcher"] = scores
    else:
        terms["margin"] = scores - np.log(np.maximum(-np.expm1(scores), np.float32(1e-30)))
    if similarities is not None:
        terms["similarity"] = similarities
    return terms


def learn_blend(terms, right):
    """A `Blend` of the `terms` (each (n, K), all finite) of candidates, `right` (n, K) or not.

    Logistic regression by Newton's method, drawn a little to the coefficients of `Blend()`.
    """
    if right.sum() < ENOUGH or right.all():
        return ONE_VS_ALL if "margin" in terms else Blend()
    names = list(terms)
    start = np.array([getattr(Blend(), name) for name in names] + [0.0])
    features = np.stack([terms[name].ravel() for name in names] + [np.ones(right.size)], axis=1)
    features = features.astype(np.float64)
    target = right.ravel().astype(np.float64)

    def loss(coefficients):
        logits = features @ coefficients
        drawn = _RIDGE / 2 * np.sum((coefficients - start) ** 2)
        return np.sum(np.logaddexp(0, logits) - target * logits) + drawn

    coefficients = np.zeros_like(start)
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(features @ coefficients, -30, 30)))
        gradient = features.T @ (p - target) + _RIDGE * (coefficients - start)
        curvature = (features * (p * (1 - p))[:, None]).T @ features + _RIDGE * np.eye(len(start))
        step = np.linalg.solve(curvature, gradient)
        while loss(coefficients - step) > loss(coefficients) and np.abs(step).max() > 1e-6:
            step /= 2
        coefficients -= step
        if np.abs(step).max() < 1e-6:
            break
    learnt = dict(zip([*names, "intercept"], coefficients.tolist()))
    return replace(ONE_VS_ALL if "margin" in terms else Blend(), **learnt, calibrated=True)
