"""A full disk: one line with the file and advice, status 2, and nothing left behind."""

import errno
import io
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mlgt._core.progress import QUIET
from mlgt.cli import main
from mlgt.cli.console import compile_for_synthesis
from mlgt.compile.kernels import kernel

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
FULL = "standard output: No space left on device; free some space, or write elsewhere.\n"
PRINTING = {
    "help": ["--help"],
    "help-of-a-verb": ["train", "--help"],
    "no-verb": [],
    "version": ["--version"],
    "completion": ["completion", "bash"],
    "doctor": ["doctor"],
    "doctor-json": ["doctor", "--json"],
    "inspect": ["inspect", "{model}"],
    "explain": ["explain", "{model}", "--row", "{test}:1"],
    "evaluate": ["evaluate", "{model}", "{test}"],
    "evaluate-json": ["evaluate", "{model}", "{test}", "--json"],
    "predict": ["predict", "{model}", "{test}"],
    "predict-to-a-device": ["predict", "{model}", "{test}", "-o", "/dev/full"],
}


def named(arguments, folder, new):
    names = {"model": folder / "model", "test": folder / "test.txt.gz", "train": folder / "train.txt"}
    return [argument.format(**names, new=new) for argument in arguments]


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("name", PRINTING)
def test_a_full_standard_output(name, buffered, folder, tmp_path, monkeypatch, capsys):
    with open("/dev/full", "w") as full:
        full.reconfigure(write_through=not buffered)
        monkeypatch.setattr(sys, "stdout", full)
        assert main(named(PRINTING[name], folder, tmp_path / "new")) == 2
    expected = FULL.replace("standard output", "/dev/full") if "device" in name else FULL
    assert capsys.readouterr().err == f"mlgt: {expected}"


@pytest.mark.parametrize("arguments", [["--version"], ["completion", "bash"], ["--no-such-option"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_the_status_of_a_process_with_full_streams(arguments, unbuffered):
    command = [sys.executable, "-m", "mlgt", *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
        lost = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=full, env=environment)
    wrong = "--no-such-option" in arguments
    assert done.returncode == 2
    assert wrong or done.stderr == f"mlgt: {FULL}"
    assert lost.returncode == (2 if wrong else 0)


WRITING = {
    "predict": ["predict", "{model}", "{test}", "-o", "{new}"],
    "page": ["evaluate", "{model}", "{test}", "--html", "{new}"],
    "groups": ["inspect", "{model}", "--groups", "{new}"],
    "synth": ["synth", "{new}", "--rows", "400", "--features", "400", "--labels", "20", "--plain"],
    "demo": ["demo", "--csv", "{new}"],
    "train": ["train", "{train}", "--model", "{new}", "--n-groups", "20"],
}


@contextmanager
def small_files(size=100):
    resource = pytest.importorskip("resource", reason="limits on file size are a thing of Unix")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WRITING)
def test_a_limit_on_the_size_of_files(name, folder, tmp_path, capsys):
    if name == "synth":
        compile_for_synthesis(QUIET)  # the cache of kernels has files too
    with small_files():
        status = main(named([*WRITING[name], "--quiet"], folder, tmp_path / "new"))
    said = capsys.readouterr().err
    assert status == 2
    assert said.startswith(f"mlgt: {tmp_path / 'new'}")
    assert said.endswith(
        ": File too large; raise the limit on the size of files (ulimit -f), or write elsewhere.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_part_of_the_output_is_not_all_of_it(folder, tmp_path, monkeypatch, capsys):
    """As with `python -u`: one write fills the disk, and does not fail."""
    with open(tmp_path / "out", "wb", buffering=0) as raw:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "utf-8", write_through=True))
        with small_files(1000):
            assert main(named(PRINTING["predict"], folder, None)) == 2
    assert capsys.readouterr().err.startswith("mlgt: standard output: File too large; raise the limit")


def test_a_full_picture(tmp_path):
    """Pillow writes to the file itself, and would report a code of its own."""
    from mlgt.report import draw_reliability

    with pytest.raises(OSError, match="No space left on device") as error:
        draw_reliability("/dev/full", [(0.5, 0.5, 3)], "title")
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, "/dev/full")


@kernel()
def double(number):
    return 2 * number


def test_a_full_disk_under_the_cache_of_kernels():
    with small_files():
        assert double(3) == 6
