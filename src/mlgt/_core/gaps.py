"""Ids of sparse rows in one byte each: the gaps between them.

The ids of a run (the labels of a group, the features of a label) rise, mostly in small steps:

    ids  7 9 400 401   ->   gaps  7 2 255 1,   far  391                                              (1)

A gap from FAR on is FAR in `gaps`, and itself in `far`. The first gap of a run is its first id.
"""

import numpy as np

FAR = 255
MAX_PACKED = 1 << 26
"""Number of ids above which they are not packed: unpacking takes memory, mapped arrays take none."""


def pack_ids(indptr: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(gaps, far) of eq. (1), `far` of the type of the ids; None if they are not the rising runs of
    `indptr`, or take no fewer bytes so."""
    if not 0 < len(ids) <= MAX_PACKED or indptr[-1] != len(ids):
        return None
    steps = np.diff(ids.astype(np.int64), prepend=0)
    first = indptr[:-1][np.diff(indptr) > 0]
    steps[first] = ids[first]
    far = steps >= FAR
    if steps.min() < 0 or len(ids) + np.count_nonzero(far) * ids.itemsize >= ids.nbytes:
        return None
    return np.where(far, FAR, steps).astype(np.uint8), steps[far].astype(ids.dtype)


def unpack_ids(indptr: np.ndarray, gaps: np.ndarray, far: np.ndarray) -> np.ndarray:
    """The ids of `pack_ids`. `indptr` must rise from 0 to the number of gaps."""
    steps = gaps.astype(np.uint32)
    steps[gaps == FAR] = far
    sums = np.cumsum(steps, dtype=np.uint32)  # may overflow: differences are right all the same
    before = np.where(indptr[:-1] > 0, sums[indptr[:-1] - 1], np.uint32(0))
    sums -= np.repeat(before, np.diff(indptr))
    return sums.astype(far.dtype)
