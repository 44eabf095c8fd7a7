"""Which blocks: those asked for, one where that is better, or as many as very many labels need."""

import warnings

import numpy as np

from .._core.errors import NoSeparatorError, NoSeparatorWarning
from ..labels.graph import cooccurrence, count_occurring
from ..labels.partition import Partition, partition_labels
from .checks import generator

FLAT_LABELS = 2_000_000
"""Up to so many labels that occur the NMF carries them all, and one block is quicker than several."""
BLOCK_LABELS = 20_000
"""Above that, the labels of a block, separators not counted."""
BUDGET = 0.05
"""Share of the labels that separators of such blocks may hold."""


def is_chosen(model, Y):
    """Is the number of blocks left to us, and are there several?"""
    if model.n_blocks != "auto" or isinstance(model.partitioner, Partition):
        return False
    return count_occurring(Y) > FLAT_LABELS


def split_labels(model, Y, chosen, progress):
    """The partition that `model` asks for, or that is `chosen`; one block where it is all there is."""
    if isinstance(model.partitioner, Partition):
        return model.partitioner
    d = Y.shape[1]
    given = model.n_blocks != "auto"
    if model.n_blocks == 1 or not (given or chosen):
        return one_block(d)
    branching, budget = (model.n_blocks, None) if given else (2, BUDGET)
    options = {
        "n_blocks": model.n_blocks if given else -(-d // BLOCK_LABELS),
        "budget": budget if model.budget == "auto" else model.budget,
        "partitioner": model.partitioner,
        "branching": branching if model.branching == "auto" else model.branching,
    }
    rng = generator(model.random_state)
    try:
        return partition_labels(cooccurrence(Y), rng, progress=progress, **options)
    except NoSeparatorError as error:
        instead = error.partition or one_block(d)
        blocks = "One block is" if error.partition is None else f"{instead.n_blocks} blocks are"
        warnings.warn(f"{error} {blocks} trained instead.", NoSeparatorWarning, stacklevel=3)
        return instead


def one_block(d):
    """The partition that parts nothing."""
    return Partition(np.arange(d), np.array([0, d]), np.array([-1]), lost=0.0)


def told_split(partition):
    """In words."""
    lost = f", {partition.lost:.1%} of the co-occurrence lost" if partition.lost else ""
    return (
        f"{partition.n_blocks} blocks of {partition.sizes.min()} to {partition.sizes.max()} labels with "
        f"their separators, {len(partition.separator)} labels in separators{lost}"
    )
