"""Training, one stage per line: settings and data -> a `FittedModel`."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.ids import KnownIds
from .._core.memory import check_memory
from .._core.progress import Narrator
from .._core.rows import map_blocks, scale_rows, without
from .._core.sparse import canonical, label_counts
from ..blocks import (
    BlockClassifiers,
    Router,
    block_ranks,
    block_targets,
    calibrate_blocks,
    draw_sketch,
    smallest_route,
    stack_groups,
)
from ..blocks.train import BlockTask, train_blocks
from ..classifiers.train import train
from ..decoding import DESIGN_DECODERS, LabelIndex
from ..groups import CONSTRUCTIONS, pool
from ..groups.column_weight import choose_column_weight
from ..groups.saffron import SaffronDesign, plan_design
from ..metrics import hits, ndcg_rows, surely_better
from ..model.fitted import FittedModel
from ..model.record import BlockStructure, TrainingRecord
from ..model.sample import Sample, affordable_rows, choose_rows
from ..ranking import LabelNames, learn_blend
from ..ranking.ranker import label_costs
from ..ranking.train import NONE, train_ranking
from ..text import FeatureWords
from ..vocabulary import Vocabulary
from .cost import spills
from .settings import BITS, FEW_BITS, RANKED_TOL, Settings

ROWS_PER_HELD_OUT = 16
"""Training rows for each held-out row."""
MIN_HELD_OUT, MAX_HELD_OUT = 64, 1000
CALIBRATED_LABELS = 20
"""Best labels of a row from which one-vs-all learns probabilities. The others are wrong, and so many that
likely labels would get too high ones. With 10 to 40, the F1 of predicted sets differs by at most .007."""
MAX_ROUNDING_LOSS, ROUNDING_ERRORS = 0.006, 2.0
"""nDCG@5 by groups alone that FEW_BITS may cost on held-out rows; they are refused if they cost more by so
many standard errors. With rankers, nDCG@5 fell by .001 on YSO-Finna-en and not on the synthetic `wiki10`,
with 675 and 967 labels per group, where groups alone lost .003 to .006."""


@dataclass(frozen=True)
class TrainingData:
    X: sp.csr_array  # (n, p), not scaled
    Y: sp.csr_array  # (n, d)
    classes: np.ndarray
    """Names of all labels, or ids of those in Y."""
    seen: np.ndarray
    """Rows with a weight above 0."""
    weight: np.ndarray | None = None  # (n,)
    feature_names: list[str] | None = None
    known_labels: KnownIds | None = None
    known_features: KnownIds | None = None
    """The caller's ids of the columns of Y and X, if ids that never occur are left out."""
    vocabulary: Vocabulary | None = None
    """The labels of Y with their names and ids. No label is left out; some may have no row."""
    names: LabelNames | None = None
    """Names of labels as evidence."""
    feature_words: FeatureWords | None = None
    """The words of these names among the features."""


def train_flat(
    data: TrainingData, settings: Settings, rng: np.random.Generator, narrator: Narrator
) -> FittedModel:
    """Train one set of groups for all labels: Algorithm 1 of the paper, and match and rank."""
    X = scale_rows(data.X, settings.power, settings.normalize)
    held = hold_out(data.seen, rng) if settings.ranker else data.seen[:0]
    with narrator.stage("grouping labels") as progress:
        grouping = draw_groups(_without_rows(data.Y, held), settings, rng, progress)
        Z = pool(data.Y, grouping.A)
    each = "" if grouping.column_weight is None else f", each in {grouping.column_weight}"
    narrator.say(f"{Z.shape[1]} groups for {data.Y.shape[1]} labels{each}")
    sampled = _choose_sample(data, settings, grouping, held)
    aside = held if settings.ranker else sampled[0]
    kept = without(data.weight, aside, X.shape[0]) if settings.ranker or len(aside) else data.weight
    solver = dict(settings.solver)
    if settings.soft:
        solver["C"] = label_costs(label_counts(Z), solver["C"])
    with narrator.stage("training classifiers") as progress:
        classifiers = train(
            X, Z, classifier=settings.classifier, row_weight=kept, bits=settings.bits,
            n_jobs=settings.n_jobs, seed=int(rng.integers(2**31)), progress=progress, **solver,
        )  # fmt: skip
    model = _rank_labels(X, data, settings, grouping, classifiers, None, held, rng, narrator, sampled[0])
    if settings.blend is not None:
        model = _calibrate_alone(model, X[sampled[0]], data.Y[sampled[0]])
    rows = np.concatenate(sampled)
    sizes = len(sampled[0]), len(sampled[1]), 0
    return replace(model, sample=Sample.of(X[rows], data.Y[rows], sizes)) if len(rows) else model


