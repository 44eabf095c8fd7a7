"""SAFFRON's decoders (section 3): the labels of a row in k log(d / k) operations, without visiting all d.

A *bin decoder* reads the 6 L tests of a bin (`groups.saffron`, eq. 2). Let p and n be the words that the
tests b and not b of a section show:

    no label      p = n = 0;
    singleton     n = not p; the address is p in the first section, pi_1(p) and pi_2(p) in the others;   (1)
    doubleton     with a known: the other address is x = (p and not a) or (a and not n),                 (2)

since a digit that is 1 in a hides p, but not n. Again the other sections must show pi_1(x) and pi_2(x), and
nothing else may be positive. Anything else, or an address that the bin does not have, means more labels
than can be distinguished, or a wrong test.

The *peeling decoder* applies (1) to all bins and puts the labels found into D. One by one, they move from D
to P, and (2) is applied to those of their bins where no other label is known; labels found so join D, until
D is empty. A bin is read twice at most. `decode_peeling` does this for 0/1 tests.

A single wrong test makes a bin useless for it. `decode_noisy` (ours) works on margins. It decides a digit
by comparing the two complementary groups of (1), or by the sign of the one that (2) reads; it reads the few
most doubtful digits both ways, in each section separately; it keeps the best address of each bin; and it
ranks the labels found by all groups of all their bins,

    s_l = mean over the groups i of l of v_i  (+ offset_l),                                              (3)

    v_i = log sigmoid(slope * margin_i) + log sigmoid(slope * (margin_i - margin_i')),                   (4)

where i' is the complementary group of i: a group should be positive, and more so than its complement. The
best k are peeled as above. The decision does not rest on single digits, and (3) is exact for every returned
label; only a label that none of its bins names can be missed.
"""

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..groups.saffron import SaffronDesign
from . import _saffron_kernels as _kernels
from .soft import DEFAULT_SLOPE, group_log_probability


def decode_peeling(
    design: SaffronDesign,
    tests: np.ndarray,
    k: int,
    *,
    min_support: float = 0.9,
    operations: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (labels, scores), both (n, k), padded with -1 and -inf; tests (n, m) are positive if above 0.

    The score is the share of a label's tests, over all its bins, that are positive: 1 if none is wrong.
    Labels below `min_support` are dropped as misread; 0 keeps all, as the paper does. `operations` (n,)
    int64, if given, receives the number of tests and words read.
    """
    labels, scores, operations = _results(design, tests, k, operations)
    _kernels.peel(design.tables, np.asarray(tests) > 0, float(min_support), labels, scores, operations)
    return labels, scores


def decode_noisy(
    design: SaffronDesign,
    margins: np.ndarray,
    k: int,
    *,
    slope: float = DEFAULT_SLOPE,
    offset: np.ndarray | None = None,
    n_doubtful: int = 3,
    operations: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (labels, scores), both (n, k), padded with -1 and -inf, of margins (n, m), eqs. (3) and (4).

    `n_doubtful` digits of a section are read both ways: 2^n_doubtful addresses. `offset` (d,), a label
    prior, is added to the scores; each call computes its maximum. `operations` (n,) int64, if given,
    receives the number of group values read.
    """
    labels, scores, operations = _results(design, margins, k, operations)
    _check_reading(slope, n_doubtful)
    margins = np.ascontiguousarray(margins, np.float32)
    offset = np.asarray(() if offset is None else offset, np.float32)
    if offset.shape not in ((0,), (design.n_labels,)):
        raise ValueError(
            f"offset has shape {offset.shape}; expected one value for each of {design.n_labels} labels."
        )
    values = group_values(design, margins, slope)
    reach = bin_bounds(design, values) + (offset.max() if len(offset) else np.float32(0))
    reach += 1e-5 * (1 + np.abs(reach))  # rounding errors must not lose a label
    tables = design.tables
    _kernels.soft_peel(tables, margins, values, offset, reach, n_doubtful, labels, scores, operations)
    return labels, scores


def noisy_decoder(
    design: SaffronDesign,
    label_counts: Any = None,
    *,
    slope: float = DEFAULT_SLOPE,
    prior: float = 0.0,
    n_doubtful: int = 3,
) -> Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]:
    """Return `decode_noisy` as a function of margins and k, with the offset prior * log(1 + n_l), where n_l
    is the label's training frequency."""
    _check_reading(slope, n_doubtful)
    if not _is_number(prior):
        raise ValueError(f"prior={prior!r} must be a finite number.")
    offset = np.float32(prior) * np.log1p(label_counts).astype(np.float32) if prior else None
    return partial(decode_noisy, design, slope=slope, offset=offset, n_doubtful=int(n_doubtful))


def peeling_decoder(
    design: SaffronDesign, label_counts: Any = None, *, min_support: float = 0.9
) -> Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]:
    """Return `decode_peeling` as a function of margins and k: a test is positive if its margin is."""
    if not (_is_number(min_support) and 0 <= min_support <= 1):
        raise ValueError(f"min_support={min_support!r} is a share of a label's tests; pass 0 to 1.")
    return partial(decode_peeling, design, min_support=min_support)


def group_values(design: SaffronDesign, margins: np.ndarray, slope: float) -> np.ndarray:
    """Return eq. (4), (n, m) float32."""
    pairs = margins.reshape(-1, 2, design.n_bits)
    lead = (pairs - pairs[:, ::-1]).reshape(margins.shape)
    return group_log_probability(margins, slope) + group_log_probability(lead, slope)


def bin_bounds(design: SaffronDesign, values: np.ndarray) -> np.ndarray:
    """Return upper bounds of eq. (3) for the labels of each bin, (n, m1): at best a label has the better
    group of each digit in this bin, and the bound of the best bin in its other bins."""
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
    """Return empty lists of results, and an array for the counts."""
    n, m = np.shape(tests)
    if m != design.n_groups:
        raise ValueError(
            f"{m} tests per row for a design of {design.n_groups}; pass one for each row of its A."
        )
    if k < 1:
        raise ValueError(f"k={k} labels per row; pass at least 1.")
    if operations is None:
        operations = np.empty(n, np.int64)
    return np.full((n, k), -1, np.int64), np.full((n, k), -np.inf, np.float32), operations
