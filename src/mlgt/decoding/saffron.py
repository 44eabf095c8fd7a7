"""SAFFRON's decoders (section 3): the labels of a row in k log(d / k) operations, without looking at all d.

A *bin decoder* reads what the 6 L tests of a bin (`groups.saffron`, eq. 2) say. With p and n the words of a
section that b and not b show, all other words of the bin likewise:

    no label      p = n = 0;
    singleton     n = not p; the address is p in the first section, pi_1(p) and pi_2(p) in the others;   (1)
    doubleton     of which a is known: the other address is x = (p and not a) or (a and not n),          (2)

since a digit that a has as 1 hides p, but not n. Again pi_1(x) and pi_2(x) must stand in the other
sections, and nothing else may be positive. Anything else, or an address that the bin does not have, is more
labels than can be told apart, or a wrong test.

The *peeling decoder* applies (1) to all bins; labels found are in D. One after another moves from D to P,
and (2) is applied to those of its bins where no other label is known; what that finds joins D, until D is
empty. A bin is read twice at most. `decode_peeling` is this, for 0/1 tests.

One wrong test spoils a bin for it. `decode_noisy` (ours) works on margins. It decides a digit by comparing
the two complementary groups of (1), or by the sign of the one that (2) reads; reads the few most doubtful
digits either way, each section for itself; keeps the best address of each bin; and ranks the labels so
found by all groups of all their bins,

    s_l = mean over the groups i of l of v_i  (+ offset_l),                                              (3)

    v_i = log sigmoid(slope * margin_i) + log sigmoid(slope * (margin_i - margin_i')),                   (4)

i' being the group with the same digit the other way: the group should be positive, and more so than its
complement. The best k are peeled as above. No digit is trusted alone, and (3) is exact for every label it
returns; what it may miss is a label that none of its bins names.
"""

import numbers
from functools import partial

import numpy as np

from . import _saffron_kernels as _kernels
from .soft import group_log_probability


def decode_peeling(design, tests, k, *, min_support=0.9, operations=None):
    """(labels, scores) (n, k) from tests (n, m), positive where above 0; padded by -1 and -inf.

    The score is the share of a label's tests, over all its bins, that are positive: 1 when none is wrong.
    Labels below `min_support` are taken for misread; 0 trusts every bin, as the paper does. `operations`
    (n,) int64, if given, receives the tests and words looked at.
    """
    labels, scores, operations = _results(design, tests, k, operations)
    _kernels.peel(design.tables, np.asarray(tests) > 0, float(min_support), labels, scores, operations)
    return labels, scores


def decode_noisy(design, margins, k, *, slope=3.0, offset=None, n_doubtful=3, operations=None):
    """(labels, scores) (n, k) from group margins (n, m), by eqs. (3) and (4); padded by -1 and -inf.

    `n_doubtful` digits of a section are read either way: 2^n_doubtful addresses. `offset` (d,) is added to
    the scores, a label prior; each call looks for its largest value. `operations` (n,) int64, if given,
    receives the group values looked at.
    """
    labels, scores, operations = _results(design, margins, k, operations)
    _check_reading(slope, n_doubtful)
    margins = np.ascontiguousarray(margins, np.float32)
    offset = np.asarray(() if offset is None else offset, np.float32)
    if offset.shape not in ((0,), (design.n_labels,)):
        raise ValueError(
            f"offset has shape {offset.shape}; expected one for each of {design.n_labels} labels."
        )
    values = group_values(design, margins, slope)
    reach = bin_bounds(design, values) + (offset.max() if len(offset) else np.float32(0))
    reach += 1e-5 * (1 + np.abs(reach))  # rounding must not cost a label
    tables = design.tables
    _kernels.soft_peel(tables, margins, values, offset, reach, n_doubtful, labels, scores, operations)
    return labels, scores


def noisy_decoder(design, label_counts=None, *, slope=3.0, prior=0.0, n_doubtful=3):
    """`decode_noisy` as a function of margins and k; the offset is prior * log(1 + n_l), n_l being the
    label's training frequency."""
    _check_reading(slope, n_doubtful)
    if not _is_number(prior):
        raise ValueError(f"prior={prior!r} must be a finite number.")
    offset = np.float32(prior) * np.log1p(label_counts).astype(np.float32) if prior else None
    return partial(decode_noisy, design, slope=slope, offset=offset, n_doubtful=int(n_doubtful))


def peeling_decoder(design, label_counts=None, *, min_support=0.9):
    """`decode_peeling` as a function of margins and k: a test is positive where its margin is."""
    if not (_is_number(min_support) and 0 <= min_support <= 1):
        raise ValueError(f"min_support={min_support!r} is a share of a label's tests; pass 0 to 1.")
    return partial(decode_peeling, design, min_support=min_support)


def group_values(design, margins, slope):
    """Eq. (4), (n, m) float32."""
    pairs = margins.reshape(-1, 2, design.n_bits)
    lead = (pairs - pairs[:, ::-1]).reshape(margins.shape)
    return group_log_probability(margins, slope) + group_log_probability(lead, slope)


def bin_bounds(design, values):
    """What no label of a bin can exceed by eq. (3), (n, m1): at best it has the better group of each digit
    in this bin, and in its other bins what the best of all bins has."""
    pairs = values.reshape(len(values), design.n_bins, 3, 2, design.n_bits)
    bounds = pairs.max(axis=3).mean(axis=(2, 3))
    best = bounds.max(axis=1, keepdims=True)
    return best + (bounds - best) / design.tables.max_weight


def _check_reading(slope, n_doubtful):
    if not (_is_number(slope) and slope > 0):
        raise ValueError(f"slope={slope!r} must be a finite number above 0.")
    if n_doubtful not in range(11):
        raise ValueError(
            f"n_doubtful={n_doubtful!r}: a section is read in 2^n_doubtful ways. Pass 0 to 10."
        )


def _is_number(value):
    return isinstance(value, numbers.Real) and np.isfinite(float(value))


def _results(design, tests, k, operations):
    """Empty lists of results, and a place for the counts."""
    n, m = np.shape(tests)
    if m != design.n_groups:
        raise ValueError(
            f"{m} tests a row for a design of {design.n_groups}; pass one for each row of its A."
        )
    if k < 1:
        raise ValueError(f"k={k} labels a row; ask for at least 1.")
    if operations is None:
        operations = np.empty(n, np.int64)
    return np.full((n, k), -1, np.int64), np.full((n, k), -np.inf, np.float32), operations
