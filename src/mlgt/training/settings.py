"""Settings resolved once: parameters and data -> every value that training needs, with its reason.

Every value that follows from the parameters and the shape of the data is in this file. `resolve` returns a
frozen `Settings` without any "auto"; what only training can decide (a column weight by Remark 1, fewer
candidates, centroids) is None or a flag with that meaning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.progress import QUIET, Narrator
from .._core.rows import scale_rows
from .._core.validation import check_count
from ..classifiers.solver import TILE
from ..groups import CONSTRUCTIONS, is_permutation
from ..groups.saffron import required_tests
from ..labels.partition import Partition
from ..ranking import Blend, are_light
from ..ranking.train import MORE_PRUNE, PRUNE, RankerSettings
from .checks import Params
from .cost import check_cost, pooled_work
from .sizes import auto_candidates, auto_n_groups, labels_per_row, ranked_weight
from .tuning import DEFAULT_C, Tuning, format_reasons, format_tuning, tune

MAX_ONE_VS_ALL_LABELS = 2048
"""Labels up to which every label may have a classifier of its own. More of them make models large."""
LESS_WORK, MORE_WORK = 0.8, 2.0
"""Work of groups with rankers, as a multiple of that of one-vs-all (`cost.pooled_work`), below which labels
are pooled; and below which they are if rankers surely win on a sample. One-vs-all predicts faster."""
MAX_UNRANKED_LABELS = 256
"""Labels up to which each has a classifier even if there can be no ranker, as pooling so few costs
precision; or if names of labels are evidence, which only rankers weigh."""
MAX_RANKED_GROUPS = 768
"""Groups with a ranker. 8 k log2(d) exceeds it for rows of ten labels or so, where a third of the groups
found equally good candidates on held-out rows."""
MANY_LABELS, MANY_LABELS_GROUPS = 50_000, 256
"""Labels from which centroids find the candidates, and the groups that then suffice to judge them, as they
do where rows are short. From half of these labels on, half the groups do, however long the rows are."""
HIGH_QUALITY_PRUNE = 0.02
"""Magnitude below which ranker weights are dropped for high quality."""
RANKED_SWEEPS = 5
"""Sweeps of the NMF with a ranker, which evens out differences."""
RANKED_TOL, ONE_VS_ALL_TOL, TOL = 0.1, 0.03, 0.01
"""Solver tolerance with a ranker, for one-vs-all with C up to 1, and else; looser ones are as precise."""
BITS, FEW_BITS = 8, 4
"""Bits of the weights of groups with a ranker, or of one-vs-all; and where fewer do."""
MAX_FEW_BITS_LABELS = 400
"""Labels per group up to which rounding to FEW_BITS costs nothing, as a label is a larger part of it (seen
with 18, 125 and 366). With more, held-out rows decide: `train.MAX_ROUNDING_LOSS`."""
POWERS = (1.0, 0.5)
COSTS = (0.3, 1.0, 3.0, 10.0)
"""Values of `power` and `C` that are tried on a sample; the smallest C for one-vs-all only."""
C_ERRORS = 2.0
"""Standard errors that a step of C must gain, as groups are not the labels of the sample."""

MAX_FLAT_LABELS = 2_000_000
"""Occurring labels up to which one NMF carries them all, and one block is faster than several."""
LABELS_PER_BLOCK = 20_000
"""Labels per block above that, separators not counted."""


@dataclass(frozen=True)
class BlockSettings:
    partition: Partition
    n_groups: Sequence[int]
    """Groups of each block."""
    column_weights: Sequence[int | None]
    negatives: float
    sketch: int | None
    route: float | None
    combination: str
    """The combination unless scores are calibrated."""
    calibrate: bool
    """Calibrate scores if held-out rows have labels."""
    always_calibrate: bool
    """Calibrate scores in any case."""
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    construction: str
    own_groups: sp.csr_array | None
    """Groups that are not drawn: the user's own, or one per label."""
    n_groups: int
    column_weight: int | None
    """None if it is searched, by Remark 1 or density evolution, or is no parameter of the construction."""
    construction_params: Mapping[str, Any]
    decoder: str
    decoder_params: Mapping[str, Any]
    classifier: Any
    solver: Mapping[str, Any]
    """loss, tol, max_iter, class_weight and C."""
    bits: int
    """Bits of the weights of groups: see `_resolve_bits`."""
    fewer_bits: bool
    """True if held-out rows decide about FEW_BITS."""
    normalize: bool
    power: float
    one_vs_all: bool
    """True if every label is a group of its own."""
    soft: bool
    """True if such groups with many rows have less C."""
    ranker: RankerSettings | None
    n_candidates: int
    tail: float
    n_jobs: int | None
    keep_rows: int = 0
    """Rows of the sample that the model keeps."""
    blend: Blend | None = None
    """The calibration of one-vs-all margins."""
    tried: Mapping[tuple[float, float], float] = field(default_factory=dict)
    blocks: BlockSettings | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


