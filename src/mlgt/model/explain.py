"""Why a row gets its labels: the words for and against each, and the groups that fired.

A margin is linear in the row, so the share of each feature is exact:

    margin_l = bias_l + sum_j w_lj x_j,                                                              (1)

with the weights of the label's ranker or, without a ranker, those of its group classifiers, averaged over
its groups (one-vs-all: its own). The score combines the margin with the other evidence on the label,

    score_l = intercept + sum_e weight_e evidence_e,                                                 (2)

see `ranking.blend`; the paper's methods have one piece of evidence, the score of the decoder.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._core.markup import Marks, escape, marked_html
from .._core.sigmoid import sigmoid
from ..ranking import Rest
from ..ranking.rest import matcher_total
from .fitted import FittedModel
from .wording import Wording

N_GROUPS = 5
"""Groups in an explanation."""
MIN_TAUGHT = 1e-3
"""Smallest part of a score that taught rows account for; a smaller difference is rounding."""


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
    model: FittedModel, row: sp.csr_array, wanted: int | np.ndarray, wording: Wording
) -> Explanation:
    """Explain the labels of the (1, p) CSR `row`, scaled as in training.

    `wanted` is the number of best labels, or an array of positions; `wording` names the features.
    """
    labels, scores, made_of = _scored_labels(model, row, wanted)
    group_margins = model.classifiers.margins(row)[0]
    bias, parts, by = _label_shares(model, row, labels)
    label_ids = model.to_ids(labels)
    reasons = []
    for i, label in enumerate(labels):
        own = model.label_index.groups_of(label)
        order = np.argsort(-np.abs(parts[:, i]), kind="stable")
        words = [(wording.name(int(row.indices[j])), float(parts[j, i])) for j in order if parts[j, i] != 0]
        evidence, intercept = made_of[i]
        reasons.append(
            LabelReasons(
                label=int(label_ids[i]),
                name=str(model.name_of(label_ids[i])),
                score=float(scores[i]),
                probability=float(sigmoid(scores[i])) if model.calibrated else None,
                margin=float(bias[i] + parts[:, i].sum()),
                bias=float(bias[i]),
                words=words,
                by=by,
                evidence=evidence,
                intercept=intercept,
                n_groups=len(own),
                n_fired=int((group_margins[own] > 0).sum()),
                marks=wording.marks(dict(zip(row.indices.tolist(), parts[:, i].tolist()))),
                name_places=_name_places(model, label_ids[i], wording),
            )
        )
    fired = np.flatnonzero(group_margins > 0)
    groups = _fired_groups(model, group_margins, fired)
    return Explanation(reasons, groups, len(fired), wording.text, wording.named_spans())


def _scored_labels(model, row, wanted):
    """(labels, scores without `tail`, (evidence, intercept) of each as in eq. (2)), best first."""
    among = wanted if isinstance(wanted, np.ndarray) else None
    labels, scores = (part[0] for part in model.top_k(row, wanted if among is None else len(among), among))
    kept = labels >= 0
    if model.returned_as is not None:
        kept &= model.returned_as[labels] >= 0
    labels, scores = labels[kept], scores[kept]
    if model.active_blend is None:
        return labels, scores, [([Evidence("decoder", float(score), 1.0)], 0.0) for score in scores]
    if model.ranker is None:
        found = model.given(row, np.sort(labels if among is None else among))
    else:
        found = model.candidates(row, model.n_candidates)
    return labels, *_blended(model, row, found, labels, scores)


def _blended(model, row, found, labels, scores):
    """(scores without `tail`, (evidence, intercept) of each) of labels, most of them among `found`."""
    judgement = model.judge(row, found)
    columns = {int(label): column for column, label in enumerate(found.labels[0])}
    column = np.array([columns.get(int(label), -1) for label in labels], int)
    taught = np.where(column >= 0, scores - model.ranked_by(judgement.logits, found.labels)[0][column], 0)
    taught[np.abs(taught) < MIN_TAUGHT] = 0
    scores = np.where(column >= 0, judgement.logits[0][column] + taught, scores)
    total = matcher_total(model.given(row, labels), model.decoder.offset)[0] if len(labels) else []
    made_of = []
    for i, j in enumerate(column):
        if j < 0:
            made_of.append(_rest_evidence(model, float(total[i]), float(scores[i])))
            continue
        terms = [
            Evidence(name, float(value[0, j]), float(getattr(judgement.blend, name)))
            for name, value in judgement.evidence.items()
        ]
        if taught[i]:
            terms.append(Evidence("taught", float(taught[i]), 1.0))
        made_of.append((terms, float(judgement.blend.intercept)))
    return scores, made_of


def _rest_evidence(model, total, score):
    """([evidence], intercept) of a label beyond the candidates, which only the matcher judges."""
    term = Evidence("matcher", total, (model.rest or Rest.like(model.blend)).slope)
    return [term], score - term.contribution


def _name_places(model, label, wording):
    """Where words of the names of a label stand in the text, if names are evidence."""
    if model.name_index is None or model.known_labels is not None:
        return ()
    words = model.name_index.words_of(label)
    return [(start, end) for start, end, word in wording.name_spans if word in words]


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
