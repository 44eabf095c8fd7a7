"""Why a row gets its labels: the words for and against each, and the groups that fired.

A margin is linear in the row, so the share of each feature is exact:

    margin_l = bias_l + sum_j w_lj x_j,                                                              (1)

with the weights of the label's ranker or, without a ranker, those of its group classifiers, averaged over
its groups (one-vs-all: its own). The score combines the margin with the other evidence on the label,

    score_l = intercept + sum_e weight_e evidence_e,                                                 (2)

see `ranking.blend`; the paper's methods have one piece of evidence, the score of the decoder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._core.markup import Marks, escape, marked_html
from .._core.sigmoid import sigmoid
from ..ranking import Rest
from ..ranking.rest import matcher_total
from .fitted import FittedModel

N_GROUPS = 5
"""Groups in an explanation."""


@dataclass(frozen=True)
class Evidence:
    name: str
    """A term of `ranking.blend`, or "decoder" for the paper's methods."""
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        return self.weight * self.value


@dataclass(frozen=True)
class LabelReasons:
    label: int
    name: str
    score: float
    """The score of `predict_topk`, without `tail`."""
    probability: float | None
    margin: float
    bias: float
    words: Sequence[tuple[str, float]]
    """(feature, share of the margin), the largest first; bias and shares add up to the margin."""
    by: str
    """The owner of the margin: "ranker" or "groups"."""
    evidence: Sequence[Evidence]
    intercept: float
    """The rest of the score beside the contributions of the evidence."""
    n_groups: int
    n_fired: int
    """Groups of the label that fired."""
    marks: Marks = ()
    """Words of the text as (start, end, share of the margin); with the bias, they add up to it too."""
    name_places: Sequence[tuple[int, int]] = ()
    """Where words of the label's names stand in the text, if names are evidence."""

    def words_for(self, count: int | None = None, sign: int = 1) -> list[tuple[str, float]]:
        """Return the features with the largest shares for the label, or with sign=-1 against it."""
        return [(word, share) for word, share in self.words if share * sign > 0][:count]


