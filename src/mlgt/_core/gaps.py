"""Ids of sparse rows in one byte each: the gaps between them.

The ids of a run (the labels of a group, the features of a label) rise, mostly in small steps:

    ids  7 9 400 80000   ->   gaps  7 2 255 255,   far  391 65535,   farther  79600                  (1)

A gap from FAR on is FAR in `gaps`, and itself in `far`; if ids have more than two bytes, one from FARTHER
on is FARTHER there, and itself in `farther`. The first gap of a run is its first id.
"""

import numpy as np

FAR, FARTHER = 255, 65535
MAX_PACKED = 1 << 26
"""Number of ids above which they are not packed: unpacking takes memory, mapped arrays take none."""


def pack_ids(indptr: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, ...] | None:
    """(gaps, far), or (gaps, far, farther) of eq. (1), the last of the type of the ids; None if they are
    not the rising runs of `indptr`, or take no fewer bytes so."""
    if not 0 < len(ids) <= MAX_PACKED or indptr[-1] != len(ids):
        return None
    steps = np.diff(ids.astype(np.int64), prepend=0)
    first = indptr[:-1][np.diff(indptr) > 0]
    steps[first] = ids[first]
    far = steps[steps >= FAR]
    packed: tuple[np.ndarray, ...] = np.minimum(steps, FAR).astype(np.uint8), far.astype(ids.dtype)
    if ids.itemsize > 2:
        farther = far[far >= FARTHER].astype(ids.dtype)
        packed = packed[0], np.minimum(far, FARTHER).astype(np.uint16), farther
    short = sum(part.nbytes for part in packed) < ids.nbytes
    return packed if steps.min() >= 0 and short else None


def unpack_ids(
    indptr: np.ndarray, gaps: np.ndarray, far: np.ndarray, farther: np.ndarray | None = None
) -> np.ndarray:
    """The ids of `pack_ids`. `indptr` must rise from 0 to the number of gaps, and the later arrays have as
    many gaps as those before them name."""
    if farther is not None:
        near, far = far, far.astype(farther.dtype)
        far[near == FARTHER] = farther
    steps = gaps.astype(np.uint32)
    steps[gaps == FAR] = far
    sums = np.cumsum(steps, dtype=np.uint32)  # may overflow: differences are right all the same
    before = np.where(indptr[:-1] > 0, sums[indptr[:-1] - 1], np.uint32(0))
    sums -= np.repeat(before, np.diff(indptr))
    if sums.max(initial=0) > np.iinfo(far.dtype).max:
        raise ValueError(f"ids up to {sums.max()} do not fit into {far.dtype}")
    return sums.astype(far.dtype)