def resolve(
    params: Params,
    X: sp.csr_array,
    Y: sp.csr_array,
    rng: np.random.Generator,
    *,
    seen: np.ndarray | None = None,
    blocks: BlockSettings | None = None,
    named: bool = False,
    narrator: Narrator = QUIET,
) -> Settings:
    """Resolve all settings for rows X (n, p), not scaled, with labels Y (n, d).

    `seen` are the rows with a weight above 0, None for all; `blocks` None for a flat model; `named` says
    whether names of labels are evidence. Raises if a parameter is wrong, or training takes too much memory.
    """
    pooled = named and Y.shape[1] > MAX_UNRANKED_LABELS
    settings = resolve_shape(params, Y, blocks, words=None if pooled else X.nnz / X.shape[0])
    narrator.say(f"{Y.shape[0]} rows, {Y.shape[1]} labels: {check_cost(settings, X, Y)}")
    with narrator.stage("trying settings") as progress:
        rows, alone = (X, Y) if seen is None else (X[seen], Y[seen]), settings.one_vs_all
        settings = _resolve_tuning(settings, params, *rows, rng, progress)
    if alone and not settings.one_vs_all:
        narrator.say(f"{settings.n_groups} groups with rankers: {check_cost(settings, X, Y)}")
    narrator.say(f"power, C: {format_tuning(settings.power, settings.solver['C'], settings.tried)}")
    settings = _fewer_groups(settings, params, X, Y)
    return _resolve_bits(settings, Y.shape[1]) if params.quality == "normal" else settings


def resolve_shape(
    params: Params, Y: sp.csr_array, blocks: BlockSettings | None = None, words: float | None = None
) -> Settings:
    """The settings that follow from the shape of the data; power and C are still those given, or 1.

    `words` entries per row decide whether every label has a classifier; None if labels are pooled anyway.
    """
    reasons = {} if blocks is None else dict(blocks.reasons)
    d, may_rank, own = Y.shape[1], params.may_rank, None
    count = params.ranker_params["n_candidates"]
    n_candidates = auto_candidates(d) if count == "auto" else count
    if blocks is not None:
        m = sum(blocks.n_groups)
    else:
        own = params.own_groups(d)
        counted = None if words is None else (words, n_candidates)
        m = _resolve_groups(params, Y, counted, reasons) if own is None else own.shape[0]
        if params.free_groups and m == d:
            own = sp.eye_array(d, format="csr", dtype=np.float32)
    one_vs_all = may_rank and own is not None and is_permutation(own)
    ranked = _wants_ranker(params, d, one_vs_all, n_candidates, reasons)
    options = dict(params.construction_params or {})
    if params.is_named("nmf") and may_rank:
        options.setdefault("max_sweeps", RANKED_SWEEPS)
    if ranked and "prior" in (params.decoder_params or {}):
        raise ValueError(
            'decoder_params["prior"] has no effect with a ranker; see ranker_params["candidate_prior"].'
        )
    solver = dict(params.solver_params)
    if solver["tol"] == "auto":
        solver["tol"] = RANKED_TOL if ranked else ONE_VS_ALL_TOL if one_vs_all else TOL
        kind = "one classifier per label" if one_vs_all else "group classifiers"
        reasons["tol"] = f"{solver['tol']}: {kind} {'with' if ranked else 'without'} a ranker"
    return Settings(
        construction="own" if own is not None else params.construction,
        own_groups=own,
        n_groups=m,
        column_weight=None if own is not None or blocks else _resolve_flat_weight(params, m, reasons),
        construction_params=options,
        decoder=params.decoder,
        decoder_params=dict(params.decoder_params or {}),
        classifier=params.classifier,
        solver=solver | {"C": 1.0 if params.C == "auto" else params.C},
        bits=BITS if ranked or one_vs_all else 32,
        fewer_bits=False,
        normalize=params.normalize,
        power=1.0 if params.power == "auto" else params.power,
        one_vs_all=one_vs_all,
        soft=False,
        ranker=_ranker_settings(params, d, n_candidates, reasons) if ranked else None,
        n_candidates=n_candidates,
        tail=params.tail,
        n_jobs=params.n_jobs,
        keep_rows=params.keep_rows if blocks is None and params.classifier is None else 0,
        blocks=blocks,
        reasons=reasons,
    )


