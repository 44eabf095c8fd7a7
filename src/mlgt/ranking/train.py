"""Training of match and rank, given a matcher: candidates, rankers, blend (ours).

Some training rows are held out of the group classifiers and, at first, of the rankers. They decide whether
centroids join the matcher, how many candidates suffice, how the evidence is blended into a probability,
and whether co-occurring labels count as evidence. Rows seen in training would mislead these choices. The
rankers of the labels of the held-out rows are then trained further on all rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.rows import map_blocks, without
from ..labels.graph import cooccurrence
from ..metrics import hits, ndcg_rows, recall_at, surely_better
from .blend import Blend, evidence, learn_blend
from .centroids import CentroidIndex, label_centroids
from .cooccurrence import CooccurrenceShares
from .ranker import LabelRanker, Pairs, train_ranker, training_pairs
from .rest import Rest, learn_rest

MIN_RECALL_GAIN = 0.01
"""Gain in recall of the candidates above which centroids join the matcher."""
KEPT_RECALL = 0.93
"""Share of the recall that half as many candidates must keep."""
MIN_CANDIDATES = 20
COOCCURRENCE_ERRORS = 1.0
"""Standard errors by which co-occurrence must raise nDCG@5 to be kept."""
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
    rest: Rest
    """The log-odds of labels beyond the candidates."""
    n_candidates: int
    candidate_prior: float
    held_out: dict[str, Any]
    """Measurements on the held-out rows; empty without any."""

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
    blocks = map_blocks(lambda rows: matcher.candidates(rows, count)[0].astype(np.int32), X, n_jobs)
    return training_pairs(np.concatenate(blocks), Y)


def train_ranking(
    X: sp.csr_array,
    Y: sp.csr_array,
    make_matcher: Callable[[CentroidIndex | None, float], Any],
    held: np.ndarray,
    settings: RankerSettings,
    *,
    row_weight: np.ndarray | None = None,
    checked: Any = (),
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Ranking:
    """Train the rankers and the blend.

    `make_matcher(centroids, prior)` returns an object with `candidates(X, count)`; `held` are the held-out
    rows, of which those `checked` stay so. Weights are rounded to bytes.
    """
    partial_weight = without(row_weight, held, X.shape[0])
    centers = label_centroids(X, Y, partial_weight)
    X_held, truth = X[held], Y[held]
    judged = len(held) > 0 and truth.nnz > 0
    facts: dict[str, Any] = {"rows": len(held)} if judged else {}
    index = _choose_centroids(settings, centers, X, X_held, truth if judged else None, make_matcher, facts)
    prior, count = settings.prior(index), settings.n_candidates
    matcher = make_matcher(index, prior)
    if judged and settings.fewer_candidates:
        count = _reduce_candidates(truth, matcher.candidates(X_held, count)[0])

    pairs = candidate_pairs(matcher, X, Y, count, n_jobs)
    alpha = np.zeros(len(pairs.rows), np.float32)
    options: dict[str, Any] = {"C": settings.C, "prune": PRUNE, "alpha": alpha}
    options |= {"n_jobs": n_jobs, "seed": seed, "progress": progress}
    ranker = train_ranker(X, pairs, centers, row_weight=partial_weight, max_iter=SWEEPS, **options)
    if not judged:
        return Ranking(
            ranker.in_bytes(), index, None, Blend(), None, Rest.like(Blend()), count, prior, facts
        )

    blend, final = _learn_blends(
        matcher, ranker, X_held, truth, Y[np.flatnonzero(partial_weight)], count, facts
    )
    rest = learn_rest(matcher, X_held, truth, count, blend)
    if len(checked):
        row_weight = without(row_weight, np.asarray(checked), X.shape[0])
        Y, truth = _without_rows(Y, checked), Y[np.setdiff1d(held, checked)]
    shares = CooccurrenceShares.from_counts(cooccurrence(Y)) if final else None
    centers = label_centroids(X, Y, row_weight)
    renewed = np.bincount(truth.indices, minlength=truth.shape[1]) > 0
    with_all = train_ranker(
        X, pairs, centers, row_weight=row_weight, max_iter=FINAL_SWEEPS, labels=renewed, **options
    )
    index = index and CentroidIndex.build(centers, X)
    ranker = ranker.updated(with_all, renewed).in_bytes()
    return Ranking(ranker, index, shares, blend, final, rest, count, prior, facts)


def _without_rows(Y, rows):
    """Y (n, d) with no label in these rows."""
    keep = np.ones(Y.shape[0], np.float32)
    keep[rows] = 0
    left = sp.csr_array(sp.diags_array(keep) @ Y)
    left.eliminate_zeros()
    return left


def _choose_centroids(settings, centers, X, X_held, truth, make_matcher, facts):
    """The index of the centroids if they join the matcher, else None; `truth` is None without held-out
    rows."""
    if settings.centroids is False or (settings.centroids is None and truth is None):
        return None
    index = CentroidIndex.build(centers, X)
    if settings.centroids:
        return index
    count = settings.n_candidates
    alone, joined = (
        recall_at(truth, make_matcher(use, settings.prior(use)).candidates(X_held, count)[0], count)
        for use in (None, index)
    )
    facts |= {"recall_by_groups": alone, "recall_with_centroids": joined}
    return index if joined > alone + MIN_RECALL_GAIN else None


def _reduce_candidates(truth, labels):
    """Halve the number of candidates while nearly all true labels stay among them."""
    count = labels.shape[1]
    wanted = KEPT_RECALL * recall_at(truth, labels, count)
    while count // 2 >= MIN_CANDIDATES and recall_at(truth, labels, count // 2) >= wanted:
        count //= 2
    return count


def _learn_blends(matcher, ranker, X, truth, Y, count, facts):
    """(blend, final blend or None) of held-out rows X with labels `truth`; Y are the other training
    rows."""
    labels, scores, similar = matcher.candidates(X, count)
    margins = ranker.margins(X, labels)
    right = hits(truth, labels)
    terms = evidence(margins, scores, similar)
    blend, final = learn_blend(terms, right), None
    logits = blend(margins, scores, similar)
    if blend.calibrated:
        support = CooccurrenceShares.from_counts(cooccurrence(Y)).support(labels, logits)
        more = terms | {"cooccurrence": support}
        richer, plain = (_cross_ndcg(t, right, labels, truth) for t in (more, terms))
        if surely_better(richer, plain, COOCCURRENCE_ERRORS):
            final = learn_blend(more, right)
            logits = final(margins, scores, similar, support)
    order = np.argsort(-logits, axis=1, kind="stable")
    best = np.take_along_axis(right, order, axis=1)
    facts |= {"recall": recall_at(truth, labels, count)}
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
