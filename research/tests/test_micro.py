"""Benchmarks are run by hand, so at least they must be able to start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "micro"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the benchmarks are not beside the tests")
def test_every_benchmark_finds_what_it_imports():
    names = sorted(file.stem for file in FOLDER.glob("*.py"))
    assert "saffron" in names
    said = subprocess.run(
        [sys.executable, "-c", "\n".join(f"import {name}" for name in names)],
        cwd=FOLDER, env={**os.environ, "MPLBACKEND": "agg"}, capture_output=True, text=True,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