def _resolve_tuning(settings, params, X, Y, rng, progress):
    """The settings with `power` and `C` as given, or as they work best on a sample of the rows."""
    if not params.may_rank:
        given = {
            name: "1: the paper's methods" for name in ("power", "C") if getattr(params, name) == "auto"
        }
        return replace(settings, reasons={**settings.reasons, **given})
    every_label = settings.one_vs_all
    powers = POWERS if params.power == "auto" else (params.power,)
    costs = (COSTS if every_label else COSTS[1:]) if params.C == "auto" else (params.C,)
    if len(powers) == len(costs) == 1 and not every_label:
        return settings
    options = {name: settings.solver[name] for name in ("loss", "max_iter")}
    options["class_weight"] = "balanced" if isinstance(settings.solver["class_weight"], str) else None
    if "slope" in settings.decoder_params:
        options["slope"] = settings.decoder_params["slope"]
    found = tune(
        X, Y, rng, powers=powers, costs=costs, unit=settings.normalize, n_jobs=settings.n_jobs,
        C_errors=C_ERRORS, every_label=every_label, rankers=settings.ranker is not None,
        maybe_rankers=_may_pool(settings, params, X, Y), progress=progress, **options,
    )  # fmt: skip
    if found.ranked is not None:
        settings = _resolve_rankers(settings, params, Y, found)
    C = max(DEFAULT_C, found.C) if found.rankers_win else found.C
    solver, reasons = {**settings.solver, "C": C}, format_reasons(found, C)
    if solver["tol"] == ONE_VS_ALL_TOL and C > DEFAULT_C and params.solver_params["tol"] == "auto":
        solver["tol"], reasons["tol"] = TOL, f"{TOL}: one classifier per label with more C"
    reasons = {name: why for name, why in reasons.items() if getattr(params, name, "auto") == "auto"}
    return replace(
        settings,
        power=found.power,
        solver=solver,
        soft=found.soft and not found.rankers_win,
        tried=found.tried,
        blend=found.blend if settings.one_vs_all and settings.ranker is None else None,
        ranker=settings.ranker and replace(settings.ranker, C=max(1.0, found.C), soft=found.noisy),
        reasons={**settings.reasons, **reasons},
    )


def _may_pool(settings, params, X, Y):
    """True if every label has a classifier, all else is left to mlgt, and groups with rankers are not much
    more work."""
    free = settings.one_vs_all and params.free_groups and (params.ranker, params.C) == ("auto", "auto")
    if not free or Y.shape[1] < 2 * settings.n_candidates:
        return False
    pooled, words = resolve_shape(params, Y), X.nnz / X.shape[0]
    if pooled.one_vs_all or pooled.ranker is None:
        return False
    return pooled_work(Y, pooled.n_groups, words, settings.n_candidates) < MORE_WORK


def _resolve_rankers(settings, params, Y, found: Tuning):
    """The settings with groups and rankers if these won on the sample."""
    if found.rankers_win:
        settings = resolve_shape(params, Y)
    how = "linear: surely" if found.rankers_win else "none: not surely"
    how += f" better than one-vs-all, nDCG@5 {found.ranked:.3f} and {found.score:.3f} on a sample"
    return replace(settings, reasons={**settings.reasons, "ranker": how})


