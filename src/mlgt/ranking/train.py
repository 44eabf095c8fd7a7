"""Training of match and rank, given a matcher: candidates, rankers, blend (ours).

Some training rows are held out of the group classifiers and, at first, of the rankers. They decide whether
centroids join the matcher, how many candidates suffice, how the evidence is blended into a probability,
and whether co-occurring labels count as evidence. Rows seen in training would mislead these choices. The
rankers of the labels of the held-out rows are then trained further on all rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.rows import WordRows, map_blocks, with_words, without
from .._core.sparse import label_counts
from ..labels.graph import cooccurrence
from ..metrics import hits, ndcg_rows, recall_at, surely_better
from .blend import Blend, learn_blend
from .centroids import CentroidIndex, label_centroids
from .cooccurrence import CooccurrenceShares
from .names import LabelNames, NameIndex, name_centroids
from .ranker import LabelRanker, Pairs, train_ranker, training_pairs

MIN_RECALL_GAIN = 0.01
"""Gain in recall of the candidates above which centroids join the matcher."""
KEPT_RECALL = 0.93
"""Share of the recall that half as many candidates must keep."""
MIN_CANDIDATES = 20
COOCCURRENCE_ERRORS = 1.0
"""Standard errors by which co-occurrence must lower nDCG@5 to be left out."""
SWEEPS, FINAL_SWEEPS = 8, 3
"""Sweeps of the ranker without the held-out rows, and with them."""
PRUNE = 0.1
"""Magnitude below which ranker weights are dropped."""


@dataclass(frozen=True)
class RankerSettings:
    n_candidates: int
    fewer_candidates: bool = True
    """True lets held-out rows reduce the number of candidates."""
    centroids: bool | None = None
    """None lets held-out rows decide."""
    candidate_prior: float | None = None
    """None is 0.2 without centroids and 0.1 with them."""
    C: float = 1.0

    def prior(self, centroids: CentroidIndex | None) -> float:
        """Weight of the label prior in the choice of candidates."""
        if self.candidate_prior is not None:
            return float(self.candidate_prior)
        return 0.2 if centroids is None else 0.1


@dataclass(frozen=True)
class Ranking:
    ranker: LabelRanker
    centroids: CentroidIndex | None
    cooccurrence: CooccurrenceShares | None
    blend: Blend
    final_blend: Blend | None
    """The blend with co-occurrence."""
    n_candidates: int
    candidate_prior: float
    held_out: dict[str, Any]
    """Measurements on the held-out rows; empty without any."""
    name_index: NameIndex | None = None

    @property
    def summary(self) -> str:
        """The decisions on held-out rows in a sentence."""
        how = "groups and centroids" if self.centroids is not None else "groups"
        text, facts = f"{self.n_candidates} candidates per row, found by {how}", self.held_out
        if "P@1" in facts:
            text += f"; on {facts['rows']} held-out rows " + ", ".join(
                f"{name} {facts[name]:.3f}" for name in ("recall", "P@1", "P@3", "P@5") if name in facts
            )
        return text

    def update_reasons(self, reasons: Mapping[str, str]) -> dict[str, str]:
        """The reasons of settings, with the decisions on held-out rows in place of how they are made."""
        facts, few = self.held_out, "too few rows to hold some out"
        why = few
        if "recall_by_groups" in facts:
            recalls = facts["recall_with_centroids"], facts["recall_by_groups"]
            why = "recall on held-out rows {:.3f} with them, {:.3f} without".format(*recalls)
        found = {
            "centroids": f"{self.centroids is not None}: {why}",
            "n_candidates": f"{self.n_candidates}: {'enough on held-out rows' if facts else few}",
            "candidate_prior": f"{self.candidate_prior:g}, with{'' if self.centroids else 'out'} centroids",
        }
        decided = {name for name in found if name in reasons and not reasons[name].startswith("True")}
        return dict(reasons) | {name: found[name] for name in decided}


def candidate_pairs(
    matcher: Any, X: sp.csr_array, Y: sp.csr_array, count: int, n_jobs: int | None = None
) -> Pairs:
    """The rows that each label's ranker learns from: its own, and those it is a candidate of."""
    blocks = map_blocks(lambda rows: matcher.candidates(rows, count).labels.astype(np.int32), X, n_jobs)
    return training_pairs(np.concatenate(blocks), Y)


