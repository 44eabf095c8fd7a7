"""A matcher, and a ranker if there is one, as one object: rows in, the k best labels out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .decode import DECODERS, Decoder
from .rerank import LabelRanker, blend
from .retrieve import LabelIndex, search


@dataclass(frozen=True)
class Matching:
    margins: Callable[[Any], np.ndarray]
    """Rows (n, p), scaled as in training -> group margins (n, m)."""
    decoder: Decoder
    index: LabelIndex
    ranker: LabelRanker | None = None
    n_candidates: int = 0

    def top_k(self, X, k):
        """(labels, scores), both (n, k), best first; padded by -1 and -inf."""
        if self.ranker is None:
            return search(self.decoder.values(self.margins(X)), self.index, self.decoder, k)
        labels, scores = self.ranked_candidates(X, max(k, self.n_candidates))
        order = np.lexsort((labels, -scores), axis=1)[:, :k]  # ties to the lowest id
        return np.take_along_axis(labels, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def candidates(self, X, count):
        """The matcher's best labels of each row, and their scores without the prior."""
        values = self.decoder.values(self.margins(X))
        labels, scores = search(values, self.index, self.decoder, min(count, self.index.n_labels))
        return labels, scores - np.where(labels >= 0, self.decoder.offset[labels], np.float32(0))

    def ranked_candidates(self, X, count):
        """The same labels with the blend of matcher and ranker as scores."""
        labels, scores = self.candidates(X, count)
        assert self.ranker is not None
        return labels, blend(self.ranker.margins(X, labels), scores)


def make_matching(margins, groups, index, label_counts, settings, ranker):
    """Put the parts together; `settings` has decoder, decoder_params, n_candidates and candidate_prior.

    With a ranker, the label prior chooses the candidates and is left out of their scores.
    """
    options = dict(settings["decoder_params"] or {})
    if settings["decoder"] != "soft":
        ranker = None  # it orders mean log-probabilities; hard decoders are the paper's, alone
    if ranker is not None:
        options["prior"] = settings["candidate_prior"]
    decoder = DECODERS[settings["decoder"]](groups, label_counts, **options)
    return Matching(margins, decoder, index, ranker, settings["n_candidates"])
