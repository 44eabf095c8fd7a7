"""Matcher, ranker and blend as one object: rows in, the k best labels out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..decoding import DECODERS, DESIGN_DECODERS, Decoder, search
from ..decoding.index import LabelIndex
from ..decoding.soft import log_sigmoid
from ..metrics import inverse_propensities
from ..ranking import Blend, Companions, LabelRanker, evidence, shortlist
from ..ranking.centroids import CentroidIndex
from ..ranking.shortlist import by_frequency


@dataclass(frozen=True)
class Judgement:
    """Log-odds (n, K) of labels, and where they come from: logits = blend.of(evidence)."""

    logits: np.ndarray
    blend: Blend
    evidence: dict[str, np.ndarray]
    margins: np.ndarray | None
    """Of the ranker, if there is one."""


@dataclass(frozen=True)
class Matching:
    margins: Callable[[Any], np.ndarray]
    """Rows (n, p), scaled as in training -> group margins (n, m)."""
    decoder: Decoder
    index: LabelIndex
    ranker: LabelRanker | None = None
    n_candidates: int = 0
    centroids: CentroidIndex | None = None
    blend: Blend | None = None
    """None ranks by the decoder alone: the paper's methods."""
    companions: Companions | None = None
    final_blend: Blend | None = None
    """With companions, what they say is added in a second blend."""
    prior: np.ndarray | None = None
    """(d,) of labels alone, for centroids; -inf for labels in no group."""
    bonus: np.ndarray | None = None
    """(d,) added to the log-probability of each label: rare ones may be wanted more."""
    linear_at: Callable[[Any], Callable[[Any], np.ndarray]] | None = None
    """A row (1, p) -> `margins` as a linear function near it, where not all rows are asked the same."""

    @property
    def calibrated(self):
        """Is sigmoid(score) a probability?"""
        blend = self.blend if self.final_blend is None else self.final_blend
        return blend is not None and blend.calibrated and self.bonus is None

    @cached_property
    def _by_frequency(self):
        return by_frequency(self.prior)

    scores_given = True
    """Can it be asked for the scores of given labels?"""

    def top_k(self, X, k, among=None):
        """(labels, scores), both (n, k), best first; padded by -1 and -inf.

        `among` (ids) scores these labels and no others, whether the matcher names them or not.
        """
        if among is not None:
            labels, scores = self.scores_of(X, among)
        elif self.blend is None:
            return search(self.decoder.values(self.margins(X)), self.index, self.decoder, k)
        else:
            labels, scores = self.ranked_candidates(X, max(k, self.n_candidates))
        order = np.lexsort((labels, -scores), axis=1)[:, :k]  # ties to the lowest id
        return np.take_along_axis(labels, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def candidates(self, X, count):
        """The matcher's best labels of each row, their scores without the prior, their similarities."""
        values = self.decoder.values(self.margins(X))
        count = min(count, self.index.n_labels)
        if self.centroids is None:
            labels, scores = search(values, self.index, self.decoder, count)
            near = None
        else:
            labels, scores, near = shortlist(
                X, values, self.centroids, self.index, self.decoder, self.prior, count, self._by_frequency
            )
        scores -= np.where(labels >= 0, self.decoder.offset[labels], np.float32(0))
        return labels, scores, near

    def given(self, X, ids):
        """As `candidates`, but the labels `ids` for every row."""
        values = self.decoder.values(self.margins(X))
        own = [self.index.groups[self.index.indptr[l] : self.index.indptr[l + 1]] for l in ids]
        columns = [values[:, groups].sum(axis=1, dtype=np.float32) for groups in own]
        scores = np.stack(columns, axis=1) * self.decoder.scale[ids]
        scores[:, ~np.isfinite(self.decoder.offset[ids])] = -np.inf
        near = None if self.centroids is None else self.centroids.similarity(X, ids)
        return np.tile(ids, (len(values), 1)), scores, near

    def scores_of(self, X, ids):
        """(labels, scores) (n, len(ids)) of given labels; -1 and -inf where one cannot be."""
        labels, scores, near = self.given(X, ids)
        if self.blend is None:
            scores += np.where(np.isfinite(scores), self.decoder.offset[ids], 0)
            scores[scores < self.decoder.floor] = -np.inf
        else:
            scores = self._scores(X, labels, scores, near)
        return np.where(np.isfinite(scores), labels, -1), scores

    def ranked_candidates(self, X, count):
        """The same labels with their log-odds as scores; with a bonus, log-probability plus bonus."""
        labels, *found = self.candidates(X, count)
        return labels, self._scores(X, labels, *found)

    def _scores(self, X, labels, scores, similarities):
        logits = self.judge(X, labels, scores, similarities).logits
        if self.bonus is not None:
            logits = log_sigmoid(logits) + self.bonus[labels]
            logits[labels < 0] = -np.inf
        return logits

    def judge(self, X, labels, scores, similarities):
        """What all the evidence makes of the labels (n, K) that the matcher gave these scores."""
        assert self.blend is not None
        margins = None if self.ranker is None else self.ranker.margins(X, labels)
        blend, company = self.blend, None
        logits = blend(margins, scores, similarities)
        if self.companions is not None and self.final_blend is not None:
            blend, company = self.final_blend, self.companions.company(labels, logits)
            logits = blend(margins, scores, similarities, company)
        return Judgement(logits, blend, evidence(margins, scores, similarities, company), margins)


@dataclass(frozen=True)
class Reading:
    """SAFFRON's way: labels read off the groups of a design, without scores of all labels or a ranker."""

    margins: Callable[[Any], np.ndarray]
    """As in `Matching`."""
    decode: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]

    calibrated = scores_given = False

    def top_k(self, X, k, among=None):
        """(labels, scores), both (n, k), best first; padded by -1 and -inf."""
        return self.decode(self.margins(X), k)


def make_reading(margins, design, label_counts, settings):
    """Put the parts together; `settings` has decoder and decoder_params."""
    name = settings["decoder"]
    if design is None:
        raise ValueError(f'decoder={name!r} reads the groups of construction="saffron"; train with that.')
    design.tables  # noqa: B018  made once, for all threads
    return Reading(
        margins, DESIGN_DECODERS[name](design, label_counts, **(settings["decoder_params"] or {}))
    )


def make_matching(
    margins, groups, index, label_counts, settings, ranker=None, centroids=None, companions=None
):
    """Put the parts together; `settings` has decoder, decoder_params, n_candidates, candidate_prior, blend,
    final_blend, tail and n_rows, the training rows.

    With a ranker, the label prior chooses the candidates and is left out of their scores. `tail` > 0 ranks
    by log p + tail log(inverse propensity): at 1 by what a label is expected to add to PSP@k.
    """
    options = dict(settings["decoder_params"] or {})
    blend = settings["blend"]
    if settings["decoder"] != "soft":
        ranker = blend = None  # they read mean log-probabilities; hard decoders are the paper's, alone
    if ranker is None and blend is not None and not blend.margin:
        blend = None  # one of ranker and matcher, and there is no ranker
    if ranker is not None:
        options["prior"] = settings["candidate_prior"]
    decoder = DECODERS[settings["decoder"]](groups, label_counts, **options)
    bonus = None
    if blend is not None and settings["tail"]:
        rarity = inverse_propensities(label_counts, settings["n_rows"])
        bonus = np.float32(settings["tail"]) * np.log(np.maximum(rarity, 1)).astype(np.float32)
    return Matching(
        margins, decoder, index, ranker, settings["n_candidates"], centroids, blend, companions,
        settings.get("final_blend"), decoder.offset, bonus,
    )  # fmt: skip
