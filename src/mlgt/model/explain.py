"""Why a row gets its labels: the words for and against each, and the groups that named it.

A margin is linear in the row, so each feature's share of it is known exactly:

    margin_l = bias_l + sum_j w_lj x_j,                                                              (1)

with the weights of label l's ranker; where there is no ranker, those of its group classifiers, averaged
over its groups (one-vs-all: its own). The score is made of the margin and what else is known of the label,

    score_l = intercept + sum_e weight_e evidence_e,                                                 (2)

see `rerank.blend`; the paper's methods have one piece of evidence, the decoder's score itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..ranking.sets import sigmoid

SHOWN = 5
"""Groups that are told."""


@dataclass(frozen=True)
class Evidence:
    name: str
    """A term of `rerank.blend` (similarity: to the label's centroid), or decoder: the paper's methods."""
    value: float
    weight: float

    @property
    def contribution(self):
        return self.weight * self.value


@dataclass(frozen=True)
class LabelReasons:
    label: int
    name: str
    score: float
    """As `predict_topk` gives it, but for `tail`, which is left out."""
    probability: float | None
    margin: float
    bias: float
    words: Sequence[tuple[str, float]]
    """(feature, its share of the margin), the largest first; bias and shares add up to the margin."""
    by: str
    """Whose margin it is: "ranker" or "groups"."""
    evidence: Sequence[Evidence]
    intercept: float
    """With the contributions of the evidence it adds up to the score."""
    n_groups: int
    n_fired: int
    """Of the label's groups."""


@dataclass(frozen=True)
class FiredGroup:
    group: int
    margin: float
    labels: Sequence[str]
    """In the group, the most frequent first."""


@dataclass(frozen=True)
class Explanation:
    labels: Sequence[LabelReasons]
    groups: Sequence[FiredGroup]
    """Those with the largest positive margins; none where every label is a group of its own."""
    n_fired: int


def shares(margins: Callable, row) -> tuple[np.ndarray, np.ndarray]:
    """Eq. (1) for any linear function: (bias (m,), each stored feature's share (features, m))."""
    n = len(row.indices)
    indptr = np.append(np.arange(n + 1, dtype=np.int32), np.int32(n))  # a feature a row, then an empty row
    alone = margins(sp.csr_array((row.data, row.indices, indptr), shape=(n + 1, row.shape[1])))
    return alone[-1], alone[:-1] - alone[-1]


def explain_row(matching, index, row, wanted, *, names, feature_name, label_counts):
    """Why the (1, p) CSR `row`, scaled as in training, gets its labels.

    `wanted` is how many of the best, or an array of label ids. `index` is the `LabelIndex` of the groups,
    `names` those of the labels, `feature_name(j)` that of a feature.
    """
    ids, scores, judged = _judged(matching, row, wanted)
    group_margins = matching.margins(row)[0]
    bias, parts, by = _label_shares(matching, index, row, ids)
    calibrated = matching.calibrated
    reasons = []
    for i, label in enumerate(ids):
        own = index.groups[index.indptr[label] : index.indptr[label + 1]]
        order = np.argsort(-np.abs(parts[:, i]), kind="stable")
        words = [(feature_name(int(row.indices[j])), float(parts[j, i])) for j in order if parts[j, i] != 0]
        evidence, intercept = judged(i)
        reasons.append(
            LabelReasons(
                label=int(label),
                name=str(names[label]),
                score=float(scores[i]),
                probability=float(sigmoid(scores[i])) if calibrated else None,
                margin=float(bias[i] + parts[:, i].sum()),
                bias=float(bias[i]),
                words=words,
                by=by,
                evidence=evidence,
                intercept=intercept,
                n_groups=len(own),
                n_fired=int((group_margins[own] > 0).sum()),
            )
        )
    fired = np.flatnonzero(group_margins > 0)
    return Explanation(reasons, _fired(index, group_margins, fired, names, label_counts), len(fired))


def _judged(matching, row, wanted):
    """(ids, scores, a function: place -> its evidence and intercept)."""
    asked = isinstance(wanted, np.ndarray)
    if getattr(matching, "blend", None) is None:
        found = matching.top_k(row, len(wanted), wanted) if asked else matching.top_k(row, wanted)
        kept = found[0][0] >= 0
        ids, scores = found[0][0][kept], found[1][0][kept]
        return ids, scores, lambda i: ([Evidence("decoder", float(scores[i]), 1.0)], 0.0)
    count = 0 if asked else max(wanted, matching.n_candidates)
    labels, *found = matching.given(row, wanted) if asked else matching.candidates(row, count)
    judgement = matching.judge(row, labels, *found)
    ranked = judgement.logits[0]
    if matching.bonus is not None:  # it has a say in the order
        ranked = (matching.scores_of(row, wanted) if asked else matching.ranked_candidates(row, count))[1][
            0
        ]
    order = np.lexsort((labels[0], -ranked))[: len(wanted) if asked else wanted]
    order = order[(labels[0] >= 0)[order] & np.isfinite(ranked)[order]]

    def evidence(i):
        told = [
            Evidence(name, float(value[0, order[i]]), float(getattr(judgement.blend, name)))
            for name, value in judgement.evidence.items()
        ]
        return told, float(judgement.blend.intercept)

    return labels[0][order], judgement.logits[0][order], evidence


def _label_shares(matching, index, row, ids):
    """(bias, shares, whose) of the labels' margins."""
    ranker = getattr(matching, "ranker", None)
    if ranker is not None:
        return *shares(lambda X: ranker.margins(X, np.tile(ids, (X.shape[0], 1))), row), "ranker"
    linear_at = getattr(matching, "linear_at", None)
    bias, parts = shares(matching.margins if linear_at is None else linear_at(row), row)
    means = np.zeros((index.n_groups, len(ids)), np.float32)
    for i, label in enumerate(ids):
        own = index.groups[index.indptr[label] : index.indptr[label + 1]]
        means[own, i] = 1 / len(own)
    return bias @ means, parts @ means, "groups"


def _fired(index, margins, fired, names, label_counts):
    """The best groups with their labels."""
    if index.n_groups == index.n_labels and index.weight == 1:
        return []
    labels = np.repeat(np.arange(index.n_labels), np.diff(index.indptr))
    told = []
    for group in fired[np.argsort(-margins[fired], kind="stable")][:SHOWN]:
        members = labels[index.groups == group]
        members = members[np.argsort(-np.asarray(label_counts)[members], kind="stable")]
        told.append(FiredGroup(int(group), float(margins[group]), [str(names[label]) for label in members]))
    return told