def hold_out(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose some of `rows` to hold out, ascending; none if there are few rows."""
    count = min(MAX_HELD_OUT, len(rows) // ROWS_PER_HELD_OUT)
    return np.sort(rng.choice(rows, count, replace=False)) if count >= MIN_HELD_OUT else rows[:0]


def _choose_sample(data, settings, grouping, held):
    """(checked, replayed) rows that the model keeps; none if it cannot be taught."""
    if settings.keep_rows == 0 or grouping.design is not None:
        return data.seen[:0], data.seen[:0]
    judged = settings.ranker is not None or settings.one_vs_all
    (n, p), m = data.X.shape, grouping.A.shape[0]
    keep = affordable_rows(settings.keep_rows, data.X.nnz / n, p * m)
    return choose_rows(data.Y, held, data.seen, keep, judged)


def train_in_blocks(
    data: TrainingData, settings: Settings, rng: np.random.Generator, narrator: Narrator
) -> FittedModel:
    """Train groups for each block of labels: He-NMFGT (section 4 of the paper), and match and rank."""
    blocks = settings.blocks
    assert blocks is not None
    X = scale_rows(data.X, settings.power, settings.normalize)
    judged = settings.ranker or blocks.calibrate or blocks.route is not None
    held = hold_out(data.seen, rng) if judged else data.seen[:0]
    kept = without(data.weight, held, X.shape[0]) if len(held) else data.weight
    sketch = None if blocks.sketch is None else draw_sketch(X.shape[1], blocks.sketch, rng)
    hashed = X if sketch is None else canonical(sketch(X).csr())
    with narrator.stage("training blocks") as progress:
        trained = train_blocks(_block_tasks(hashed, data.Y, settings, kept, rng), settings.n_jobs, progress)
    classifiers = BlockClassifiers([block.classifiers for block in trained], sketch)
    structure = BlockStructure(
        blocks.partition,
        [block.groups for block in trained],
        blocks.combination,
        column_weights=[block.column_weight for block in trained],
        n_rows=[block.n_rows for block in trained],
    )
    structure = _calibrate(structure, classifiers, X[held], data.Y[held], settings)
    if blocks.route is not None:
        with narrator.stage("training the router") as progress:
            router = _train_router(hashed, data.Y, held, kept, settings, rng, progress)
        n_routes = blocks.partition.n_blocks if router is None else router.n_routes
        narrator.say(f"{n_routes} of {blocks.partition.n_blocks} blocks are evaluated for each row")
        classifiers = replace(classifiers, router=router)
    A = stack_groups(structure.groups, structure.layout.labels, data.Y.shape[1])
    grouping = Grouping(A, reproducible=all(block.reproducible for block in trained))
    return _rank_labels(X, data, settings, grouping, classifiers, structure, held, rng, narrator)


# Groups and their classifiers.


@dataclass(frozen=True)
class Grouping:
    A: sp.csr_array  # (m, d)
    design: SaffronDesign | None = None
    column_weight: int | None = None
    column_weight_losses: dict[int, float] | None = None
    reproducible: bool = True


def _without_rows(Y, held):
    """Y without the held-out rows: groups that have seen them would look better on them than on others."""
    return Y[np.setdiff1d(np.arange(Y.shape[0]), held)] if len(held) else Y


def draw_groups(Y: sp.csr_array, settings: Settings, rng: np.random.Generator, progress: Any) -> Grouping:
    """Draw the groups of all labels (section 3 of the paper)."""
    if settings.own_groups is not None:
        return Grouping(settings.own_groups)
    if settings.construction == "saffron":
        return _draw_design(Y, settings, rng, progress)
    construction, m = CONSTRUCTIONS[settings.construction], settings.n_groups
    plan = construction.plan(Y, m, rng, progress=progress, **settings.construction_params)
    weight, losses = settings.column_weight, None
    if construction.WEIGHTED and weight is None:
        weight, losses = choose_column_weight(plan.draw, Y, m, rng)
    A = plan.draw(weight, rng)
    return Grouping(A, None, weight, losses, plan.reproducible)


def _draw_design(Y, settings, rng, progress):
    """A SAFFRON design of at most `n_groups` groups."""
    plan = plan_design(Y, settings.n_groups, rng, progress=progress, **settings.construction_params)
    design = plan.draw(settings.column_weight, rng)
    weight = design.tables.max_weight
    check_memory(
        40.0 * 3 * design.n_bits * design.graph.nnz,
        f"{design.n_groups} groups of {design.n_labels} labels, each in {3 * design.n_bits * weight},",
        "Pass a smaller column_weight or n_groups.",
    )
    if settings.decoder in DESIGN_DECODERS:  # raises before training if its options are wrong
        DESIGN_DECODERS[settings.decoder](design, label_counts(Y), **settings.decoder_params)
    return Grouping(design.A, design, weight)


# The model, and its ranker.


def _unranked(X, data, settings, grouping, classifiers, blocks):
    """The fitted model without rankers."""
    saffron = grouping.design is not None
    return FittedModel(
        classifiers=classifiers,
        classes=data.classes,
        known_labels=data.known_labels,
        known_features=data.known_features,
        label_counts=label_counts(data.Y),
        n_rows=X.shape[0],
        n_features=X.shape[1] if data.known_features is None else data.known_features.total,
        groups=None if saffron else grouping.A,
        index=None if saffron else LabelIndex(grouping.A),
        design=grouping.design,
        feature_names=data.feature_names,
        vocabulary=data.vocabulary,
        normalize=settings.normalize,
        power=settings.power,
        decoder_name=settings.decoder,
        decoder_params=settings.decoder_params,
        blend=settings.blend,
        n_candidates=settings.n_candidates,
        tail=settings.tail,
        blocks=blocks,
        record=TrainingRecord(
            C=settings.solver["C"],
            column_weight=grouping.column_weight,
            column_weight_losses=grouping.column_weight_losses,
            reproducible=grouping.reproducible,
            tried=settings.tried,
            reasons=settings.reasons,
        ),
    )


def _rank_labels(X, data, settings, grouping, classifiers, blocks, held, rng, narrator, checked=NONE):
    """The fitted model, with rankers and a blend if the settings have a ranker."""
    model = _unranked(X, data, settings, grouping, classifiers, blocks)
    if settings.ranker is None:
        return model
    if settings.fewer_bits and len(held):
        model = _round_more(model, X[held], data.Y[held])
    names = data.names and data.names.scaled(settings.power, settings.normalize)
    with narrator.stage("training rankers") as progress:
        ranking = train_ranking(
            X, data.Y, model.matcher, held, settings.ranker, names=names, row_weight=data.weight,
            checked=checked, n_jobs=settings.n_jobs, seed=int(rng.integers(2**31)), progress=progress,
        )  # fmt: skip
    narrator.say(ranking.summary)
    return replace(
        model,
        ranker=ranking.ranker,
        centroids=ranking.centroids,
        cooccurrence=ranking.cooccurrence,
        name_index=ranking.name_index,
        feature_words=None if ranking.name_index is None else data.feature_words,
        blend=ranking.blend,
        final_blend=ranking.final_blend,
        rest=ranking.rest,
        n_candidates=ranking.n_candidates,
        candidate_prior=ranking.candidate_prior,
        record=replace(
            model.record,
            held_out=ranking.held_out,
            reasons=ranking.update_reasons(model.record.reasons),
        ),
    )


def _round_more(model, X, Y):
    """The model with group weights of FEW_BITS, unless groups then surely rank the held-out rows X worse by
    MAX_ROUNDING_LOSS."""
    rounded = replace(model, classifiers=model.classifiers.rounded(FEW_BITS))
    before, after = (ndcg_rows(Y, some.candidates(X, 5).labels, 5) for some in (model, rounded))
    enough = not surely_better(before - MAX_ROUNDING_LOSS, after, ROUNDING_ERRORS)
    bits, (old, new) = FEW_BITS if enough else BITS, (before.mean(), after.mean())
    why = f"{bits}: nDCG@5 by groups alone is {old:.4f} with {BITS}, {new:.4f} with {FEW_BITS}"
    record = replace(model.record, reasons={**model.record.reasons, "bits": f"{why} on held-out rows"})
    return replace(rounded if enough else model, record=record)


def _calibrate_alone(model, X, Y):
    """The model of one-vs-all with probabilities learnt on rows X, which it was not trained on, if these
    have enough labels; else they are those of the sample on which the settings were tuned."""
    found = model.candidates(X, CALIBRATED_LABELS)
    blend = learn_blend(found.evidence(None), hits(Y, found.labels)) if Y.nnz else model.blend
    return replace(model, blend=blend) if blend.calibrated else model


# Blocks.


def _block_tasks(X, Y, settings, row_weight, rng):
    blocks = settings.blocks
    seeds = rng.integers(2**31, size=len(blocks.n_groups))
    training = {**settings.solver, "classifier": settings.classifier}
    spill = spills(settings, X.shape[1])
    return [
        BlockTask(
            X, Y, blocks.partition.labels(i), m, int(seeds[i]), settings.construction,
            blocks.column_weights[i], settings.construction_params, training, blocks.negatives, row_weight,
            settings.bits, spill,
        )
        for i, m in enumerate(blocks.n_groups)
    ]  # fmt: skip


def _calibrate(structure, classifiers, X, Y, settings):
    """The structure with comparable blocks, if there are rows to learn from."""
    blocks = settings.blocks
    if not blocks.calibrate or not (len(Y.indices) or blocks.always_calibrate):
        return structure
    margins = np.concatenate(map_blocks(classifiers.margins, X, settings.n_jobs))
    found = calibrate_blocks(structure.layout, margins, Y, **settings.decoder_params)
    return replace(structure, combination="calibrated", calibration=found)


def _train_router(X, Y, held, row_weight, settings, rng, progress):
    """A classifier per block, or None if held-out rows need more than half of the blocks."""
    blocks = settings.blocks
    if len(Y[held].indices) == 0:
        return None
    classifiers = train(
        X, block_targets(Y, blocks.partition), row_weight=row_weight, n_jobs=settings.n_jobs,
        seed=int(rng.integers(2**31)), progress=progress, loss=settings.solver["loss"],
        C=min(1.0, settings.solver["C"]), tol=RANKED_TOL, max_iter=settings.solver["max_iter"],
    )  # fmt: skip
    margins = np.concatenate(map_blocks(classifiers.margins, X[held], settings.n_jobs))
    labels = [blocks.partition.labels(i) for i in range(blocks.partition.n_blocks)]
    routes, lost = smallest_route(block_ranks(margins), Y[held], labels, blocks.route)
    if routes > blocks.partition.n_blocks / 2:
        return None
    return Router(classifiers.rounded(settings.bits), routes, lost)
