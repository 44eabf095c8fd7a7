"""SAFFRON's decoders (section 3): the labels of a row in k log(d / k) operations, without looking at all d.

A *bin decoder* reads what the 6 L tests of a bin (`groups.saffron`, eq. 2) say. With p and n the words of a
section that b and not b show, all other words of the bin likewise:

    no label      p = n = 0;
    singleton     n = not p; the address is p in the first section, pi_1(p) and pi_2(p) in the others;      (1)
    doubleton     of which a is known: the other address is x = (p and not a) or (a and not n),             (2)

since a digit that a has as 1 hides p, but not n. Again pi_1(x) and pi_2(x) must stand in the other sections,
and nothing else may be positive. An address that the bin does not have proves that there were more labels.

The *peeling decoder* applies (1) to all bins; labels found are in D. One after another moves from D to P,
and (2) is applied to those of its bins where no other label is known; what that finds joins D, until D is
empty. A bin is read twice at most. `decode_peeling` is this, for 0/1 tests.

One wrong test spoils a bin for it. `decode_noisy` (ours) works on margins. It decides a digit by comparing
the two complementary groups of (1), or by the sign of the one that (2) reads; reads the few most doubtful
digits either way, each section for itself; keeps the best addresses of each bin; and ranks the labels so
found by

    s_l = mean of log sigmoid(slope * margin_i) over all groups i of l in all its bins  (+ offset_l),       (3)

which is the score of `decode.soft` on A. The best k are peeled as above. It returns (3) exactly; what it may
miss is a label that none of its bins names.
"""

import numpy as np

from . import _kernels, _twins
from .soft import group_log_probability


def decode_peeling(design, tests, k, *, min_support=0.9, operations=None, compiled=True):
    """(labels, scores) (n, k) from tests (n, m), positive where above 0; padded by -1 and -inf.

    The score is the share of a label's tests, over all its bins, that are positive: 1 when no test is wrong.
    Labels below `min_support` are taken for misread; 0 trusts every bin, as the paper does. `operations`
    (n,), if given, receives the tests and words looked at.
    """
    labels, scores, operations = _results(design, tests, k, operations)
    peel = _kernels.peel if compiled else _twins.peel
    peel(design.tables, np.asarray(tests), min_support, labels, scores, operations)
    return labels, scores


def decode_noisy(
    design, margins, k, *, slope=3.0, offset=None, n_doubtful=3, width=2, operations=None, compiled=True
):
    """(labels, scores) (n, k) from group margins (n, m), by eq. (3); padded by -1 and -inf.

    `n_doubtful` digits of a section are read either way (2^n_doubtful addresses), the `width` best addresses
    of a bin are followed up. `offset` (d,) is added to the scores: a label prior. `operations` (n,), if
    given, receives the group values looked at.
    """
    labels, scores, operations = _results(design, margins, k, operations)
    margins = np.asarray(margins, np.float32)
    offset = np.zeros(design.n_labels, np.float32) if offset is None else np.asarray(offset, np.float32)
    soft_peel = _kernels.soft_peel if compiled else _twins.soft_peel
    values = group_log_probability(margins, slope)
    soft_peel(design.tables, margins, values, offset, n_doubtful, width, labels, scores, operations)
    return labels, scores


def _results(design, tests, k, operations):
    """Empty lists of results, and a place for the counts."""
    n, m = np.shape(tests)
    if m != design.n_groups:
        raise ValueError(f"{m} tests a row for a design of {design.n_groups}; pass margins of its A's groups.")
    if operations is None:
        operations = np.empty(n, np.int64)
    return np.full((n, k), -1, np.int64), np.full((n, k), -np.inf, np.float32), operations
