"""Soft scores of different blocks made comparable (ours), on rows that no block was trained on.

First each block is calibrated alone by Platt scaling, a logistic regression on its best labels,

    log-odds of label l by block i  =  slope_i s_il + intercept_i,                                     (1)

with s_il the mean log-probability of the label's groups in block i. Rows without a label of the block take
part: a block whose groups fire on them gets a low intercept. Then the blocks are calibrated together: the
best labels by the mean of (1) over their blocks are regressed on that mean and on being in a separator,

    log-odds  =  a mean_i (slope_i s_il + intercept_i)  +  b  +  bonus [l in a separator].             (2)

The paper suggests to "rank them higher"; (2) estimates by how much. a and b are folded into (1).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..decoding import decode_soft, search
from ..decoding.index import LabelIndex
from ..metrics import hits
from ..ranking import logistic
from .combine import Calibration, Layout, combine
from .stack import stack_groups

N_CANDIDATES = 50
"""Best labels per row to learn from."""
MIN_BLOCK_HITS = 30
"""Right labels among them that a block needs; one with fewer gets the mean of the other blocks."""
_DEFAULT_SLOPE = 3.0  # slopes below a tenth of it would lose the order of the scores


def calibrate_blocks(
    layout: Layout, margins: np.ndarray, truth: sp.csr_array, **decoder_params: Any
) -> Calibration:
    """Calibrate blocks with stacked `margins` (n, m) on rows with labels `truth` (n, d)."""
    options = {**decoder_params, "prior": 0.0}
    found = []
    for i, (A, labels) in enumerate(zip(layout.groups, layout.labels)):
        own = np.ascontiguousarray(margins[:, layout.block_of_group == i])
        scores, _, right = _best(own, A, decode_soft(A, **options), truth[:, labels])
        found.append(
            logistic(scores[:, None], right, [_DEFAULT_SLOPE, 0.0])
            if right.sum() >= MIN_BLOCK_HITS
            else None
        )
    learnt = [pair for pair in found if pair is not None]
    fallback = np.mean(learnt, axis=0) if learnt else np.array([_DEFAULT_SLOPE, 0.0])
    pairs = np.array([fallback if pair is None else pair for pair in found])
    slopes = np.maximum(pairs[:, 0], _DEFAULT_SLOPE / 10).astype(np.float32)
    alone = Calibration(slopes, pairs[:, 1].astype(np.float32))

    A = stack_groups(layout.groups, layout.labels, layout.n_labels)
    decoder = combine(decode_soft(A, **options), layout, "calibrated", "soft", alone)
    scores, labels, right = _best(margins, A, decoder, truth)
    if right.sum() < MIN_BLOCK_HITS:
        return alone
    shared = layout.blocks_of_label[labels] > 1
    a, bonus, b = logistic(np.stack([scores, shared], axis=1), right, [1.0, 0.0, 0.0])
    a = np.float32(max(a, 0.1))
    return Calibration(a * alone.slopes, a * alone.intercepts + np.float32(b), float(bonus))


def _best(margins, A, decoder, truth):
    """(scores, labels, right or not) of the best labels of all rows, in one line each."""
    index = LabelIndex(A)
    labels, scores = search(decoder.values(margins), index, decoder, min(N_CANDIDATES, index.n_labels))
    present = labels >= 0
    return scores[present], labels[present], hits(truth, labels)[present]
