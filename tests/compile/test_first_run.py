"""What a first run compiles, and what it reports."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from mlgt.compile import first_run
from mlgt.compile.kernels import MANY, ONE, helper, interpreting, kernel


@pytest.fixture
def said():
    """The messages that a command would print."""
    lines = []
    first_run.report_to(lines.append)
    yield lines
    first_run.report_to(None)


def without_cache(monkeypatch):
    def njit(function, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)(function)

    monkeypatch.setattr("mlgt.compile.kernels._njit", njit)


def test_a_command_says_once_that_nothing_can_be_kept(monkeypatch, said):
    without_cache(monkeypatch)
    compiled = kernel()(lambda x: x + 1)
    assert (compiled(1), compiled(1.5)) == (2, 2.5)
    assert len(said) == 1
    assert "no folder for compiled code can be written. Set NUMBA_CACHE_DIR" in said[0]


def test_a_full_disk_is_reported(monkeypatch, said):
    without_cache(monkeypatch)

    def save(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.NullCache.save_overload", save)
    first_run.compiling("/home/me/.cache/numba", usual=True)  # not on a terminal: nothing is said
    monkeypatch.setattr(first_run, "compiling", lambda *_: None)
    assert kernel()(lambda x: x + 1)(1) == 2
    assert len(said) == 1
    assert "No space left on device" in said[0]
    assert "set NUMBA_CACHE_DIR to another folder" in said[0]


def test_another_folder_is_named(said):
    first_run.compiling("/home/me/.cache/numba", usual=False)
    assert "kept in /home/me/.cache/numba, because the usual folder cannot be written" in said[0]


CODE = """
import sys
from mlgt.compile import first_run
from mlgt._core.topk import top_k
import numpy as np
first_run.report_to(print, on_terminal=sys.argv[1] == "yes")
top_k(np.zeros((1, 2), np.float32), 1)
"""


def run(cache, on_terminal):
    command = [sys.executable, "-c", CODE, on_terminal]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout


def test_the_first_run_says_where_compiled_code_is_kept(tmp_path):
    assert run(tmp_path / "a", "yes").startswith(
        f"compiling, only on the first run: compiled code is kept in {tmp_path / 'a'}"
    )
    assert run(tmp_path / "a", "yes") == ""
    assert run(tmp_path / "b", "no") == ""


def test_light_kernels_are_interpreted_on_demand_alone(monkeypatch):
    without_cache(monkeypatch)
    light, heavy = (kernel(light=light)(lambda x: x * x) for light in (True, False))
    big = np.uint64(2**63 + 1)
    with interpreting():
        assert light(big) == heavy(big) == 1  # integers wrap around without a warning
        assert (len(light.compiled.signatures), len(heavy.compiled.signatures)) == (0, 1)
    with interpreting(ONE + 1):
        assert light(big) == 1
    assert len(light.compiled.signatures) == 1


def test_numpy_takes_the_place_of_a_kernel_for_a_while(monkeypatch):
    without_cache(monkeypatch)
    calls = []

    def doubled(x):
        calls.append(x)
        return NotImplemented if x == 3 else 2 * x

    double = kernel(light=doubled, limit=MANY)(lambda x: x + x)
    with interpreting(MANY):
        assert (double(1), double(2), len(double.compiled.signatures)) == (2, 4, 0)
        assert (double(3), len(double.compiled.signatures)) == (6, 1)  # which needs the kernel
        assert (double(4), calls) == (8, [1, 2, 3])
    double = kernel(light=doubled, limit=MANY)(lambda x: x + x)
    monkeypatch.setattr("mlgt.compile.kernels.MAX_SECONDS", 0.0)
    with interpreting():
        assert (double(5), len(double.compiled.signatures)) == (10, 1)


def test_helpers_are_plain_functions_and_parts_of_kernels():
    @helper()
    def double(x):
        return 2 * x

    assert double("ab") == "abab"
    assert kernel()(lambda x: double(x))(21) == 42