def train_ranking(
    X: sp.csr_array,
    Y: sp.csr_array,
    make_matcher: Callable[..., Any],
    held: np.ndarray,
    settings: RankerSettings,
    *,
    names: LabelNames | None = None,
    row_weight: np.ndarray | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Ranking:
    """Train the rankers and the blend.

    `make_matcher(centroids, prior, name_index)` returns an object with `candidates(rows, count)`; `held` are
    the held-out rows. Weights are rounded to bytes.
    """
    rows = X if names is None else with_words(X, names.rows)
    partial_weight = without(row_weight, held, X.shape[0])
    counts = label_counts(Y[np.flatnonzero(partial_weight)])
    name_index = None if names is None else names.index(counts)
    judged = len(held) > 0 and Y[held].nnz > 0
    sample = Sample(rows[held], Y[held]) if judged else None
    facts: dict[str, Any] = {"rows": len(held)} if judged else {}
    centers = label_centroids(X, Y, partial_weight)
    if names is not None and NAMED_CENTERS:
        centers = name_centroids(centers, names.vectors, counts)
    matcher, prior, index = _choose_matcher(settings, centers, X, sample, make_matcher, name_index, facts)
    count = settings.n_candidates
    if sample is not None and settings.fewer_candidates:
        count = _reduce_candidates(sample.Y, matcher.candidates(sample.rows, count).labels[:, :count])

    pairs = candidate_pairs(matcher, rows, Y, count, n_jobs)
    alpha = np.zeros(len(pairs.rows), np.float32)
    options: dict[str, Any] = {"C": settings.C, "prune": PRUNE, "alpha": alpha}
    options |= {"n_jobs": n_jobs, "seed": seed, "progress": progress}
    ranker = train_ranker(X, pairs, centers, row_weight=partial_weight, max_iter=SWEEPS, **options)
    if sample is None:
        return Ranking(ranker.in_bytes(), index, None, Blend(), None, count, prior, facts)

    blend, final = _learn_blends(
        matcher, ranker, sample, Y[np.flatnonzero(partial_weight)], count, facts
    )
    shares = CooccurrenceShares.from_counts(cooccurrence(Y)) if final else None
    centers = label_centroids(X, Y, row_weight)
    if names is not None and NAMED_CENTERS:
        centers = name_centroids(centers, names.vectors, label_counts(Y))
    renewed = label_counts(sample.Y) > 0
    with_all = train_ranker(
        X, pairs, centers, row_weight=row_weight, max_iter=FINAL_SWEEPS, labels=renewed, **options
    )
    index = index and CentroidIndex.build(centers, X)
    ranker = ranker.updated(with_all, renewed).in_bytes()
    name_index = name_index and replace(name_index, counts=label_counts(Y))
    return Ranking(ranker, index, shares, blend, final, count, prior, facts, name_index)

NAMED_CENTERS = True

class Sample(NamedTuple):
    """Held-out rows, with their words if labels have names, and their labels."""

    rows: Any
    Y: sp.csr_array


def _choose_matcher(settings, centers, X, sample, make_matcher, name_index, facts):
    """(matcher, prior, index of the centroids or None): with centroids if they find more on the sample."""

    def match(index):
        return make_matcher(index, settings.prior(index), name_index), settings.prior(index), index

    if settings.centroids is False or (settings.centroids is None and sample is None):
        return match(None)
    index = CentroidIndex.build(centers, X)
    if settings.centroids:
        return match(index)
    count = settings.n_candidates
    alone, joined = (
        recall_at(sample.Y, match(use)[0].candidates(sample.rows, count).labels, count) for use in (None, index)
    )
    facts |= {"recall_by_groups": alone, "recall_with_centroids": joined}
    return match(index if joined > alone + MIN_RECALL_GAIN else None)


def _reduce_candidates(truth, labels):
    """Halve the number of candidates while nearly all true labels stay among them."""
    count = labels.shape[1]
    wanted = KEPT_RECALL * recall_at(truth, labels, count)
    while count // 2 >= MIN_CANDIDATES and recall_at(truth, labels, count // 2) >= wanted:
        count //= 2
    return count


def _learn_blends(matcher, ranker, sample, Y, count, facts):
    """(blend, final blend or None) of the held-out sample; Y are the other training rows."""
    found = matcher.candidates(sample.rows, count)
    labels, truth = found.labels, sample.Y
    right = hits(truth, labels)
    terms = found.evidence(ranker.margins(sample.rows, labels))
    blend, final = learn_blend(terms, right), None
    logits = blend(terms)
    if blend.calibrated:
        support = CooccurrenceShares.from_counts(cooccurrence(Y)).support(labels, logits)
        more = terms | {"cooccurrence": support}
        richer, plain = (_cross_ndcg(t, right, labels, truth) for t in (more, terms))
        facts["cooccurrence"] = [float((richer-plain).mean()), float((richer-plain).std()/len(plain)**.5)]
        if not surely_better(plain, richer, COOCCURRENCE_ERRORS):
            final = learn_blend(more, right)
            logits = final(more)
    order = np.argsort(-logits, axis=1, kind="stable")
    best = np.take_along_axis(right, order, axis=1)
    facts |= {"recall": recall_at(truth, labels, labels.shape[1])}
    facts |= {f"P@{k}": float(best[:, :k].sum() / (k * len(best))) for k in (1, 3, 5) if k <= best.shape[1]}
    return blend, final


def _cross_ndcg(terms, right, labels, truth):
    """nDCG@5 of each row, ranked by a blend of the `terms` that was learnt on the other half of the
    rows."""
    values = np.empty(len(labels))
    half = np.arange(len(labels)) % 2 == 0
    for taught, judged in ((half, ~half), (~half, half)):
        blend = learn_blend({name: term[taught] for name, term in terms.items()}, right[taught])
        logits = blend.combine({name: term[judged] for name, term in terms.items()})
        best = _best_five(labels[judged], logits)
        values[judged] = ndcg_rows(truth[np.flatnonzero(judged)], best, 5)
    return values


def _best_five(labels, logits):
    order = np.argsort(-logits, axis=1, kind="stable")[:, :5]
    return np.take_along_axis(labels, order, axis=1)
