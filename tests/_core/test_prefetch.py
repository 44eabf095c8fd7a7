"""Asking for memory changes nothing."""

import numpy as np

from mlgt._core.prefetch import prefetch, prefetch_runs
from mlgt.compile.kernels import kernel


@kernel()
def ask(ids, values, begin, end):
    prefetch(ids, begin)
    prefetch_runs(ids, values, begin, end)
    return end - begin


def test_any_place_may_be_asked_for_and_arrays_stay_as_they_are():
    ids, values = np.arange(100, dtype=np.uint16), np.arange(100, dtype=np.int8)
    for run in (ask, ask.py_func):
        assert [run(ids, values, *span) for span in ((0, 100), (3, 3), (-5, 500))] == [100, 0, 505]
    assert (ids == np.arange(100)).all()
    assert (values == np.arange(100)).all()
