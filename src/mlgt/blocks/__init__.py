"""Labels of a partition, block by block (section 4 of the paper): sketch, train, stack, combine.

    X, Y, the labels of a block -> groups A_i (m_i, d_i) and their classifiers          `train.train_block`
    A_1, A_2, ...               -> one group matrix A (m_1 + m_2 + ..., d)              `stack.stack_groups`
    margins of all groups, A    -> one score per label, comparable across blocks         `combine`

Stacked, the blocks are a flat model again, which is decoded, searched and ranked like any other.
"""

from .calibrate import calibrate_blocks
from .combine import COMBINATIONS, LINEAR, Calibration, Layout, combined_decoder
from .route import Router, block_ranks, block_targets, smallest_route
from .sketch import CountSketch, draw_sketch
from .stack import BlockClassifiers, stack_groups
from .train import Block, BlockTask, train_block, train_blocks

__all__ = [
    "COMBINATIONS",
    "LINEAR",
    "Block",
    "BlockClassifiers",
    "BlockTask",
    "Calibration",
    "CountSketch",
    "Layout",
    "Router",
    "block_ranks",
    "block_targets",
    "calibrate_blocks",
    "combined_decoder",
    "draw_sketch",
    "smallest_route",
    "stack_groups",
    "train_block",
    "train_blocks",
]
