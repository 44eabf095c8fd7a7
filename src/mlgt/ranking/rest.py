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
from .blend import Blend, Candidates
from .centroids import WEIGHT
from .logistic import calibrate

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


def matcher_total(found: Candidates, offset: np.ndarray) -> np.ndarray:
    """s of eq. (1): group scores, the offsets (d,) of the labels, and similarities if there are any."""
    total = found.scores + np.where(found.labels >= 0, offset[found.labels], np.float32(0))
    return total if found.similarities is None else total + WEIGHT * found.similarities


def learn_rest(matcher: Any, rows: Any, truth: sp.csr_array, count: int, blend: Blend) -> Rest:
    """Eq. (1) from held-out rows with labels `truth`, of which the first `count` candidates of the matcher,
    and those by name, are ranked."""
    found = matcher.candidates(rows, count, N_LEARNT)
    found = found.columns(slice(found.labels.shape[1] - N_LEARNT, None))
    known = found.labels >= 0
    right = hits(truth, found.labels)[known]
    if right.sum() < MIN_HITS or right.all() or not blend.calibrated:
        return Rest.like(blend)
    total = matcher_total(found, matcher.decoder.offset)
    slope, intercept = calibrate(total[known], right)
    return Rest(max(slope, _MIN_SLOPE), intercept)
