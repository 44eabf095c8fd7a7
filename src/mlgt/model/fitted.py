"""A fitted model: rows in, the k best labels out.

    rows -> margins (n, m) -> candidates -> evidence -> log-odds -> the k best labels

One object owns all that prediction needs; `MLGTClassifier`, `TextTagger` and `Predictor` delegate to it.
The paper's methods have no blend and rank by the decoder alone. Calls write to nothing that they share.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.rows import (
    BLOCK_ROWS,
    Rows,
    as_csr,
    as_rows,
    empty_rows,
    scale,
    scale_rows,
    with_words,
    words_of,
)
from .._core.sigmoid import log_sigmoid, sigmoid
from .._core.validation import check_count
from ..blocks import combined_decoder
from ..decoding import DECODERS, DESIGN_DECODERS, Decoder, DesignDecoder, search
from ..metrics import inverse_propensities
from ..ranking import (
    Blend,
    Candidates,
    CentroidIndex,
    LabelRanker,
    NameIndex,
    Order,
    Rest,
    below,
    insert,
    shortlist,
)
from ..ranking.names import N_NAMED, matched_words
from ..ranking.rest import matcher_total
from ..ranking.shortlist import PRIOR
from ..tasks import map_rows
from ..vocabulary.returned import return_scores
from .labels import find_labels, named_rows, returned_top_k
from .parts import ModelParts
from .record import Judgement
from .sample import put_first

DEFAULT_K = 5
"""Labels per row if nothing else is requested: the number the paper predicts."""


@dataclass(frozen=True)
class FittedModel(ModelParts):
    """The parts at work."""

    def matcher(
        self, centroids: CentroidIndex | None, prior: float, name_index: NameIndex | None = None
    ) -> "FittedModel":
        """The same model before it has a ranker, with this label prior in its candidates."""
        decoder_params = {**self.decoder_params, "prior": prior}
        return replace(self, centroids=centroids, decoder_params=decoder_params, name_index=name_index)

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
        decoder = DECODERS[self.decoder_name](self.A, self.label_counts, **options)
        if self.returned_as is None:
            return decoder
        return replace(decoder, offset=np.where(self.returned_as < 0, np.float32(-np.inf), decoder.offset))

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
        if k <= count:
            labels, scores, near = self._matched(X, self.n_candidates)
            margins = None if self.ranker is None else self.ranker.margins(X, labels)
            named = () if self.name_index is None else (self.name_index.scores(words_of(X), labels),)
            return self._order(labels, scores, near, margins, k, *named)
        found = self.matched_candidates(X, self.n_candidates, k - count)
        labels = found.labels
        ranked = self._scores(X, self._with_names(X, found.columns(slice(count))))
        order = np.lexsort((labels[:, :count], -ranked), axis=1)
        labels[:, :count] = np.take_along_axis(labels[:, :count], order, axis=1)
        ranked = np.take_along_axis(ranked, order, axis=1)
        rest = self.rest_scores(found.columns(slice(count, None)), ranked[:, -1:])
        ranked = np.concatenate([ranked, np.minimum.accumulate(rest, axis=1)], axis=1)
        return labels[:, :k], ranked[:, :k]

    def rest_scores(self, found: Candidates, last: np.ndarray) -> np.ndarray:
        """The scores of labels (n, r) that are no candidates, below `last` (n, 1), the lowest of those."""
        assert self.blend is not None
        if self.ranker is None:
            logits = self.blend(replace(found, similarities=None).evidence(None))
        else:
            total = matcher_total(found, self.decoder.offset)
            logits = (self.rest or Rest.like(self.blend))(total)
        scores = logits if self._bonus is None else log_sigmoid(logits)
        scores = scores if self.ranker is None and self._bonus is None else below(scores, last)
        return np.where(found.labels >= 0, scores, np.float32(-np.inf))

    @cached_property
    def _order(self) -> Order:
        assert self.blend is not None
        final = None if self.cooccurrence is None else self.final_blend
        unseen = None if self.name_index is None else (self.name_index.counts == 0).astype(np.float32)
        return Order.of(
            self.decoder.offset, self.blend, final, self.cooccurrence, self._bonus,
            self.ranker is not None, unseen,
        )  # fmt: skip

    def candidates(self, X: Any, count: int, beyond: int = 0) -> Candidates:
        """The matcher's best labels (n, count), then N_NAMED by name if names are known, then the matcher's
        next, `beyond` of them, which change nothing about the first ones."""
        return self._with_names(X, self.matched_candidates(X, count, beyond))

    def matched_candidates(self, X: Any, count: int, beyond: int = 0) -> Candidates:
        """The same without what names say."""
        labels, scores, near = self._matched(X, count, beyond)
        scores -= np.where(labels >= 0, self.decoder.offset[labels], np.float32(0))
        return Candidates(labels, scores, near)

    def _matched(self, X, count, beyond=0):
        """(labels, scores with the decoder's offset, similarities or None) of candidates."""
        index, decoder, d = self.label_index, self.decoder, len(self.label_counts)
        values = decoder.values(self.classifiers.margins(X))
        extra = None if self.name_index is None else self.name_index.best(words_of(X), N_NAMED)
        count, named = min(count, d), 0 if extra is None else N_NAMED
        width = min(count + named + beyond, d)
        if self.centroids is None:
            labels, scores = search(values, index, decoder, width)
            near = None
            if extra is not None:
                labels, scores = insert(labels, scores, count, extra, values, index, decoder)
        else:
            prior, frequent = self._shortlist_prior
            labels, scores, near = shortlist(
                X, values, self.centroids, index, decoder, prior, count, frequent,
                max(0, width - count - named), extra,
            )  # fmt: skip
        return labels, scores, near

    @cached_property
    def _shortlist_prior(self):
        """(the prior of eq. (1) of `shortlist`, labels by falling prior)."""
        return PRIOR * self._group_decoder.offset, self._group_decoder.by_offset

    def _with_names(self, X, found):
        if self.name_index is None:
            return found
        name, phrase = self.name_index.scores(words_of(X), found.labels)
        return replace(found, names=name, phrases=phrase, unseen=self.name_index.unseen(found.labels))

    def given(self, X: Any, ids: np.ndarray) -> Candidates:
        """The same as `candidates`, with the labels `ids` for every row."""
        values = self.decoder.values(self.classifiers.margins(X))
        own = [self.label_index.groups_of(l) for l in ids]
        columns = [values[:, groups].sum(axis=1, dtype=np.float32) for groups in own]
        scores = np.stack(columns, axis=1) * self.decoder.scale[ids]
        scores[:, ~np.isfinite(self.decoder.offset[ids])] = -np.inf
        near = None if self.centroids is None else self.centroids.similarity(X, ids)
        return self._with_names(X, Candidates(np.tile(ids, (len(values), 1)), scores, near))

    def judge(self, X: Any, found: Candidates) -> Judgement:
        """Blend all evidence on labels that the matcher found."""
        assert self.blend is not None
        margins = None if self.ranker is None else self.ranker.margins(X, found.labels)
        blend, terms = self.blend, found.evidence(margins)
        logits = blend(terms)
        if self.cooccurrence is not None and self.final_blend is not None:
            blend = self.final_blend
            terms = terms | {"cooccurrence": self.cooccurrence.support(found.labels, logits)}
            logits = blend(terms)
        return Judgement(logits, blend, terms)

    def ranked_by(self, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The scores that order the labels: log-odds or, with a tail, log-probability plus bonus."""
        if self._bonus is None:
            return logits
        scores = log_sigmoid(logits) + self._bonus[labels]
        scores[labels < 0] = -np.inf
        return scores

    def _scores(self, X, found):
        return self.ranked_by(self.judge(X, found).logits, found.labels)

    def _scores_of(self, X, ids):
        """(labels, scores, what decides between equal scores), each (n, len(ids)), of given labels; -1 and
        -inf where one is impossible."""
        found = self.given(X, ids)
        labels, scores, tied = found.labels, found.scores, np.zeros_like(found.scores)
        if self.active_blend is None:
            scores += np.where(np.isfinite(scores), self.decoder.offset[ids], 0)
            scores[scores < self.decoder.floor] = -np.inf
        elif self.ranker is None:
            scores = self._scores(X, found)
        else:  # as in a list of all labels
            best, ranked = self._listed(X, self.max_candidates)
            tied = matcher_total(found, self.decoder.offset)
            scores = self.rest_scores(found, ranked[:, -1:])
            place = np.minimum(np.searchsorted(ids, best), len(ids) - 1)
            row, column = np.nonzero(ids[place] == best)
            given = row, place[row, column]
            scores[given], tied[given] = ranked[row, column], np.inf
        return np.where(np.isfinite(scores), labels, -1), scores, tied

    def all_scores(self, X: Any) -> np.ndarray:
        """Scores (n, d) of all labels for scaled rows; -inf for labels that are no candidates."""
        scores = self._all_scores(X)
        return scores if self.returned_as is None else return_scores(scores, self.returned_as)

    def _all_scores(self, X):
        if self.active_blend is None:
            return self.decoder.scores(self.classifiers.margins(X), self.A)
        d = len(self.label_counts)
        found = self.candidates(X, d if self.ranker is None else self.n_candidates)
        labels, values = found.labels, self._scores(X, found)
        out = np.full((len(labels), d), -np.inf, np.float32)
        row, column = np.nonzero(labels >= 0)
        out[row, labels[row, column]] = values[row, column]
        return out

    # What callers need: k and names checked once, rows in blocks.

    def check_k(self, k: int | None) -> int:
        """k as an int, at most the number of known labels; None is DEFAULT_K."""
        what = ", the number of labels the model knows"
        k = DEFAULT_K if k is None else check_count("k", k, self.n_labels, what)
        return min(k, len(self.label_counts))

    def label_ids(self, among: Iterable[str | int], argument: str = "among") -> np.ndarray:
        """The distinct positions, ascending, of labels given by name or id; ids left out have none."""
        return find_labels(self, among, argument)

    def to_ids(self, labels: np.ndarray) -> np.ndarray:
        """The caller's ids of labels given by position; -1 stays -1."""
        return labels if self.known_labels is None else self.known_labels.to_ids(labels)

    def name_of(self, label: int) -> Any:
        """The name of a label given by id, or the id itself."""
        names, returned = self.names, self.returned_as
        if returned is not None and returned[label] >= 0:
            label = returned[label]
        return np.int64(label) if names is None else names[label]

    def named(self, labels: np.ndarray, values: np.ndarray, *, with_ids: bool = False) -> list[list[Any]]:
        """Rows of ids and values as lists of (name, value), without padding; the id of the vocabulary, or
        None, is third if requested."""
        return named_rows(self, labels, values, with_ids)

    def scaled(self, X: sp.csr_array) -> sp.csr_array:
        """Rows as the classifiers were trained on them; features that are not known count in the length."""
        X, words = as_csr(X), matched_words(X, self.name_index, self.feature_words)
        X = scale_rows(X, self.power, self.normalize)
        return with_words(X if self.known_features is None else self.known_features.select(X), words)

    def scaled_rows(self, X: Any) -> Any:
        """The same, for a block of rows without the cost of a new array."""
        if X.shape[0] > BLOCK_ROWS or self.known_features is not None:
            return self.scaled(X)
        words = matched_words(X, self.name_index, self.feature_words)
        data = np.empty_like(X.data)
        scale(X.indptr, X.data, np.float32(self.power), self.normalize, data)
        return Rows(X.indptr, X.indices, data, X.shape, words)

    def predict_topk(
        self,
        X: Any,
        k: int | None = None,
        among: Iterable[str | int] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(labels, scores) (n, k) of rows as they were given to `fit`; `among` holds names or ids."""
        X, k, empty = as_rows(X), self.check_k(k), empty_rows(X)
        ids = None if among is None else self.label_ids(among)
        k = k if ids is None else min(k, len(ids))
        labels, scores = map_rows("prediction", _top_k, (self, k, ids), X, n_jobs)
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
        return self.sets(labels, scores), sigmoid(scores)

    @property
    def max_candidates(self) -> int:
        """Labels per row that are ranked by all evidence."""
        named = 0 if self.name_index is None else N_NAMED
        return min(len(self.label_counts), self.n_candidates + named)


def _top_k(shared, rows):
    model, k, ids = shared
    return returned_top_k(model, model.scaled_rows(rows), k, ids)
