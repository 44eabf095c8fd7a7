"""The evidence on a candidate label as one number: its log-odds of being right.

    logit = c + ranker * log sigmoid(2 r) + matcher * s + similarity * t + cooccurrence * u
              + name * v + phrase * v' + unseen * v''                                                (1)

for the ranker's margin r, the matcher's score s (a mean log-probability), the similarity t to the label's
centroid, the support u from the other candidates (`ranking.cooccurrence`), computed from a first blend
without it, and what the label's name says (`ranking.names`). The coefficients are learnt from candidates of
held-out training rows, in two steps. The first is about the order within a row: with z the sum in (1), a
right candidate i should precede the wrong ones j,

    minimise  mean over rows, mean over right i of  log(1 + sum over wrong j of exp(z_j - z_i)).     (2)

The second scales and shifts z by a logistic regression over all candidates, so that sigmoid(logit) is a
probability. One-vs-all models, where every label is a group of its own, have one term, the margin, and only
need the second step:

    logit = c + margin * (log-odds of exp(s)).                                                       (3)
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.sigmoid import log_sigmoid
from ..metrics import hits, ndcg_rows
from ._order_kernels import SLOPE, log_odds
from .logistic import RIDGE, calibrate

_NO_OFFSETS = np.empty((0, 0), np.int64), np.empty(0, np.float32)
MIN_CALIBRATION_HITS = 50
"""Right candidates below which the coefficients keep their defaults."""
_MIN_SLOPE = 1e-3


@dataclass(frozen=True)
class Candidates:
    """Labels (n, K), -1 where there is none, and what the matcher knows of them."""

    labels: np.ndarray
    scores: np.ndarray  # without the prior; -inf where there is no label
    similarities: np.ndarray | None = None
    names: np.ndarray | None = None
    phrases: np.ndarray | None = None
    unseen: np.ndarray | None = None

    def columns(self, chosen: slice) -> "Candidates":
        """Some of the candidates of each row."""
        known = {name: array for name, array in vars(self).items() if array is not None}
        return replace(self, **{name: array[:, chosen] for name, array in known.items()})

    def evidence(
        self, margins: np.ndarray | None, cooccurrence: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """The terms of eqs. (1) and (3) by the names of their coefficients, without those that are None."""
        if margins is None:
            scores = np.ascontiguousarray(self.scores, np.float32)
            odds = np.empty(scores.shape, np.float32)
            log_odds(scores, *_NO_OFFSETS, odds)
            terms: dict[str, Any] = {"margin": odds}
        else:
            terms = {"ranker": log_sigmoid(margins, SLOPE), "matcher": self.scores}
        terms |= {"similarity": self.similarities, "name": self.names, "phrase": self.phrases}
        terms |= {"unseen": self.unseen, "cooccurrence": cooccurrence}
        return {name: term for name, term in terms.items() if term is not None}


@dataclass(frozen=True)
class Blend:
    """Coefficients of eq. (1) or (3). The defaults order well, but give no probabilities."""

    ranker: float = 2.5
    matcher: float = 0.8
    similarity: float = 0.0
    name: float = 0.0
    phrase: float = 0.0
    unseen: float = 0.0
    cooccurrence: float = 0.0
    margin: float = 0.0
    intercept: float = 0.0
    calibrated: bool = False

    def __call__(self, terms: Mapping[str, np.ndarray]) -> np.ndarray:
        """Log-odds (n, K) float32 of terms as `Candidates.evidence` has them; -inf without a candidate."""
        scores = terms["matcher" if "matcher" in terms else "margin"]
        return np.where(np.isfinite(scores), self.combine(terms), np.float32(-np.inf))

    def combine(self, terms: Mapping[str, np.ndarray]) -> np.ndarray:
        """Eq. (1) or (3), NaN where there is no candidate."""
        with np.errstate(invalid="ignore"):
            parts = [np.float32(getattr(self, name)) * term for name, term in terms.items()]
            return np.float32(self.intercept) + sum(parts)  # type: ignore[return-value]

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Blend":
        known = {field.name for field in fields(cls)}
        if set(facts) != known or not all(np.isfinite(value) for value in facts.values()):
            raise ValueError(f"the blend is not {', '.join(sorted(known))}, all finite")
        return cls(**facts)


def default_blend(named: bool) -> Blend:
    """The blend without held-out rows; what names count is about what YSO-Finna-en learns."""
    return replace(Blend(), name=0.45, phrase=0.2, unseen=-1.0) if named else Blend()


ONE_VS_ALL = Blend(ranker=0.0, matcher=0.0, margin=1.0)
"""Eq. (3) before calibration."""


def learn_blend(terms: Mapping[str, np.ndarray], right: np.ndarray) -> Blend:
    """Fit a `Blend` to the terms of candidates (n, K), `right` or not; -inf where there is no candidate."""
    present = np.all([np.isfinite(term) for term in terms.values()], axis=0)
    right = right & present
    if right.sum() < MIN_CALIBRATION_HITS or right[present].all():
        return ONE_VS_ALL if "margin" in terms else default_blend(named="name" in terms)
    names = [name for name, term in terms.items() if len(terms) == 1 or np.ptp(term[present]) > 0]
    features = np.stack([np.where(present, terms[name], 0) for name in names], axis=2).astype(np.float64)
    order = _order_within_rows(features, present, right) if len(names) > 1 else np.ones(1)
    z = (features @ order)[present]
    slope, intercept = calibrate(z, right[present])
    learnt = dict.fromkeys(terms, 0.0) | dict(zip(names, (max(slope, _MIN_SLOPE) * order).tolist()))
    base = ONE_VS_ALL if "margin" in terms else Blend()
    return replace(base, **learnt, intercept=intercept, calibrated=True)


def _order_within_rows(features, present, right):
    """Eq. (2), with a little ridge towards equal weights."""
    rows = right.any(axis=1) & (present & ~right).any(axis=1)
    features, present, right = features[rows], present[rows], right[rows]
    size = features[present].std(axis=0) + 1e-9
    (n, width), cases = present.shape, (features / size).reshape(-1, features.shape[2])
    row, place = np.nonzero(right)
    share = 1 / right.sum(axis=1)[row]
    absent = ~present

    def loss(weights):
        z = (cases @ weights).reshape(n, width)
        z[absent] = -np.inf
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        own = e[row, place]
        e[row, place] = 0.0  # the wrong ones are left
        total = own + e.sum(axis=1)[row]
        value = share @ (np.log(total) - z[row, place])
        e *= np.bincount(row, share / total, minlength=n)[:, None]
        e[row, place] = share * (own / total - 1)
        slope = e.ravel() @ cases
        return (value + RIDGE / 2 * np.sum((weights - 1) ** 2)) / n, (slope + RIDGE * (weights - 1)) / n

    from scipy.optimize import minimize  # slow to import, and for training alone

    return minimize(loss, np.ones(features.shape[2]), jac=True, method="L-BFGS-B").x / size


def best_five(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """The labels (n, 5) with the highest log-odds."""
    order = np.argsort(-logits, axis=1, kind="stable")[:, :5]
    return np.take_along_axis(labels, order, axis=1)


def cross_ndcg(terms: dict[str, np.ndarray], labels: np.ndarray, truth: sp.csr_array) -> np.ndarray:
    """nDCG@5 of each row, ranked by a blend of the `terms` that was learnt on the other half of the
    rows."""
    values, right = np.empty(len(labels)), hits(truth, labels)
    half = np.arange(len(labels)) % 2 == 0
    for taught, judged in ((half, ~half), (~half, half)):
        blend = learn_blend({name: term[taught] for name, term in terms.items()}, right[taught])
        logits = blend.combine({name: term[judged] for name, term in terms.items()})
        best = best_five(labels[judged], logits)
        values[judged] = ndcg_rows(truth[np.flatnonzero(judged)], best, 5)
    return values
