"""What the system refuses, and Ctrl-C: nothing half done stays."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import mlgt
from mlgt._core import signals
from mlgt._core.files import replacing
from mlgt.cli import main
from mlgt.data import write_xmc


def test_a_full_disk_leaves_the_old_model_whole(folder, tmp_path, capsys, monkeypatch):
    arguments = ["train", str(folder / "train.txt"), "--model", str(tmp_path / "m"), "--n-groups", "20"]
    assert main(arguments) == 0

    def full(*_, **__):
        raise OSError(28, "No space left on device", str(tmp_path / "m"))

    monkeypatch.setattr("mlgt.model.writing.np.save", full)
    assert main([*arguments, "--force"]) == 2
    assert "No space left on device; free some space" in capsys.readouterr().err
    assert [f.name for f in tmp_path.iterdir()] == ["m"]
    mlgt.load(tmp_path / "m")


def test_a_file_size_limit_stops_a_write_cleanly(folder, tmp_path, mlgt_command):
    resource = pytest.importorskip("resource", reason="limits on file size are a thing of Unix")
    done = mlgt_command(
        "predict", folder / "model", folder / "test.txt.gz", "-o", tmp_path / "out",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def without_rights():
    """Root may do everything; give that up for a while."""
    if sys.platform == "win32":
        pytest.skip("permissions differ on Windows")
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    yield
    os.seteuid(was)


def test_no_permission(folder, tmp_path, capsys, request):
    secret, closed = tmp_path / "secret.txt", tmp_path / "closed"
    secret.write_text("1 1 1\n0 0:1\n")
    secret.chmod(0)
    closed.mkdir(mode=0o555)
    above = [place for place in tmp_path.parents if place.name.startswith(("pytest-", "popen-"))]
    for place in (tmp_path, *above):
        place.chmod(0o755)
    free = tmp_path / "free"
    free.mkdir()
    free.chmod(0o777)
    request.getfixturevalue("without_rights")
    assert main(["train", str(secret), "--model", str(free / "m")]) == 2
    assert capsys.readouterr().err == f"mlgt: {secret}: the file may not be read; check its permissions.\n"
    for beyond in ("m", "deep/m"):
        assert main(["train", str(free / "no file"), "--model", str(closed / beyond)]) == 2
        said = capsys.readouterr().err  # before anything is read, not after training
        assert said == f"mlgt: {closed}: the folder may not be written; choose another place.\n"
    with pytest.raises(PermissionError, match="the folder may not be written"), replacing(closed / "out"):
        pass
    assert list(closed.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent differently on Windows")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_kill_leave_nothing(tmp_path, sent, status):
    """Stopped once training has begun: 30,000 groups would take minutes."""
    rng = np.random.default_rng(0)
    write_xmc(tmp_path / "train.txt", rng.random((2000, 300)), rng.random((2000, 40)) < 0.05)
    code = (  # a shell that runs things in the background has them ignore Ctrl-C
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from mlgt.__main__ import main\n"
        "from mlgt.cli import training; from mlgt._core.progress import Narrator\n"
        "training.LARGE_FILE_SHARE = 1e15; training.make_narrator = lambda options: Narrator(2)\n"
        "sys.exit(main())"
    )
    options = ["--method", "sp-gt", "--n-groups", "30000", "--model", tmp_path / "m"]
    command = [sys.executable, "-c", code, "train", tmp_path / "train.txt", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert any("training classifiers: " in line for line in process.stderr)  # reads up to the first such
    process.send_signal(sent)
    _, said = process.communicate(timeout=60)
    assert process.returncode == status, said
    assert said.splitlines()[-1] == f"mlgt: {signals.describe(sent)}"
    assert "Traceback" not in said
    assert [f.name for f in tmp_path.iterdir()] == ["train.txt"]


def test_ctrl_c_while_the_command_line_is_made(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["mlgt.cli.main"], "make_parser", interrupted)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "mlgt: stopped by Ctrl-C; no unfinished file was left behind.\n"


def test_without_a_verb_the_help_is_shown(capsys):
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_a_fault_of_our_own_is_called_one(folder, capsys, monkeypatch):
    monkeypatch.setattr("mlgt.model.reading.open_model", lambda path: 1 / 0)
    assert main(["inspect", str(folder / "model")]) == 1
    said = capsys.readouterr().err
    assert "internal error: ZeroDivisionError" in said
    assert "Traceback" not in said
