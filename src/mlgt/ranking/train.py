"""Training of match and rank, given a matcher: candidates, rankers, blend (ours).

Some training rows are held out of the group classifiers and, at first, of the rankers. They decide whether
centroids join the matcher, how many candidates suffice, how the evidence is blended into a probability,
and whether co-occurring labels count as evidence. Rows seen in training would mislead these choices. The
rankers of the labels of the held-out rows are then trained further on all rows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._core.memory import maker
from .._core.rows import with_words, without
from .._core.sparse import among_empty, label_counts, without_rows
from ..compile.kernels import interpreting
from ..labels.graph import cooccurrence
from ..metrics import hits, ndcg_rows, recall_at, recall_rows, surely_better
from ..tasks import map_rows
from .blend import Blend, Candidates, best_five, cross_ndcg, default_blend, learn_blend
from .centroids import CentroidIndex, label_centroids
from .cooccurrence import CooccurrenceShares
from .names import LabelNames, NameIndex, name_centroids
from .pairs import Pairs, limit_pairs, negative_rows, training_pairs
from .ranker import LabelRanker, label_costs, train_ranker
from .rest import Rest, learn_rest

MIN_RECALL_GAIN = 0.03
"""Gain in recall of the candidates above which centroids join the matcher, which doubles its time. Gains
below it made no better ranking on training rows of EURLex-4K."""
KEPT_RECALL = 0.96
"""Share of the recall that half as many candidates must keep."""
MIN_CANDIDATES = 20
DOUBT = 1.0
"""Standard errors by which evidence must lower nDCG@5 to be left out, or names in centroids the recall."""
SWEEPS, FINAL_SWEEPS = 16, 6
"""Sweeps of the ranker without the held-out rows, and with them."""
RENEWED_SHARE = 0.05
"""Share of held-out rows above which the ranker of a label is trained again with them. If centroids find
the candidates, all are: on WordNet-hypernyms, nDCG@5 was lower by .08 points otherwise."""
PRUNE, MORE_PRUNE = 0.1, (0.3, 0.25, 0.2, 0.15)
"""Magnitude below which ranker weights are dropped, and higher ones that are tried on held-out rows: where
rows are short, few of the weights are needed."""
PRUNE_LOSS = 0.0005
"""nDCG@5 on held-out rows that each halving of the weights after the first may cost; chance alone makes a
difference of .002. On the synthetic `wiki10` a thirtieth of the weights does; the others take 40 MB."""
GROUP_PRIORS, CENTROID_PRIORS = (0.2,), (0.1, 0.2, 0.3)
"""Weights of the label prior in the choice of candidates, without and with centroids. Where rows are very
short, similarities are large, and frequent labels would be left out with the smallest."""
NONE = np.empty(0, np.int64)
_ALL = slice(None)


@dataclass(frozen=True)
class RankerSettings:
    n_candidates: int
    fewer_candidates: bool = True
    """True lets held-out rows reduce the number of candidates."""
    centroids: bool | None = None
    """None lets held-out rows decide."""
    candidate_prior: float | None = None
    """None is GROUP_PRIORS without centroids; with them, held-out rows choose from CENTROID_PRIORS."""
    C: float = 1.0
    soft: bool = False
    """True if labels with many rows need less C."""
    prune: float = PRUNE
    """Magnitude below which weights are dropped."""
    more_prune: Sequence[float] = MORE_PRUNE
    """Higher ones that held-out rows decide on, falling."""

    def costs(self, counts: np.ndarray) -> np.ndarray | float:
        """C of the rankers of labels with these counts of rows."""
        return label_costs(counts, self.C) if self.soft else self.C

    def priors(self, centroids: CentroidIndex | None) -> Sequence[float]:
        """Weights of the label prior in the choice of candidates, the one to begin with first."""
        if self.candidate_prior is not None:
            return (float(self.candidate_prior),)
        return GROUP_PRIORS if centroids is None else CENTROID_PRIORS


@dataclass(frozen=True)
class Ranking:
    ranker: LabelRanker
    centroids: CentroidIndex | None
    cooccurrence: CooccurrenceShares | None
    name_index: NameIndex | None
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
            why += f"; they are used from {MIN_RECALL_GAIN} more on"
        found = {
            "centroids": f"{self.centroids is not None}: {why}",
            "n_candidates": f"{self.n_candidates}: {'enough on held-out rows' if facts else few}",
            "candidate_prior": f"{self.candidate_prior:g}, with{'' if self.centroids else 'out'} centroids",
        }
        decided = {name for name in found if name in reasons and not reasons[name].startswith("True")}
        return dict(reasons) | {name: found[name] for name in decided}


def candidate_pairs(
    matcher: Any,
    X: sp.csr_array,
    Y: sp.csr_array,
    count: int,
    n_jobs: int | None = None,
    chosen: np.ndarray | None = None,
) -> Pairs:
    """The rows that each label's ranker learns from: its own, and those it is a candidate of, if these are
    among the rows `chosen`, ascending; None for all."""
    (found,) = map_rows("candidates", _candidate_labels, (matcher, count), X, n_jobs, chosen)
    if chosen is not None:
        some, found = found, maker(X.data)((Y.shape[0], found.shape[1]), np.int32)
        found[:] = -1
        found[chosen] = some
    return training_pairs(found, Y)


def _candidate_labels(shared, rows):
    matcher, count = shared
    return (matcher.matched_candidates(rows, count).labels.astype(np.int32),)


class Sample(NamedTuple):
    """Held-out rows, with the words of names, and their labels."""

    rows: Any
    Y: sp.csr_array


@dataclass(frozen=True)
class Matcher:
    """What finds the candidates: `model.candidates(rows, count)`."""

    model: Any
    index: CentroidIndex | None
    prior: float
    named: bool
    """True if names are part of the centroids."""
    labels: np.ndarray | None
    """The candidates (n, K) of the held-out rows."""


class Centers(NamedTuple):
    """The centroids of labels for training rows of some weight, with or without their names."""

    X: sp.csr_array
    Y: sp.csr_array
    names: LabelNames | None
    n_jobs: int | None = None

    def of(
        self, row_weight: np.ndarray | None, named: bool, labels: np.ndarray | slice = _ALL
    ) -> sp.csr_array:
        """Centroids of all labels, or of these, ascending."""
        centroids = label_centroids(self.X, sp.csr_array(self.Y[:, labels]), row_weight, self.n_jobs)
        if self.names is None or not named:
            return centroids
        return name_centroids(centroids, self.names.vectors[labels], self.counts(row_weight)[labels])

    def renewed(self, row_weight: np.ndarray | None, named: bool, labels: np.ndarray) -> sp.csr_array:
        """Centroids of the labels (d,) bool, among empty ones."""
        ids = np.flatnonzero(labels)
        return among_empty(self.of(row_weight, named, ids), ids, len(labels))

    def counts(self, row_weight: np.ndarray | None) -> np.ndarray:
        """(d,) rows of each label with a weight."""
        return label_counts(self.Y if row_weight is None else self.Y[np.flatnonzero(row_weight)])


def train_ranking(
    X: sp.csr_array,
    Y: sp.csr_array,
    make_matcher: Callable[..., Any],
    held: np.ndarray,
    settings: RankerSettings,
    *,
    names: LabelNames | None = None,
    row_weight: np.ndarray | None = None,
    checked: np.ndarray = NONE,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Ranking:
    """Train the rankers and the blend.

    `make_matcher(centroids, prior, name_index)` returns a model that finds candidates; `held` are the
    held-out rows, of which those `checked` stay so. Weights are rounded to bytes.
    """
    rows, centers = with_words(X, None if names is None else names.rows), Centers(X, Y, names, n_jobs)
    partial_weight = without(row_weight, held, X.shape[0])
    sample = Sample(rows[held], Y[held]) if len(held) and Y[held].nnz else None
    facts: dict[str, Any] = {} if sample is None else {"rows": len(held)}
    name_index = None if names is None else names.index(centers.counts(partial_weight))
    matcher, own_centers = _choose_matcher(
        settings, centers, partial_weight, sample, make_matcher, name_index, facts
    )
    count = settings.n_candidates
    if sample is not None and settings.fewer_candidates:
        count = _reduce_candidates(sample.Y, matcher.labels)
    chosen = None if matcher.index is None else negative_rows(Y, count, seed)
    pairs = limit_pairs(candidate_pairs(matcher.model, rows, Y, count, n_jobs, chosen), X, seed)
    options: dict[str, Any] = {"C": settings.costs(centers.counts(row_weight))}
    options |= {"prune": settings.prune, "n_jobs": n_jobs, "seed": seed, "progress": progress}
    options["alpha"] = maker(pairs.rows)(pairs.rows.shape, np.float32)
    options["alpha"][:] = 0
    ranker = train_ranker(X, pairs, own_centers, row_weight=partial_weight, max_iter=SWEEPS, **options)
    decided = {"n_candidates": count, "candidate_prior": matcher.prior, "held_out": facts}
    if sample is None:
        return _unblended(ranker, matcher, name_index, decided)
    found = matcher.model.candidates(sample.rows, count)
    ranker, judged, options["prune"] = _prune_more(settings, found, ranker, sample, facts)
    if names is not None and not _names_help(found, count, judged, sample, facts):
        name_index, matcher = None, replace(matcher, model=make_matcher(matcher.index, matcher.prior, None))
        found = matcher.model.candidates(sample.rows, count)
    blend, final, shares = _learn_blends(found, judged, sample, Y[np.flatnonzero(partial_weight)], facts)
    rest = learn_rest(matcher.model, sample.rows, sample.Y, count, blend)
    name_index = name_index and replace(name_index, counts=label_counts(Y))
    if len(checked):
        row_weight, Y = without(row_weight, checked, X.shape[0]), _without_labels(Y, checked)
    renewed = label_counts(Y[held]) > (0 if matcher.index else RENEWED_SHARE) * label_counts(Y)
    own_centers = without_rows(own_centers, np.flatnonzero(renewed))  # these are the largest arrays
    new_centers = Centers(X, Y, names, n_jobs).renewed(row_weight, matcher.named, renewed)
    with_all = train_ranker(
        X, pairs, new_centers, row_weight=row_weight, max_iter=FINAL_SWEEPS, labels=renewed, **options
    )
    index = matcher.index and CentroidIndex.build(new_centers, X, others=own_centers)
    ranker = ranker.updated(with_all, renewed).in_bytes()
    return Ranking(ranker, index, shares, name_index, blend, final, rest, **decided)


def _unblended(ranker, matcher, name_index, decided):
    """The ranking without held-out rows."""
    blend = default_blend(named=name_index is not None)
    parts = matcher.index, None, name_index, blend, None, Rest.like(blend)
    return Ranking(ranker.in_bytes(), *parts, **decided)


def _without_labels(Y, rows):
    """Y (n, d) with no label in these rows."""
    keep = np.ones(Y.shape[0], np.float32)
    keep[rows] = 0
    left = sp.csr_array(sp.diags_array(keep) @ Y)
    left.eliminate_zeros()
    return left


# Decisions on held-out rows.


def _choose_matcher(settings, centers, row_weight, sample, make_matcher, name_index, facts):
    """(matcher, centers): with centroids if they find more labels of the sample; with names in them unless
    they surely find fewer."""

    def match(index, named, prior=None):
        prior, count = settings.priors(index)[0] if prior is None else prior, settings.n_candidates
        model, found = make_matcher(index, prior, name_index), None
        if sample is not None:
            with interpreting(4 * math.prod(sample.Y.shape)):  # shortlists may not be needed later
                found = model.matched_candidates(sample.rows, count).labels[:, :count]
        return Matcher(model, index, prior, named, found)

    named = name_index is not None
    own = centers.of(row_weight, named)
    if settings.centroids is False or (settings.centroids is None and sample is None):
        return match(None, named), own
    matcher = match(CentroidIndex.build(own, centers.X), named)
    if sample is None:
        return matcher, own
    found = recall_rows(sample.Y, matcher.labels)
    if named:
        plain_centers = centers.of(row_weight, False)
        plain = match(CentroidIndex.build(plain_centers, centers.X), False)
        gained = found - recall_rows(sample.Y, plain.labels)
        facts["recall_gain_of_named_centroids"] = float(gained.mean())
        if surely_better(-gained, np.zeros_like(gained), DOUBT):
            matcher, own, found = plain, plain_centers, found - gained
    alone = None if settings.centroids else match(None, matcher.named)
    by_groups = 0.0 if alone is None else float(recall_rows(sample.Y, alone.labels).mean())
    near = found.mean() > by_groups + MIN_RECALL_GAIN / 2  # else no prior will do
    facts[f"recall_with_prior_{matcher.prior:g}"] = float(found.mean())
    for prior in settings.priors(matcher.index)[1:] if near else ():
        higher = match(matcher.index, matcher.named, prior)
        more = recall_rows(sample.Y, higher.labels)
        facts[f"recall_with_prior_{prior:g}"] = float(more.mean())
        if not surely_better(more, found, DOUBT):
            break
        matcher, found = higher, more
    if alone is None:
        return matcher, own
    facts |= {"recall_by_groups": by_groups, "recall_with_centroids": float(found.mean())}
    joined = found.mean() > by_groups + MIN_RECALL_GAIN
    return matcher if joined else alone, own


def _reduce_candidates(truth, labels):
    """Halve the number of candidates while nearly all true labels stay among them."""
    count = labels.shape[1]
    wanted = KEPT_RECALL * recall_at(truth, labels, count)
    while count // 2 >= MIN_CANDIDATES and recall_at(truth, labels, count // 2) >= wanted:
        count //= 2
    return count


def _prune_more(settings, found: Candidates, ranker, sample, facts):
    """(ranker, the same in bytes, magnitude): without the weights below it, which the order of the sample
    does not need."""
    labels, truth, judged = found.labels, sample.Y, ranker.in_bytes()

    def evidence(some):
        return found.evidence(some.margins(sample.rows, labels, by_feature=False))

    def quality(terms, blend):
        return float(ndcg_rows(truth, best_five(labels, blend(terms)), 5).mean())

    terms, right = evidence(judged), hits(truth, labels)
    blend = learn_blend(terms, right)
    facts["prune"], wanted = settings.prune, quality(terms, blend)
    for magnitude in settings.more_prune:
        fewer = judged.pruned(magnitude)
        more = np.log2(max(1, len(judged.values)) / max(1, len(fewer.values))) - 1  # halvings
        terms = evidence(fewer)
        own = learn_blend(terms, right) if more > 0 else blend  # few weights make smaller margins
        if quality(terms, own) >= wanted - PRUNE_LOSS * max(0.0, more):
            facts["prune"] = magnitude
            return ranker.pruned(magnitude), fewer, magnitude
    return ranker, judged, settings.prune


def _names_help(found: Candidates, count, ranker, sample, facts):
    """True unless the order without names is surely better; `count` candidates are not found by name."""
    plain = replace(found.columns(slice(count)), names=None, phrases=None, unseen=None)
    with_names, without_names = (
        cross_ndcg(
            some.evidence(ranker.margins(sample.rows, some.labels, by_feature=False)), some.labels, sample.Y
        )
        for some in (found, plain)
    )
    facts["gain_of_names"] = float((with_names - without_names).mean())
    return not surely_better(without_names, with_names, DOUBT)


def _learn_blends(found: Candidates, ranker, sample, Y, facts):
    """(blend, final blend, shares of co-occurrence) for the candidates of the sample, the last two None if
    they are no evidence; Y are the other training rows."""
    labels, truth = found.labels, sample.Y
    right = hits(truth, labels)
    terms = found.evidence(ranker.margins(sample.rows, labels, by_feature=False))
    blend, final, shares = learn_blend(terms, right), None, None
    logits = blend(terms)
    if blend.calibrated:
        shares = CooccurrenceShares.from_counts(cooccurrence(Y))
        more = terms | {"cooccurrence": shares.support(labels, logits)}
        richer, plain = (cross_ndcg(some, labels, truth) for some in (more, terms))
        facts["gain_of_cooccurrence"] = float((richer - plain).mean())
        if not surely_better(plain, richer, DOUBT):
            final = learn_blend(more, right)
            logits = final(more)
    order = np.argsort(-logits, axis=1, kind="stable")
    best = np.take_along_axis(right, order, axis=1)
    facts |= {"recall": recall_at(truth, labels, labels.shape[1])}
    facts |= {f"P@{k}": float(best[:, :k].sum() / (k * len(best))) for k in (1, 3, 5) if k <= best.shape[1]}
    return blend, final, shares if final else None
