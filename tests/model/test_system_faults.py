"""Faults of the system under a save: a full file system, and system calls that fail or kill (strace)."""

import errno
import shutil
import subprocess
import sys

import numpy as np
import pytest

import mlgt
from mlgt import MLGTClassifier

CALLS = ("write", "fsync", "rename", "renameat2")
FAULTS = ("error=ENOSPC", "error=EIO", "signal=SIGKILL")
SAVE = "import sys, mlgt; mlgt.load(sys.argv[1]).save(sys.argv[2], overwrite=True)"


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    X, Y = rng.random((200, 300), np.float32), (rng.random((200, 40)) < 0.1).astype(np.float32)
    made = [
        MLGTClassifier(n_groups=40, column_weight=4, ranker=None, keep_rows=0, random_state=seed).fit(X, Y)
        for seed in (0, 1)
    ]
    return made, X[:5]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 120 kB: one model of 60 kB fits, two do not."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=120k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a file system may not be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_file_system_keeps_the_old_model(models, small_disk):
    (old, new), X = models
    old.save(small_disk / "m")
    for target in ("m", "n"):
        with pytest.raises(OSError, match=str(small_disk / target)) as caught:
            new.save(small_disk / target, overwrite=True)
        assert caught.value.errno == errno.ENOSPC
    assert [file.name for file in small_disk.iterdir()] == ["m"]
    found = mlgt.load(small_disk / "m").predict_topk(X, 3)[1]
    assert np.array_equal(found, old.predict_topk(X, 3)[1])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("call", CALLS)
def test_every_system_call_of_a_save_fails(models, tmp_path, call):
    """The n-th call fails or kills the process, until a save ends without having made n of them."""
    made, X = models
    answers = [model.predict_topk(X, 3)[1] for model in made]
    made[1].save(tmp_path / "new")
    log, count = tmp_path / "log", 0
    for fault in FAULTS:
        for when in range(1, 100):
            made[0].save(tmp_path / "m", overwrite=True)
            inject = f"inject={call}:{fault}:when={when}"
            command = ["strace", "-f", "-o", log, "-e", f"trace={call}", "-e", inject]
            command += [sys.executable, "-B", "-c", SAVE, tmp_path / "new", tmp_path / "m"]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            if "attach" in done.stderr or "Operation not permitted" in done.stderr:
                pytest.skip("processes may not be traced here")
            happened = "(INJECTED)" in log.read_text() or "SIGKILL" in log.read_text()
            found = mlgt.load(tmp_path / "m").predict_topk(X, 3)[1]
            same = [np.array_equal(found, answer) for answer in answers]
            assert any(same)
            assert done.returncode or same[1], "a save that succeeds has written the new model"
            if "SIGKILL" not in fault:
                assert {file.name for file in tmp_path.iterdir()} == {"m", "new", "log"}, inject
            if not happened:
                break
            count += 1
    print(f"{call}: {count} faults")
    made[0].save(tmp_path / "m", overwrite=True)
    assert {file.name for file in tmp_path.iterdir()} == {"m", "new", "log"}
