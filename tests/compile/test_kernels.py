import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import mlgt
from mlgt._core import health
from mlgt.compile.kernels import _with_room, is_cached, kernel

CODE = """
import numpy as np
from mlgt.compile.kernels import is_cached
from mlgt._core.topk import _top_k, top_k
print(is_cached(_top_k))
top_k(np.zeros((1, 2), np.float32), 1)
print(is_cached(_top_k))
"""


def run(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=environment)
    return done.stdout.split(), done.stderr


def test_kernels_are_compiled_once_per_machine(tmp_path):
    assert run(tmp_path / "cache") == (["False", "True"], "")
    assert run(tmp_path / "cache") == (["True", "True"], "")


def test_kernels_work_where_nothing_can_be_cached(monkeypatch):
    """numba refuses to cache where no folder can be written; kernels are then compiled without."""

    def njit(function, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)(function)

    monkeypatch.setattr("mlgt.compile.kernels._njit", njit)
    compiled = kernel()(lambda x: x + 1)
    assert compiled(41) == 42
    assert not is_cached(compiled)


def test_the_doctor_counts_the_kernels_of_every_module():
    package = Path(mlgt.__file__).parent
    files = [file for file in package.rglob("*.py") if "\n@kernel(" in file.read_text("utf-8")]
    modules = {".".join(("mlgt", *file.relative_to(package).with_suffix("").parts)) for file in files}
    assert {kernel.py_func.__module__ for kernel in health._kernels()} == modules


def test_no_depth_of_calls_maps_memory_again_and_again():
    resource = pytest.importorskip("resource")
    repeats = 500

    def faults_at(depth):
        if depth > 0:
            return faults_at(depth - 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(repeats):
            (lambda: None)()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert _with_room(lambda: max(faults_at(depth) for depth in range(400))) < repeats
