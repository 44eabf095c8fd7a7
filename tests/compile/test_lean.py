"""Helpers are linked to the kernels that call them, and kernels need few passes of numba."""

import numba
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from mlgt.compile import lean
from mlgt.compile.kernels import helper, kernel


def make_kernel():
    """sum_i (2 x_i + 1) by a helper that calls another one."""

    @helper(error_model="numpy")
    def twice(values, i):
        return values[i] * 2

    @helper(error_model="numpy")
    def next_odd(values, i):
        return twice(values, i) + 1

    @kernel(error_model="numpy")
    def total(values):
        found = values[0] * 0
        for i in range(values.shape[0]):
            found += next_odd(values, i)
        return found

    return total


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_helpers_call_helpers(dtype):
    total = make_kernel()
    assert total(np.arange(10, dtype=dtype)) == 100
    assert total(np.arange(10, dtype=np.float64)) == 100  # other types, compiled again


def test_helpers_have_no_code_of_their_own():
    """The library of a helper is part of its kernels, and nothing else can run it."""

    def add(a, b):
        return a + b

    types = numba.int64, numba.int64
    found = lean._link_only(add, types, {})
    assert found.signature.return_type == numba.int64
    assert found.entry_point is None
    with global_compiler_lock:
        assert not found.library.get_pointer_to_function(found.fndesc.llvm_func_name)


@pytest.mark.parametrize("error", [AttributeError, ImportError, TypeError])
def test_a_numba_that_does_not_link_compiles_helpers_as_a_whole(monkeypatch, error):
    def refuse(*_):
        raise error("no such thing in this numba")

    monkeypatch.setattr(lean, "_link_only", refuse)
    assert make_kernel()(np.arange(10)) == 100


def test_a_numba_without_one_of_the_passes_takes_all_of_its_own(monkeypatch):
    assert lean.pipeline() is not None
    monkeypatch.setattr(lean, "PASSES", (*lean.PASSES, "NoSuchPass"))
    lean.pipeline.cache_clear()
    try:
        assert lean.pipeline() is None
        assert make_kernel()(np.arange(10)) == 100
    finally:
        lean.pipeline.cache_clear()


def test_a_helper_does_not_depend_on_its_first_caller():
    """With fast arithmetic (a + b) - a may be b; a helper without it is compiled without, whoever asks."""

    @helper(error_model="numpy")
    def rest(a, b):
        return (a + b) - a

    @kernel(error_model="numpy", fastmath=True)
    def fast(a, b):
        return rest(a, b)

    @kernel(error_model="numpy")
    def exact(a, b):
        return rest(a, b)

    assert fast(1e16, 1.0) == exact(1e16, 1.0) == 0.0
