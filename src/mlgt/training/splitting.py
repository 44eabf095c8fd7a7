"""Labels -> blocks: the split that the parameters request, and the settings of its blocks."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.errors import NoSeparatorError, NoSeparatorWarning, OneBlockWarning
from .._core.sparse import count_occurring
from .._core.validation import check_count, generator
from ..labels.graph import cooccurrence
from ..labels.partition import Partition, one_block, partition_labels, separators_apart
from . import settings
from .checks import BlockParams
from .settings import BlockSettings, auto_n_groups, resolve_weight

AUTO_BUDGET, AUTO_ROUTE = 0.05, 0.02
"""Defaults of `budget` and `route` if the number of blocks is chosen."""
BLOCK_GROUPS = 64
"""Groups of a chosen block with a ranker; separators, which are more frequent, have MANY_LABELS_GROUPS."""
NEGATIVES, NEGATIVE_BLOCKS = 0.1, 2.0
"""Share of the rows without a label of the block to train it on, and the mean number of blocks that then
learn from such a row, whichever is less."""


@dataclass(frozen=True)
class Split:
    partition: Partition
    chosen: bool
    """True if the number of blocks was left to mlgt."""
    route: float | None
    summary: str = ""
    """The partition in words, before separators are moved into a block of their own."""
    reasons: Mapping[str, str] = field(default_factory=dict)


def split_labels(params: BlockParams, Y: Any, progress: Any = None) -> Split:
    """Split the labels as the parameters request, or as very many labels need; warns if one block
    remains."""
    own = isinstance(params.partitioner, Partition)
    given, occurring = own or params.n_blocks != "auto", count_occurring(Y)
    chosen = not given and occurring > settings.MAX_FLAT_LABELS
    if own:
        partition = params.partitioner
    elif params.n_blocks == 1 or not (given or chosen):
        partition = one_block(Y.shape[1])
    else:
        partition = _partition(params, Y, given, progress)
    route = params.route
    if route == "auto":
        route = AUTO_ROUTE if chosen and params.may_rank else None
    if not (given or chosen) and (params.sketch is None or params.unused_on_one_block()):
        _warn_one_block(params, occurring)
    reasons = _split_reasons(params, partition.n_blocks, chosen, route)
    trained = partition if route is None else separators_apart(partition)
    return Split(trained, chosen, route, _describe(partition), reasons)


def _split_reasons(params, n_blocks, chosen, route):
    """Why each automatic setting of the split was chosen, by parameter."""
    if n_blocks == 1:
        return {}
    values = {"route": route}
    if not isinstance(params.partitioner, Partition):
        budget, branching = (AUTO_BUDGET, 2) if chosen else (None, n_blocks)
        values |= {"n_blocks": n_blocks, "budget": budget, "branching": branching}
    why = (
        f"more than {settings.MAX_FLAT_LABELS} labels occur"
        if chosen
        else "as in the paper, for given blocks"
    )
    return {name: f"{value}: {why}" for name, value in values.items() if getattr(params, name) == "auto"}


def _partition(params, Y, given, progress):
    branching, budget = (params.n_blocks, None) if given else (2, AUTO_BUDGET)
    options = {
        "n_blocks": params.n_blocks if given else -(-Y.shape[1] // settings.LABELS_PER_BLOCK),
        "budget": budget if params.budget == "auto" else params.budget,
        "partitioner": params.partitioner,
        "branching": branching if params.branching == "auto" else params.branching,
    }
    try:
        return partition_labels(
            cooccurrence(Y), generator(params.random_state), progress=progress, **options
        )
    except NoSeparatorError as error:
        instead = error.partition or one_block(Y.shape[1])
        blocks = "One block is" if error.partition is None else f"{instead.n_blocks} blocks are"
        warnings.warn(f"{error} {blocks} trained instead.", NoSeparatorWarning, stacklevel=7)
        return instead


def _warn_one_block(params, occurring):
    unused = [f"{name}={value!r}" for name, value in params.unused_on_one_block().items()]
    ignored = (
        f" {', '.join(unused)} {'has' if len(unused) == 1 else 'have'} no effect on it." if unused else ""
    )
    warnings.warn(
        f"One block is trained, as MLGTClassifier would: {occurring} labels occur, and blocks pay above "
        f"{settings.MAX_FLAT_LABELS}.{ignored} Pass n_blocks=2 or more to split the labels, or n_blocks=1.",
        OneBlockWarning,
        stacklevel=7,
    )


def _describe(partition):
    lost = f", {partition.lost:.1%} of the co-occurrence lost" if partition.lost else ""
    return (
        f"{partition.n_blocks} blocks of {partition.sizes.min()} to {partition.sizes.max()} labels with "
        f"their separators, {len(partition.separator)} labels in separators{lost}"
    )


# The settings of each block.


def resolve_blocks(params: BlockParams, Y: sp.csr_array, split: Split) -> BlockSettings:
    """Resolve the settings of the blocks of a split."""
    partition, n_blocks, reasons = split.partition, split.partition.n_blocks, dict(split.reasons)
    labels = [partition.labels(i) for i in range(n_blocks)]
    sizes = [_block_groups(params, Y, own, split, last=i == n_blocks - 1) for i, own in enumerate(labels)]
    if params.n_groups == "auto":
        reasons["n_groups"] = f"{min(sizes)} to {max(sizes)} per block, by its labels"
    negatives = params.negatives
    if n_blocks == 1:
        negatives = 1.0
    elif negatives == "auto":
        negatives = min(NEGATIVES, NEGATIVE_BLOCKS / n_blocks)
        reasons["negatives"] = f"{negatives:g} for {n_blocks} blocks"
    strict = partition.budget is None or split.route is not None
    combination = params.combination
    calibrate = combination == "calibrated" or (combination == "auto" and strict)
    calibrate = calibrate and params.decoder == "soft"
    if combination == "auto":
        combination = "sum" if params.decoder == "inclusion" else "weighted"
        reasons["combination"] = (
            "calibrated if held-out rows have labels"
            if calibrate
            else f"{combination}: scores of blocks add up"
        )
    return BlockSettings(
        partition=partition,
        n_groups=sizes,
        column_weights=[
            resolve_weight(params, m, reasons, "the number of groups of a block") for m in sizes
        ],
        negatives=negatives,
        sketch=params.sketch,
        route=split.route,
        combination=combination,
        calibrate=calibrate,
        always_calibrate=params.combination == "calibrated",
        reasons=reasons,
    )


def _block_groups(params, Y, labels, split, last):
    """Number of groups of one block; with routing the last one holds the separators."""
    m = params.n_groups
    if m == "auto" and split.chosen and params.may_rank:
        separators = split.route is not None and last
        m = min(settings.MANY_LABELS_GROUPS if separators else BLOCK_GROUPS, len(labels))
    elif m == "auto":
        counts = np.diff(sp.csr_array(Y[:, labels]).indptr)
        m = auto_n_groups(len(labels), counts.sum() / max(1, np.count_nonzero(counts)))
    return check_count("n_groups", m)