def _fewer_groups(settings, params, X, Y):
    """The settings with fewer groups if rows are short or labels many: centroids do part of the work."""
    d, m, given = Y.shape[1], settings.n_groups, params.ranker_params["centroids"]
    free = params.free_groups and params.may_rank and given is not False
    free = free and settings.blocks is None and params.quality == "normal"
    if not (free and MANY_LABELS_GROUPS < m < d < MANY_LABELS):
        return settings
    short = are_light(scale_rows(X, settings.power, settings.normalize), Y)
    if given == "auto" and d < MANY_LABELS // 2 and not short:
        return settings
    fewer = MANY_LABELS_GROUPS if short else max(MANY_LABELS_GROUPS, m // 2 // TILE * TILE)
    why = "rows are short, " if short else f"{d} labels are many, " if d >= MANY_LABELS // 2 else ""
    why = f"{fewer} instead of {m}: {why}centroids may find candidates too"
    reasons = {**settings.reasons, "n_groups": why}
    weight = resolve_weight(params, fewer, reasons)
    return replace(settings, n_groups=fewer, column_weight=weight, reasons=reasons)


def _resolve_bits(settings, d):
    """The settings with FEW_BITS if there is a ranker and groups have few of the d labels; if they have
    many, held-out rows decide. Not in blocks, where that was not measured."""
    if settings.ranker is None or settings.column_weight is None or settings.classifier is not None:
        return settings
    few = d * settings.column_weight <= MAX_FEW_BITS_LABELS * settings.n_groups
    return replace(settings, bits=FEW_BITS) if few else replace(settings, fewer_bits=True)


# Groups and candidates.


def _resolve_groups(params, Y, counted, reasons):
    """m, as given or as the shape of the data suggests; operations are counted with (words, candidates) per
    row, None if labels are pooled anyway."""
    if params.n_groups != "auto":
        return check_count("n_groups", params.n_groups)
    d, k = Y.shape[1], labels_per_row(Y)
    m, formula = auto_n_groups(d, k), f"8 k log2(d) for k = {k:.1f} labels per row and d = {d}"
    if params.free_groups and (m == d or (d <= MAX_UNRANKED_LABELS and not params.may_rank)):
        reasons["n_groups"] = f"{d}: one classifier per label, as pooling gains nothing"
        return d
    few = counted and params.free_groups and params.may_rank and params.ranker != "linear"
    work = pooled_work(Y, min(m, MAX_RANKED_GROUPS), *counted) if few and d <= MAX_ONE_VS_ALL_LABELS else 0
    if work >= LESS_WORK:
        reasons["n_groups"] = f"{d}: one per label; {m} with rankers would be {work:.1f} times the work"
        return d
    if params.is_named("saffron"):
        weight = params.column_weight
        c = None if weight == "auto" else check_count("column_weight", weight)
        reasons["n_groups"] = f"the tests that find {int(np.ceil(k)) + 1} labels if all are right"
        return required_tests(d, int(np.ceil(k)) + 1, c, **(params.construction_params or {}))
    if params.free_groups and params.may_rank:
        if d >= MANY_LABELS and params.ranker_params["centroids"] is not False:
            m, formula = MANY_LABELS_GROUPS, f"enough for {d} labels, as centroids find the candidates"
        elif m > MAX_RANKED_GROUPS:
            m, formula = MAX_RANKED_GROUPS, f"at most that with a ranker, instead of {formula}"
        if params.quality == "high":
            m, formula = min(2 * m, d // TILE * TILE), f"twice as many for high quality as {m}, {formula}"
    reasons["n_groups"] = f"{m}: {formula}"
    return m


def _resolve_flat_weight(params, m, reasons):
    """c of all labels; None if it is searched or is no parameter."""
    if not params.is_named("saffron"):
        return resolve_weight(params, m, reasons)
    if params.column_weight != "auto":
        return check_count("column_weight", params.column_weight)
    reasons["column_weight"] = "searched by density evolution"
    return None


def resolve_weight(
    params: Params, m: int, reasons: dict[str, str], whose: str = "the number of groups"
) -> int | None:
    """c of m groups; None if it is searched or is no parameter."""
    if not CONSTRUCTIONS[params.construction].WEIGHTED:
        return None
    if params.column_weight != "auto":
        why = f", {whose}: a label joins that many different ones"
        return check_count("column_weight", params.column_weight, m, why)
    if not params.may_rank:
        reasons["column_weight"] = "searched as in Remark 1"
        return None
    reasons["column_weight"] = f"{ranked_weight(m)}: m / 32 for m = {m} groups, within 4 to 16"
    return ranked_weight(m)


def _wants_ranker(params, d, one_vs_all, n_candidates, reasons):
    if params.ranker != "auto":
        return params.ranker is not None
    ranked = params.may_rank and not one_vs_all and d >= 2 * n_candidates
    if one_vs_all:
        reasons["ranker"] = "none: every label has a classifier"
    elif not params.may_rank:
        reasons["ranker"] = "none: it needs soft decoding and mlgt's own classifiers"
    else:
        count = (
            f"{d} labels are {'at least' if ranked else 'less than'} twice the {n_candidates} candidates"
        )
        reasons["ranker"] = f"{'linear' if ranked else 'none'}: {count}"
    return ranked


def _ranker_settings(params, d, n_candidates, reasons):
    options = params.ranker_params
    centroids, prior = options["centroids"], options["candidate_prior"]
    if centroids == "auto":
        centroids = True if d >= MANY_LABELS else None
        held = f"True: {d} labels are many" if centroids else "decided by the recall on held-out rows"
        reasons["centroids"] = held
    if options["n_candidates"] == "auto":
        reasons["n_candidates"] = f"at most {n_candidates}, a sixteenth of the labels within 20 to 100"
    if prior == "auto":
        reasons["candidate_prior"] = "0.2, or 0.1 to 0.3 with centroids"
    return RankerSettings(
        n_candidates=n_candidates,
        fewer_candidates=options["n_candidates"] == "auto" and params.quality == "normal",
        prune=HIGH_QUALITY_PRUNE if params.quality == "high" else PRUNE,
        more_prune=() if params.quality == "high" else MORE_PRUNE,
        centroids=centroids,
        candidate_prior=None if prior == "auto" else prior,
        C=max(1.0, 1.0 if params.C == "auto" else params.C),
    )
