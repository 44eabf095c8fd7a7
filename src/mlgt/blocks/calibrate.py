"""Soft scores of different blocks made comparable (ours), on rows that no block has seen.

First each block for itself, by Platt's scaling: a logistic regression on its best labels,

    log-odds of label l by block i  =  slope_i s_il + intercept_i,                                     (1)

s_il the mean log-probability of the label's groups in block i. Foreign rows take part: a block whose
groups fire on rows that are none of its business gets a low intercept. Then all together: the best labels
by the mean of (1) over their blocks are regressed on that mean and on being in a separator,

    log-odds  =  a mean_i (slope_i s_il + intercept_i)  +  b  +  bonus [l in a separator].             (2)

The paper suggests to "rank them higher"; (2) says by how much. a and b are multiplied into (1).
"""

import numpy as np

from ..decoding import decode_soft, search
from ..decoding.index import LabelIndex
from ..metrics import hits
from ..ranking import logistic
from .combine import Calibration, combine
from .stack import stack_groups

CANDIDATES = 50
"""Best labels of a row to learn from."""
ENOUGH = 30
"""Right ones among them that it takes; a block with fewer gets the mean of the others."""
_STEEP = 3.0  # slope where nothing can be learnt; flatter than a tenth of it, scores would lose their order


def calibrate_blocks(layout, margins, truth, **decoder_params):
    """The `Calibration` of blocks with stacked `margins` (n, m) on rows with labels `truth` (n, d)."""
    options = {**decoder_params, "prior": 0.0}
    found = []
    for i, (A, labels) in enumerate(zip(layout.groups, layout.labels)):
        own = np.ascontiguousarray(margins[:, layout.block_of_group == i])
        scores, _, right = _best(own, A, decode_soft(A, **options), truth[:, labels])
        found.append(logistic(scores[:, None], right, [_STEEP, 0.0]) if right.sum() >= ENOUGH else None)
    learnt = [pair for pair in found if pair is not None]
    fallback = np.mean(learnt, axis=0) if learnt else np.array([_STEEP, 0.0])
    pairs = np.array([fallback if pair is None else pair for pair in found])
    slopes = np.maximum(pairs[:, 0], _STEEP / 10).astype(np.float32)
    alone = Calibration(slopes, pairs[:, 1].astype(np.float32))

    A = stack_groups(layout.groups, layout.labels, layout.n_labels)
    decoder = combine(decode_soft(A, **options), layout, "calibrated", "soft", alone)
    scores, labels, right = _best(margins, A, decoder, truth)
    if right.sum() < ENOUGH:
        return alone
    shared = layout.blocks_of_label[labels] > 1
    a, bonus, b = logistic(np.stack([scores, shared], axis=1), right, [1.0, 0.0, 0.0])
    a = np.float32(max(a, 0.1))
    return Calibration(a * alone.slopes, a * alone.intercepts + np.float32(b), float(bonus))


def _best(margins, A, decoder, truth):
    """(scores, labels, right or not) of the best labels of all rows, in one line each."""
    index = LabelIndex(A)
    labels, scores = search(decoder.values(margins), index, decoder, min(CANDIDATES, index.n_labels))
    present = labels >= 0
    return scores[present], labels[present], hits(truth, labels)[present]
