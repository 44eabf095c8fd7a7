"""A fitted model: rows in, the k best labels out.

    rows -> margins (n, m) -> candidates -> evidence -> log-odds -> the k best labels

One object owns all that prediction needs; `MLGTClassifier`, `TextTagger` and `Predictor` delegate to it.
The paper's methods have no blend and rank by the decoder alone. Calls write to nothing that they share.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.ids import KnownIds, find_ids
from .._core.rows import map_blocks, scale_rows
from .._core.sigmoid import log_sigmoid, sigmoid
from .._core.validation import check_count
from ..blocks import combined_decoder
from ..decoding import DECODERS, DESIGN_DECODERS, Decoder, DesignDecoder, LabelIndex, search
from ..groups.saffron import SaffronDesign
from ..metrics import inverse_propensities
from ..ranking import (
    INDEXED_LABELS,
    Blend,
    CentroidIndex,
    CooccurrenceShares,
    LabelRanker,
    Rest,
    below,
    evidence,
    matcher_total,
    shortlist,
)
from ..ranking.sets import best_sets
from ..text import TextFeatures
from .record import BlockStructure, Judgement, TrainingRecord
from .sample import Sample, put_first

DEFAULT_K = 5
"""Labels per row if nothing else is requested: the number the paper predicts."""


@dataclass(frozen=True)
class FittedModel:
    classifiers: Any
    """`margins(X)` of rows scaled as in training -> (n, m)."""
    classes: np.ndarray
    """Names of all labels, or ids of those that are known."""
    label_counts: np.ndarray  # (d,) training rows of each known label
    n_rows: int  # training rows
    n_features: int  # of the caller's rows
    known_labels: KnownIds | None = None
    """The labels that are known; None if no id is left out. Scoring has positions, callers have ids."""
    known_features: KnownIds | None = None
    groups: Any = None  # (m, d) CSR; None for those of a design, made on demand
    index: LabelIndex | None = None
    """Search structure of the groups; None makes it on demand."""
    design: SaffronDesign | None = None
    feature_names: list[str] | None = None
    normalize: bool = True
    power: float = 1.0
    decoder_name: str = "soft"
    decoder_params: Mapping[str, Any] = field(default_factory=dict)
    ranker: LabelRanker | None = None
    centroids: CentroidIndex | None = None
    cooccurrence: CooccurrenceShares | None = None
    blend: Blend | None = None
    final_blend: Blend | None = None
    """The blend with the support of co-occurring labels."""
    rest: Rest | None = None
    """The log-odds of labels beyond the candidates; None is as the blend has it."""
    n_candidates: int = 0
    candidate_prior: float = 0.0
    """Weight of the label prior where candidates are chosen for a ranker."""
    tail: float = 0.0
    """Above 0, ranks by log p + tail log(inverse propensity); 1 is the expected gain in PSP@k."""
    blocks: BlockStructure | None = None
    features: TextFeatures | None = None
    """Texts -> rows."""
    columns: dict[str, Any] | None = None
    """Where the training file had texts and labels."""
    record: TrainingRecord = field(default_factory=TrainingRecord)
    sample: Sample | None = None

    @property
    def n_labels(self) -> int:
        """Number of label ids, known or not: columns of the caller's Y."""
        return len(self.label_counts) if self.known_labels is None else self.known_labels.total

    @property
    def names(self) -> np.ndarray | None:
        """Names of all labels, or None if they have only ids."""
        return None if self.classes.dtype.kind == "i" else self.classes

    @property
    def A(self) -> sp.csr_array:
        """The group matrix (m, d)."""
        return self.groups if self.design is None else self.design.A

    @cached_property
    def label_index(self) -> LabelIndex:
        return LabelIndex(self.A) if self.index is None else self.index

    @property
    def n_groups(self) -> int:
        return self.groups.shape[0] if self.design is None else self.design.n_groups

    def matcher(self, centroids: CentroidIndex | None, prior: float) -> "FittedModel":
        """The same model before it has a ranker, with this label prior in its candidates."""
        return replace(self, centroids=centroids, decoder_params={**self.decoder_params, "prior": prior})

    # How labels are scored.

    @property
    def active_ranker(self) -> LabelRanker | None:
        """The ranker, which needs the mean log-probabilities of soft decoding."""
        return self.ranker if self.decoder_name == "soft" else None

    @property
    def active_blend(self) -> Blend | None:
        """The blend that ranks labels, or None if the decoder alone does."""
        if self.decoder_name != "soft" or self.blend is None:
            return None
        return self.blend if self.ranker is not None or self.blend.margin else None

    @cached_property
    def _group_decoder(self) -> Decoder:
        """The decoder of all groups, before blocks are combined."""
        options = dict(self.decoder_params)
        if self.active_ranker is not None:
            options["prior"] = self.candidate_prior
        return DECODERS[self.decoder_name](self.A, self.label_counts, **options)

    @cached_property
    def decoder(self) -> Any:
        """Margins -> labels: a `Decoder`, or a `DesignDecoder`."""
        if self.decoder_name in DESIGN_DECODERS:
            if self.design is None:
                raise ValueError(
                    f'decoder={self.decoder_name!r} needs construction="saffron"; train with it.'
                )
            self.design.tables  # noqa: B018  made once, for all threads
            decode = DESIGN_DECODERS[self.decoder_name](
                self.design, self.label_counts, **self.decoder_params
            )
            return DesignDecoder(decode)
        if self.blocks is None or len(self.blocks.groups) == 1:
            return self._group_decoder
        return combined_decoder(
            self._group_decoder, self.blocks.layout, self.blocks.combination, self.decoder_name,
            dict(self.decoder_params), self.label_counts, self.blocks.calibration,
        )  # fmt: skip

    @cached_property
    def _bonus(self) -> np.ndarray | None:
        """(d,) added to the log-probability of each label."""
        if self.active_blend is None or not self.tail:
            return None
        rarity = inverse_propensities(self.label_counts, self.n_rows)
        return np.float32(self.tail) * np.log(np.maximum(rarity, 1)).astype(np.float32)

    @property
    def calibrated(self) -> bool:
        """True if sigmoid(score) is a probability."""
        blend = self.active_blend
        if blend is not None and self.final_blend is not None:
            blend = self.final_blend
        return blend is not None and blend.calibrated and self._bonus is None

    def top_k(self, X: Any, k: int, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores), both (n, k), best first, of scaled rows; padded with -1 and -inf.

        `among` (ids) scores these labels and no others, whether they are candidates or not.
        """
        if among is None and self.active_blend is None:
            index = self.label_index if self.decoder.scores_given else None
            return self.decoder.top_k(self.classifiers.margins(X), index, k)
        if among is None:
            return self._remembered(X, *self._listed(X, k))
        labels, scores, tied = self._scores_of(X, among)
        order = np.lexsort((labels, -tied, -scores), axis=1)  # ties to the lowest id
        labels, scores = (np.take_along_axis(part, order, axis=1) for part in (labels, scores))
        if self.active_blend is not None:
            labels, scores = self._remembered(X, labels, scores, among)
        return labels[:, :k], scores[:, :k]

    def _remembered(self, X, labels, scores, among=None):
        """The list, with the labels of a taught row first where a row is one."""
        if self.sample is not None and self.sample.sizes[2]:
            for i, own in self.sample.recall(X := X if sp.issparse(X) else X.csr()):
                own = own if among is None else np.intersect1d(own, among)
                if len(own):
                    _, their, tied = self._scores_of(X[[i]], own)
                    put_first(own[np.lexsort((own, -tied[0], -their[0]))], labels[i], scores[i])
        return labels, scores

    def _listed(self, X, k):
        """The candidates in the order of all evidence, then other labels in the order of the matcher."""
        count = self.max_candidates
        labels, scores, near = self.candidates(X, count, max(0, k - count))
        near, more = (None, None) if near is None else (near[:, :count], near[:, count:])
        ranked = self._scores(X, labels[:, :count], scores[:, :count], near)
        order = np.lexsort((labels[:, :count], -ranked), axis=1)
        labels[:, :count] = np.take_along_axis(labels[:, :count], order, axis=1)
        ranked = np.take_along_axis(ranked, order, axis=1)
        if k > count:
            rest = self.rest_scores(labels[:, count:], scores[:, count:], more, ranked[:, -1:])
            ranked = np.concatenate([ranked, np.minimum.accumulate(rest, axis=1)], axis=1)
        return labels[:, :k], ranked[:, :k]

    def rest_scores(
        self, labels: np.ndarray, scores: np.ndarray, near: np.ndarray | None, last: np.ndarray
    ) -> np.ndarray:
        """The scores of labels (n, r) that are no candidates, below `last` (n, 1), the lowest of those."""
        assert self.blend is not None
        if self.ranker is None:
            logits = self.blend(None, scores, None)
        else:
            total = matcher_total(scores, np.where(labels >= 0, self.decoder.offset[labels], 0), near)
            logits = (self.rest or Rest.like(self.blend))(total)
        found = logits if self._bonus is None else log_sigmoid(logits)
        found = found if self.ranker is None and self._bonus is None else below(found, last)
        return np.where(labels >= 0, found, np.float32(-np.inf))

    def candidates(
        self, X: Any, count: int, beyond: int = 0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The matcher's best labels (n, count + beyond), their scores without the prior, and their
        similarities. Those beyond `count` change nothing about the first ones."""
        index, decoder, d = self.label_index, self.decoder, len(self.label_counts)
        count, beyond = min(count, d), min(beyond, d - min(count, d))
        values = decoder.values(self.classifiers.margins(X))
        if self.centroids is None:
            labels, scores = search(values, index, decoder, count + beyond)
            near = None
        else:
            base = self._group_decoder
            frequent = base.by_offset if len(self.label_counts) >= INDEXED_LABELS else np.empty(0, np.int64)
            labels, scores, near = shortlist(
                X, values, self.centroids, index, decoder, base.offset, count, frequent, beyond
            )
        scores -= np.where(labels >= 0, decoder.offset[labels], np.float32(0))
        return labels, scores, near

    def given(self, X: Any, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The same as `candidates`, with the labels `ids` for every row."""
        values = self.decoder.values(self.classifiers.margins(X))
        own = [self.label_index.groups_of(l) for l in ids]
        columns = [values[:, groups].sum(axis=1, dtype=np.float32) for groups in own]
        scores = np.stack(columns, axis=1) * self.decoder.scale[ids]
        scores[:, ~np.isfinite(self.decoder.offset[ids])] = -np.inf
        near = None if self.centroids is None else self.centroids.similarity(X, ids)
        return np.tile(ids, (len(values), 1)), scores, near

    def judge(self, X: Any, labels: np.ndarray, scores: np.ndarray, near: np.ndarray | None) -> Judgement:
        """Blend all evidence on the labels (n, K) that the matcher gave these scores."""
        assert self.blend is not None
        margins = None if self.ranker is None else self.ranker.margins(X, labels)
        blend, support = self.blend, None
        logits = blend(margins, scores, near)
        if self.cooccurrence is not None and self.final_blend is not None:
            blend, support = self.final_blend, self.cooccurrence.support(labels, logits)
            logits = blend(margins, scores, near, support)
        return Judgement(logits, blend, evidence(margins, scores, near, support))

    def ranked_by(self, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The scores that order the labels: log-odds or, with a tail, log-probability plus bonus."""
        if self._bonus is None:
            return logits
        scores = log_sigmoid(logits) + self._bonus[labels]
        scores[labels < 0] = -np.inf
        return scores

    def _scores(self, X, labels, scores, near):
        logits = self.judge(X, labels, scores, near).logits
        return logits if self._bonus is None else self.ranked_by(logits, labels)

    def _scores_of(self, X, ids):
        """(labels, scores, what decides between equal scores), each (n, len(ids)), of given labels; -1 and
        -inf where one is impossible."""
        labels, scores, near = self.given(X, ids)
        tied = np.zeros_like(scores)
        if self.active_blend is None:
            scores += np.where(np.isfinite(scores), self.decoder.offset[ids], 0)
            scores[scores < self.decoder.floor] = -np.inf
        elif self.ranker is None:
            scores = self._scores(X, labels, scores, near)
        else:  # as in a list of all labels
            best, ranked = self._listed(X, self.max_candidates)
            tied = matcher_total(scores, self.decoder.offset[ids], near)
            scores = self.rest_scores(labels, scores, near, ranked[:, -1:])
            place = np.minimum(np.searchsorted(ids, best), len(ids) - 1)
            row, column = np.nonzero(ids[place] == best)
            given = row, place[row, column]
            scores[given], tied[given] = ranked[row, column], np.inf
        return np.where(np.isfinite(scores), labels, -1), scores, tied

    def all_scores(self, X: Any) -> np.ndarray:
        """Scores (n, d) of all labels for scaled rows; -inf for labels that are no candidates."""
        if self.active_blend is None:
            return self.decoder.scores(self.classifiers.margins(X), self.A)
        d = len(self.label_counts)
        labels, *found = self.candidates(X, d if self.ranker is None else self.n_candidates)
        values = self._scores(X, labels, *found)
        out = np.full((len(labels), d), -np.inf, np.float32)
        row, column = np.nonzero(labels >= 0)
        out[row, labels[row, column]] = values[row, column]
        return out

    # What callers need: k and names checked once, rows in blocks.

    def check_k(self, k: int | None) -> int:
        """k as an int, at most the number of known labels; None is DEFAULT_K."""
        k = (
            DEFAULT_K
            if k is None
            else check_count("k", k, self.n_labels, ", the number of labels the model knows")
        )
        return min(k, len(self.label_counts))

    def label_ids(self, among: Iterable[str | int], argument: str = "among") -> np.ndarray:
        """The distinct positions, ascending, of labels given by name or id; ids left out have none."""
        if not self.decoder.scores_given:
            raise ValueError(
                "This model cannot score given labels: its decoder or combination only finds the best ones."
            )
        found = find_ids(among, self.names, self.n_labels, argument)
        if self.known_labels is not None:
            found = np.sort(self.known_labels.to_positions(found))
            found = found[found >= 0]
        if not len(found):
            raise ValueError(f"no label of {argument} occurred in training; expected one that did.")
        return found

    def to_ids(self, labels: np.ndarray) -> np.ndarray:
        """The caller's ids of labels given by position; -1 stays -1."""
        return labels if self.known_labels is None else self.known_labels.to_ids(labels)

    def name_of(self, label: int) -> Any:
        """The name of a label given by id, or the id itself."""
        return np.int64(label) if self.names is None else self.names[label]

    def named(self, labels: np.ndarray, values: np.ndarray) -> list[list[tuple[Any, float]]]:
        """Rows of ids and values as lists of (name, value), without padding."""
        return [
            [(self.name_of(label), value) for label, value in zip(*row) if label >= 0]
            for row in zip(labels.tolist(), values.tolist())
        ]

    def scaled(self, X: sp.csr_array) -> sp.csr_array:
        """Rows as the classifiers were trained on them; features that are not known count in the length."""
        X = scale_rows(X, self.power, self.normalize)
        return X if self.known_features is None else self.known_features.select(X)

    def predict_topk(
        self,
        X: sp.csr_array,
        k: int | None = None,
        among: Iterable[str | int] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k) of rows as they were given to `fit`; `among` holds names or ids."""
        k, empty, X = self.check_k(k), np.diff(X.indptr) == 0, self.scaled(X)
        ids = None if among is None else self.label_ids(among)
        k = k if ids is None else min(k, len(ids))
        blocks = map_blocks(lambda rows: self.top_k(rows, k, ids), X, n_jobs)
        labels, scores = (np.concatenate([block[i] for block in blocks]) for i in (0, 1))
        if self.features is not None:  # a text without any known word has no labels
            labels[empty], scores[empty] = -1, -np.inf
        return self.to_ids(labels), scores

    def best(
        self,
        X: sp.csr_array,
        k: int | str | None = None,
        among: Iterable[str | int] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """`predict_topk` with probabilities for scores if the model is calibrated.

        k="auto" keeps the labels that maximise the expected F1 of each row; the others are -1.
        """
        if k != "auto":
            labels, scores = self.predict_topk(X, k, among, n_jobs)  # type: ignore[arg-type]
            return labels, sigmoid(scores) if self.calibrated else scores
        if not self.calibrated:
            raise ValueError(
                'k="auto" needs probabilities, which this model does not have: they need about a thousand '
                "training rows, and none of the paper's methods. Pass a number."
            )
        labels, scores = self.predict_topk(X, self.max_candidates, among, n_jobs)
        return best_sets(labels, scores), sigmoid(scores)

    @property
    def max_candidates(self) -> int:
        """Labels per row that are ranked by all evidence."""
        return min(len(self.label_counts), self.n_candidates)
