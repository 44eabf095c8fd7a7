"""Labels beyond the ranked candidates: they follow them, in the order of the matcher (ours).

    logit_l = - log(exp(-last) + exp(-c - slope * s_l)),                                             (1)

a smooth minimum of the logit of a row's last candidate and of what held-out rows say about labels with the
matcher's score s_l, the prior and the similarity in it (eq. (2) of `shortlist`). Rankers never saw such
labels as wrong candidates, so that their margins would be too high, and support from co-occurring labels
would depend on the length of the list. As it is, a list begins with every shorter one. Slope and c are a
logistic regression over the next N_LEARNT labels of held-out rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.sigmoid import log_sigmoid
from ..metrics import hits
from .blend import Blend
from .centroids import WEIGHT
from .logistic import logistic

N_LEARNT = 400
"""Labels of each held-out row beyond its candidates that (1) is learnt from."""
MIN_HITS = 20
"""Right ones among them below which the blend's own coefficients are used."""
_MIN_SLOPE = 1e-3


@dataclass(frozen=True)
class Rest:
    """Coefficients of eq. (1)."""

    slope: float
    intercept: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Log-odds of labels with these scores of the matcher, before the minimum."""
        return np.float32(self.intercept) + np.float32(self.slope) * scores

    @classmethod
    def like(cls, blend: Blend) -> "Rest":
        """Without held-out rows: the matcher counts as it does for candidates."""
        return cls(max(blend.matcher, _MIN_SLOPE), blend.intercept)

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Rest":
        return cls(float(facts["slope"]), float(facts["intercept"]))


def below(scores: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The smooth minimum of eq. (1): scores (n, r), below `last` (n, 1)."""
    return last + log_sigmoid(scores - last)


def matcher_total(scores: np.ndarray, offset: np.ndarray, near: np.ndarray | None) -> np.ndarray:
    """s of eq. (1): group scores, the offsets of the labels, and similarities if there are any."""
    total = scores + offset
    return total if near is None else total + WEIGHT * near


def learn_rest(matcher: Any, X: sp.csr_array, truth: sp.csr_array, count: int, blend: Blend) -> Rest:
    """Eq. (1) from held-out rows X with labels `truth`, whose first `count` candidates are ranked."""
    labels, scores, near = matcher.candidates(X, count, N_LEARNT)
    labels, scores = labels[:, count:], scores[:, count:]
    near = None if near is None else near[:, count:]
    found = labels >= 0
    right = hits(truth, labels)[found]
    if right.sum() < MIN_HITS or right.all() or not blend.calibrated:
        return Rest.like(blend)
    total = matcher_total(scores, np.where(found, matcher.decoder.offset[labels], 0), near)
    slope, intercept = logistic(total[found][:, None], right, [0.0, 0.0]).tolist()
    return Rest(max(slope, _MIN_SLOPE), intercept)
