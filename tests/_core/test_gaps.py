"""Ids of runs as gaps."""

import numpy as np
import pytest

from mlgt._core import gaps
from mlgt._core.gaps import pack_ids, unpack_ids


def random_runs(rng, n_runs, n_ids, kind):
    runs = [np.sort(rng.choice(n_ids, rng.integers(0, 30), replace=False)) for _ in range(n_runs)]
    indptr = np.concatenate([[0], np.cumsum([len(run) for run in runs])])
    return indptr, np.concatenate(runs).astype(kind)


@pytest.mark.parametrize("kind", [np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("n_ids", [40, 500, 3000, 1 << 18])
def test_unpacking_undoes_packing(kind, n_ids):
    rng = np.random.default_rng(n_ids)
    indptr, ids = random_runs(rng, 300, n_ids if kind is not np.uint16 else min(n_ids, 2000), kind)
    found = pack_ids(indptr, ids)
    again = unpack_ids(indptr, *found)
    assert again.dtype == kind
    assert (again == ids).all()
    assert sum(part.nbytes for part in found) < ids.nbytes
    assert len(found) == (2 if kind is np.uint16 else 3)


def test_edges_of_bytes_and_of_two_bytes():
    ids = np.cumsum([254, 255, 256, 65534, 65535, 65536, 1, 1, 1, 1, 1]).astype(np.int32)
    gaps, far, farther = pack_ids(np.array([0, len(ids)]), ids)
    assert gaps.tolist() == [254, *[255] * 5, *[1] * 5]
    assert far.tolist() == [255, 256, 65534, 65535, 65535]
    assert farther.tolist() == [65535, 65536]
    assert (unpack_ids(np.array([0, len(ids)]), gaps, far, farther) == ids).all()


def test_sums_beyond_32_bits_are_undone_too():
    n_runs, last = 3000, 2**31 - 2
    ids = np.tile(np.array([0, 1, 2, 3, 4, last], np.int32), n_runs)
    indptr = np.arange(n_runs + 1) * 6
    assert (unpack_ids(indptr, *pack_ids(indptr, ids)) == ids).all()


def test_only_rising_runs_of_their_own_pointers_are_packed(monkeypatch):
    ids = np.array([1, 2, 5, 3, 4], np.int32)
    assert pack_ids(np.array([0, 3, 5]), ids) is not None
    assert pack_ids(np.array([0, 2, 5]), ids) is None  # 5, 3, 4 do not rise
    assert pack_ids(np.array([0, 3, 4]), ids) is None
    assert pack_ids(np.array([0, 0]), ids[:0]) is None
    assert pack_ids(np.array([0, 5]), 1000 * np.arange(5, dtype=np.uint16)) is None  # longer so
    monkeypatch.setattr(gaps, "MAX_PACKED", 4)
    assert pack_ids(np.array([0, 3, 5]), ids) is None