@dataclass(frozen=True)
class FiredGroup:
    group: int
    margin: float
    labels: Sequence[str]
    """Labels in the group, the most frequent first."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a row gets its labels; a notebook shows the text with the words for and against each label."""

    labels: Sequence[LabelReasons]
    groups: Sequence[FiredGroup]
    """Groups with the largest positive margins; none where every label is a group of its own."""
    n_fired: int
    text: str | None = None
    """The text, for a model of texts."""
    spans: Sequence[tuple[int, int, str]] = ()
    """(start, end, word) of each known word of a text, as positions of characters in it."""

    def __repr__(self) -> str:
        return f"Explanation({'; '.join(map(_in_short, self.labels)) or 'no known word'})"

    def _repr_html_(self) -> str:
        parts = []
        for label in self.labels:
            body = _listed(label) if self.text is None else marked_html(self.text, label.marks)
            parts.append(f"<p><b>{escape(_titled(label))}</b></p>")
            parts.append(f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{body}</div>')
        return f"<div>{''.join(parts) or '<p>no known word</p>'}</div>"


def _titled(label):
    """The name of a label with its probability, or its score if it has none."""
    if label.probability is None:
        return f"{label.name} (score {label.score:.2f})"
    return f"{label.name} {label.probability:.2f}"


def _in_short(label, count=3):
    words = ", ".join(f"{word} {share:+.2f}" for word, share in label.words[:count])
    return f"{_titled(label)}: {words}" if words else _titled(label)


def _listed(label, count=10):
    """The words for and against a label as HTML, for rows without text."""
    lists = [
        ", ".join(f"{escape(word)} {share:+.2f}" for word, share in label.words_for(count, sign)) or "-"
        for sign in (1, -1)
    ]
    return f"for: {lists[0]}\nagainst: {lists[1]}"


def shares(margins: Callable, row: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Eq. (1) for any linear function: (bias (m,), each stored feature's share (features, m))."""
    n = len(row.indices)
    indptr = np.append(
        np.arange(n + 1, dtype=np.int32), np.int32(n)
    )  # one feature per row, then an empty row
    alone = margins(sp.csr_array((row.data, row.indices, indptr), shape=(n + 1, row.shape[1])))
    return alone[-1], alone[:-1] - alone[-1]


def explain_row(
    model: FittedModel,
    row: sp.csr_array,
    wanted: int | np.ndarray,
    feature_name: Callable[[int], str],
    text: str | None = None,
    mark: Callable[[Mapping[int, float]], Marks] = lambda shares: (),
) -> Explanation:
    """Explain the labels of the (1, p) CSR `row`, scaled as in training.

    `wanted` is the number of best labels, or an array of positions; `feature_name(j)` names a feature;
    `mark(shares)` turns shares by feature into marks of the text.
    """
    ids, scores, evidence_of = _judged(model, row, wanted)
    group_margins = model.classifiers.margins(row)[0]
    index = model.label_index
    bias, parts, by = _label_shares(model, row, ids)
    calibrated, label_ids = model.calibrated, model.to_ids(ids)
    reasons = []
    for i, label in enumerate(ids):
        own = index.groups_of(label)
        order = np.argsort(-np.abs(parts[:, i]), kind="stable")
        words = [(feature_name(int(row.indices[j])), float(parts[j, i])) for j in order if parts[j, i] != 0]
        evidence, intercept = evidence_of(i)
        reasons.append(
            LabelReasons(
                label=int(label_ids[i]),
                name=str(model.name_of(label_ids[i])),
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
                marks=mark(dict(zip(row.indices.tolist(), parts[:, i].tolist()))),
            )
        )
    fired = np.flatnonzero(group_margins > 0)
    return Explanation(reasons, _fired_groups(model, group_margins, fired), len(fired), text)


def _judged(model, row, wanted):
    """(ids, scores, a function from a position to its evidence and intercept)."""
    given = isinstance(wanted, np.ndarray)
    if model.active_blend is None:
        found = model.top_k(row, len(wanted), wanted) if given else model.top_k(row, wanted)
        kept = (found[0][0] >= 0) & (
            True if model.returned_as is None else model.returned_as[found[0][0]] >= 0
        )
        ids, scores = found[0][0][kept], found[1][0][kept]
        return ids, scores, lambda i: ([Evidence("decoder", float(scores[i]), 1.0)], 0.0)
    if model.ranker is None:
        ids = wanted if given else model.top_k(row, wanted)[0][0]
        found = model.given(row, np.sort(ids[ids >= 0]))
    else:
        found = model.candidates(row, model.n_candidates)
    labels, judgement = found.labels, model.judge(row, found)
    best, scores = (part[0] for part in model.top_k(row, *((len(wanted), wanted) if given else (wanted,))))
    best, scores = best[best >= 0], scores[best >= 0]
    place = {int(label): at for at, label in enumerate(labels[0])}
    ranked = np.array([place.get(int(label), -1) for label in best], int)
    taught = np.where(ranked >= 0, scores - model.ranked_by(judgement.logits, labels)[0][ranked], 0)
    taught[np.abs(taught) < 1e-3] = 0  # what is remembered of taught rows
    scores = np.where(ranked >= 0, judgement.logits[0][ranked] + taught, scores)
    total = matcher_total(model.given(row, best), model.decoder.offset)[0] if len(best) else []

    def evidence(i):
        if ranked[i] < 0:
            return _rest_evidence(model, float(total[i]), float(scores[i]))
        terms = [
            Evidence(name, float(value[0, ranked[i]]), float(getattr(judgement.blend, name)))
            for name, value in judgement.evidence.items()
        ]
        terms += [Evidence("taught", float(taught[i]), 1.0)] if taught[i] else []
        return terms, float(judgement.blend.intercept)

    return best, scores, evidence


def _rest_evidence(model, total, score):
    """([evidence], intercept) of a label beyond the candidates, which only the matcher judges."""
    term = Evidence("matcher", total, (model.rest or Rest.like(model.blend)).slope)
    return [term], score - term.contribution


def _label_shares(model, row, ids):
    """(bias, shares, whose margins they are)."""
    ranker, index = model.active_ranker, model.label_index
    if ranker is not None:
        return *shares(lambda X: ranker.margins(X, np.tile(ids, (X.shape[0], 1))), row), "ranker"
    linear_at = getattr(model.classifiers, "linear_at", None)
    bias, parts = shares(model.classifiers.margins if linear_at is None else linear_at(row), row)
    means = np.zeros((index.n_groups, len(ids)), np.float32)
    for i, label in enumerate(ids):
        own = index.groups_of(label)
        means[own, i] = 1 / len(own)
    return bias @ means, parts @ means, "groups"


def _fired_groups(model, margins, fired):
    """The groups with the largest margins and their labels; none where every label is a group."""
    index = model.label_index
    if index.n_groups == index.n_labels and index.weight == 1:
        return []
    labels = np.repeat(np.arange(index.n_labels), np.diff(index.indptr))
    groups = []
    for group in fired[np.argsort(-margins[fired], kind="stable")][:N_GROUPS]:
        members = labels[index.groups == group]
        members = members[np.argsort(-np.asarray(model.label_counts)[members], kind="stable")]
        groups.append(
            FiredGroup(
                int(group), float(margins[group]), [str(model.name_of(l)) for l in model.to_ids(members)]
            )
        )
    return groups
