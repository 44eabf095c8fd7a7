"""A training that is killed goes on, and gives the same bits."""

import json
import os
import random
import signal
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt.cli import main
from mlgt.data import write_xmc
from mlgt.tasks import files, kept
from references.same import same

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are POSIX")
SEEDED = {"random_state": 0, "n_jobs": 2}
MODELS = {
    "flat": MLGTClassifier(n_groups=70, ranker="linear", **SEEDED),
    "blocks": HierarchicalMLGTClassifier(n_blocks=3, budget=0.2, n_groups=15, ranker="linear", **SEEDED),
}


def fit_in_child(model, rows, folder, kill_at):
    """Fit in a process that kills itself at its n-th write: before it, in the middle, or after it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the idle threads of OpenBLAS
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    write, count = kept.write_arrays, iter(range(10**6))

    def deadly(path, arrays):
        number = next(count)
        if number == kill_at and kill_at % 3 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == kill_at and kill_at % 3 == 1:
            files.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        write(path, arrays)
        if number == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        kept.write_arrays = deadly
        with mlgt.keep_work(folder):
            model.fit(*rows)
    finally:
        os._exit(0)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_bits_after_being_killed(rows, tmp_path, name):
    plain, folder = MODELS[name].fit(*rows), tmp_path / "work"
    kills = [kill for kill in (0, 1, 2, 5, 7) if fit_in_child(MODELS[name], rows, folder, kill) == -9]
    assert len(kills) >= 3
    said, computed = [], []
    with mlgt.keep_work(folder, report=said.append):
        finished = len(list(folder.rglob("*.arrays")))
        resumed = mlgt_clone(MODELS[name]).fit(*rows)
        computed = len(list(folder.rglob("*.arrays"))) - finished
    assert same(plain, resumed)
    assert said == [f"{finished} tasks were finished by an earlier run; going on from them."]
    assert finished >= 3
    assert computed > 0
    assert not folder.exists()


def mlgt_clone(model):
    return type(model)(**model.get_params())


def fit_and_fail(rows, folder):
    """Fit, then fail before the end of the context, as if the model could not be saved."""
    model = mlgt_clone(MODELS["flat"])
    with suppress(KeyboardInterrupt), mlgt.keep_work(folder):
        model.fit(*rows)
        raise KeyboardInterrupt
    return model


def test_finished_tasks_are_not_computed_again(rows, tmp_path, monkeypatch):
    plain = fit_and_fail(rows, tmp_path / "w")
    monkeypatch.setattr("mlgt.classifiers.solver._solve_tile", None)
    monkeypatch.setattr("mlgt.ranking.ranker._fit_piece", None)
    monkeypatch.setattr("mlgt.groups.nmf.symmetric_nmf", None)
    with mlgt.keep_work(tmp_path / "w"):
        again = mlgt_clone(MODELS["flat"]).set_params(n_jobs=1, verbose=0).fit(*rows)
    assert same(again, plain)


def test_other_data_and_settings_are_not_mixed_in(rows, tmp_path):
    X, Y = rows
    other = X.copy()
    other.data[0] *= 1.5
    first = fit_and_fail(rows, tmp_path / "w")
    for model, data in (
        (mlgt_clone(first), (other, Y)),
        (mlgt_clone(first).set_params(C=2.0), (X, Y)),
    ):
        said = []
        with mlgt.keep_work(tmp_path / "w", report=said.append):
            model.fit(*data)
        assert said == []
        assert not same(first, model)
    assert len(list(kept.find_work(tmp_path))) == 1


def test_a_broken_file_is_computed_again(rows, tmp_path):
    plain = fit_and_fail(rows, tmp_path / "w")
    for file in list((tmp_path / "w").rglob("*.arrays"))[::3]:
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 255
        file.write_bytes(content)
    with mlgt.keep_work(tmp_path / "w"):
        assert same(plain, mlgt_clone(MODELS["flat"]).fit(*rows))


def test_a_full_disk_does_not_stop_the_training(rows, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "write_arrays", full)
    said = []
    with mlgt.keep_work(tmp_path / "w", report=said.append):
        MODELS["flat"].fit(*rows)
    assert len(said) == 1
    assert said[0].startswith("further tasks are not kept:")
    assert said[0].endswith("No space left on device.")


def test_without_a_seed_nothing_can_be_kept(rows, tmp_path):
    with (
        pytest.raises(ValueError, match=r"random_state=None .* Pass an int"),
        mlgt.keep_work(tmp_path / "w"),
    ):
        MLGTClassifier().fit(*rows)


def test_two_processes_do_not_share_kept_work(rows, tmp_path):
    fit_and_fail(rows, tmp_path / "w")
    (folder,) = kept.find_work(tmp_path)
    with kept.locked(folder), ThreadPoolExecutor(1) as others:
        assert others.submit(kept.abandoned_work, tmp_path, remove=True).result() == {}
        with pytest.raises(FileExistsError, match="another process"):
            others.submit(fit_and_fail, rows, tmp_path / "w").result()
    assert list(kept.abandoned_work(tmp_path, remove=True)) == [folder]
    assert list(kept.find_work(tmp_path)) == []


def test_the_command_goes_on_and_doctor_lists(rows, tmp_path, capsys, monkeypatch):
    write_xmc(tmp_path / "rows.txt", *rows)
    command = ["train", str(tmp_path / "rows.txt"), "--model", str(tmp_path / "m"), "--n-groups", "20"]
    monkeypatch.setattr("mlgt.cli.training.MIN_KEPT_SECONDS", 1e-9)
    with monkeypatch.context() as patch:
        patch.setattr("mlgt.model.writing.np.save", lambda *_: 1 / 0)
        assert main(command) == 1
    assert "finished tasks are kept in" in capsys.readouterr().err
    assert main(["doctor", str(tmp_path), "--json"]) == 0
    *_, work = json.loads(capsys.readouterr().out)["checks"]
    assert work["name"] == "kept work"
    assert str(tmp_path / ".m.mlgt-work") in work["found"]
    assert main(command) == 0
    assert "tasks were finished by an earlier run; going on" in capsys.readouterr().err
    assert {file.name for file in tmp_path.iterdir()} == {"rows.txt", "m"}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_thirty_kills_at_random_moments(rows, tmp_path, name):
    """`python research/micro/cluster.py kills` does the same to the command."""
    mlgt_clone(MODELS[name]).fit(*rows)  # compiled before the clock starts
    began, rng = time.perf_counter(), random.Random(0)
    plain = mlgt_clone(MODELS[name]).fit(*rows)
    seconds, kills = time.perf_counter() - began, 0
    for _ in range(30):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            with mlgt.keep_work(tmp_path / "w"):
                mlgt_clone(MODELS[name]).fit(*rows)
                os._exit(0)  # the context does not end: the next run goes on
        time.sleep(rng.uniform(0.02, 1) * seconds)
        os.kill(child, signal.SIGKILL)
        kills += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
    with mlgt.keep_work(tmp_path / "w"):
        assert same(plain, mlgt_clone(MODELS[name]).fit(*rows))
    assert kills > 3
    assert not (tmp_path / "w").exists()
