"""Readers and writers of one model folder at the same time."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import mlgt
from mlgt import MLGTClassifier
from mlgt._core import aside
from mlgt._core.aside import locked
from mlgt._core.errors import ModelFileError
from mlgt._core.files import replacing
from mlgt.model import reading, writing
from mlgt.model.format import to_arrays, to_header
from references.headers import write_header

fcntl = pytest.importorskip("fcntl", reason="there are no locks of files on Windows")


@pytest.fixture(scope="module")
def models(topics):
    """Two models with arrays of the same sizes, and rows."""
    X, Y = topics[0]
    return [
        MLGTClassifier(n_groups=9, column_weight=2, ranker=None, random_state=seed).fit(X, Y)
        for seed in (0, 1)
    ], X[:20]


def answers(model, X):
    return model.predict_topk(X, 3)[1]


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "two renames"])
@pytest.mark.parametrize("moment", range(6))
def test_a_reader_gets_the_old_model_or_the_new_one(models, tmp_path, monkeypatch, moment, exchange):
    """The model is replaced after the reader has opened `moment` files."""
    (old, new), X = models
    old.save(tmp_path / "m")
    if not exchange:
        monkeypatch.setattr(writing, "_exchange", lambda one, two: False)
    opened, open_file = [], reading._Folder.open

    def open_and_replace(folder, name):
        if len(opened) == moment:
            opened.append("replaced")
            new.save(tmp_path / "m", overwrite=True)
        opened.append(name)
        return open_file(folder, name)

    monkeypatch.setattr(reading._Folder, "open", open_and_replace)
    found = answers(mlgt.load(tmp_path / "m"), X)
    assert "replaced" in opened
    assert any(np.array_equal(found, answers(model, X)) for model in (old, new))


def test_a_loaded_model_outlives_its_folder(models, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_READ_BYTES", 100)
    (old, new), X = models
    old.save(tmp_path / "m")
    loaded = mlgt.load(tmp_path / "m")
    new.save(tmp_path / "m", overwrite=True)
    assert np.array_equal(answers(loaded, X), answers(old, X))


def test_a_reader_between_two_renames_finds_the_old_model(models, tmp_path):
    (old, _), X = models
    old.save(tmp_path / "m")
    os.rename(tmp_path / "m", writing.replaced_place(tmp_path / "m"))  # the writer was killed here
    assert np.array_equal(answers(mlgt.load(tmp_path / "m"), X), answers(old, X))
    with pytest.raises(FileExistsError), writing.model_writer(tmp_path / "m") as writer:
        writer.finish({})
    assert np.array_equal(answers(mlgt.load(tmp_path / "m"), X), answers(old, X))
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_the_second_of_two_writers_gets_an_error(models, tmp_path):
    (_, new), _ = models
    with writing.model_writer(tmp_path / "m"):
        code = "import sys, mlgt; m = mlgt.load(sys.argv[1]); m.save(sys.argv[2])"
        new.save(tmp_path / "n")
        said = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "n", tmp_path / "m"], capture_output=True, text=True
        )
        assert "FileExistsError" in said.stderr
        assert "another process or thread is writing it" in said.stderr
    new.save(tmp_path / "m")


def test_a_model_that_came_meanwhile_is_not_replaced_unasked(models, tmp_path, monkeypatch):
    """Without locks, too: the last rename never takes the place of a model."""
    monkeypatch.setattr("mlgt._core.aside.fcntl", None)
    (old, _), X = models
    with writing.model_writer(tmp_path / "m") as writer:
        old.save(tmp_path / "m")
        with pytest.raises(FileExistsError, match="meanwhile"):
            writer.finish(to_header(old.fitted_model(), old._owner()))
    assert np.array_equal(answers(mlgt.load(tmp_path / "m"), X), answers(old, X))
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_the_command_refuses_a_folder_that_another_one_trains_into(tmp_path):
    rows = "".join(f"{i % 3} {i % 3}:1 {3 + i % 2}:1\n" for i in range(30))
    (tmp_path / "train.txt").write_text(rows)
    command = [sys.executable, "-m", "mlgt", "train", tmp_path / "train.txt", "--model", tmp_path / "m"]
    with locked(Path(os.path.realpath(tmp_path / "m"))):
        said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 2
    assert "another process or thread is writing it" in said.stderr
    assert said.stderr.count("\n") == 1


def test_what_a_killed_writer_left_is_removed(models, tmp_path):
    (old, _), _ = models
    here = aside._machine()
    for name in (f".m.mlgt-{here}0123abcd", ".m.mlgt-replaced", ".m.mlgt-ffff0123abcd"):
        (tmp_path / name / "block-0").mkdir(parents=True)
        (tmp_path / name / "block-0" / "coef.npy").write_bytes(b"x")
    (tmp_path / ".m.mlgt-lock").touch()
    os.utime(tmp_path / ".m.mlgt-ffff0123abcd", (0, 0))  # of another machine, and old
    kept = [".m.mlgt-backup", ".m-0123abcd", f".mm.mlgt-{here}0123abcd", ".m.mlgt-eeee0123abcd"]
    for name in kept:
        (tmp_path / name).mkdir()
    old.save(tmp_path / "m")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([*kept, "m"])


def test_folders_made_for_nothing_are_removed(tmp_path):
    with pytest.raises(ZeroDivisionError), writing.claim(tmp_path / "a" / "b" / "m"):
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127])
def test_long_names(models, tmp_path, name):
    (old, _), _ = models
    old.save(tmp_path / name)
    mlgt.load(tmp_path / name)
    with replacing(tmp_path / f"{name[:-1]}y") as file:
        file.write(b"x")
    assert len(list(tmp_path.iterdir())) == 2


def test_no_flipped_bit_of_the_header_is_accepted(models, tmp_path):
    (old, _), _ = models
    old.save(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    content = file.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.choice(len(content) * 8, 400, replace=False).tolist():
        flipped = bytearray(content)
        flipped[at // 8] ^= 1 << at % 8
        file.write_bytes(flipped)
        with pytest.raises(ModelFileError):
            mlgt.load(tmp_path / "m")


def test_an_entry_that_stands_there_twice_is_refused(models, tmp_path):
    (old, _), _ = models
    old.save(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    header = json.loads(file.read_text("utf-8"))
    del header["digest"]
    text = json.dumps(header).replace('{"format"', '{"power": 2.0, "format"', 1)
    file.write_text(writing.signed(text), "utf-8")
    with pytest.raises(ModelFileError, match="'power' stands there twice"):
        mlgt.load(tmp_path / "m")


@pytest.mark.parametrize("what", ["pipe", "link", "linked folder"])
def test_only_regular_files_of_the_folder_are_read(models, tmp_path, what):
    (old, _), _ = models
    old.save(tmp_path / "m")
    file = tmp_path / "m" / "intercept.npy"
    file.rename(tmp_path / "intercept.npy")
    if what == "pipe":
        os.mkfifo(file)
    elif what == "link":
        file.symlink_to(tmp_path / "intercept.npy")
    else:
        (tmp_path / "m").rename(tmp_path / "n")
        (tmp_path / "n" / "intercept.npy").symlink_to("../intercept.npy")
        (tmp_path / "m").symlink_to("n")
    with pytest.raises(ModelFileError, match=r"no regular file|is a link"):
        mlgt.load(tmp_path / "m")


@pytest.mark.parametrize(
    "head",
    [b"{'descr': '<f4', 'shape': (24,", b"-" * 9900 + b"1", b"(" * 9900, b"\xff", b"", b"{'a': 1}"],
    ids=["cut short", "signs", "brackets", "no text", "nothing", "other keys"],
)
def test_an_array_with_a_header_of_another_kind_is_refused(models, tmp_path, head):
    (old, _), _ = models
    old.save(tmp_path / "m")
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\0" * 96
    (tmp_path / "m" / "intercept.npy").write_bytes(content)
    header = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))
    sum_of = hashlib.sha256(content).hexdigest()
    header["arrays"]["intercept"] |= {"bytes": len(content), "sha256": sum_of}
    write_header(tmp_path / "m", header)
    with pytest.raises(ModelFileError, match="is not a NumPy array"):
        mlgt.load(tmp_path / "m")


def test_a_save_within_a_save_breaks_neither(models, tmp_path):
    """As in the handler of a signal."""
    (old, new), X = models
    with writing.model_writer(tmp_path / "m", overwrite=True) as writer:
        arrays = to_arrays(new.fitted_model())
        for i, (name, array) in enumerate(arrays.items()):
            writer.add(name, array)
            if i == 1:
                old.save(tmp_path / "m", overwrite=True)
                assert np.array_equal(answers(mlgt.load(tmp_path / "m"), X), answers(old, X))
        writer.finish(to_header(new.fitted_model(), new._owner()))
    assert np.array_equal(answers(mlgt.load(tmp_path / "m"), X), answers(new, X))
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("lost", ["folder", "file"])
def test_files_in_the_making_that_vanish_are_noticed(models, tmp_path, lost):
    """As by a cleaner of temporary files."""
    (old, new), X = models
    old.save(tmp_path / "m")
    arrays = list(to_arrays(new.fitted_model()).items())

    def write():
        with writing.model_writer(tmp_path / "m", overwrite=True) as writer:
            writer.add(*arrays[0])
            if lost == "folder":
                shutil.rmtree(writer.aside)
            else:
                (writer.aside / f"{arrays[0][0]}.npy").unlink()
            for name, array in arrays[1:]:
                writer.add(name, array)
            writer.finish(to_header(new.fitted_model(), new._owner()))

    with pytest.raises(OSError, match="No such file"):
        write()
    assert np.array_equal(answers(mlgt.load(tmp_path / "m"), X), answers(old, X))


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP])
def test_file_systems_without_locks(models, tmp_path, monkeypatch, number):
    (old, _), _ = models

    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("mlgt._core.aside.fcntl.flock", flock)
    old.save(tmp_path / "m")
    old.save(tmp_path / "m", overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_the_lock_is_open_for_writing(tmp_path, monkeypatch):
    """NFS refuses to lock what is open for reading."""

    def flock(handle, _):
        assert fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR

    monkeypatch.setattr("mlgt._core.aside.fcntl.flock", flock)
    with locked(tmp_path / "m"):
        pass


def test_two_threads_that_save_to_one_folder(models, tmp_path):
    """Each succeeds or raises an error; the folder is whole."""
    (old, new), X = models
    errors = []

    def save(model):
        try:
            model.save(tmp_path / "m", overwrite=True)
        except FileExistsError as error:
            errors.append(error)

    for _ in range(10):
        threads = [threading.Thread(target=save, args=(model,)) for model in (old, new)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = answers(mlgt.load(tmp_path / "m"), X)
        assert any(np.array_equal(found, answers(model, X)) for model in (old, new))
    assert all("process or thread" in str(error) for error in errors)
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize(
    "params",
    [{"tail": 1e16}, {"decoder_params": {"slope": True}}, {"solver_params": {"max_iter": 10**16}}],
    ids=str,
)
def test_a_model_that_could_not_be_loaded_is_not_saved(models, topics, tmp_path, params):
    (old, _), _ = models
    old.save(tmp_path / "m")
    model = MLGTClassifier(n_groups=9, column_weight=2, random_state=0, **params).fit(*topics[0])
    with pytest.raises(ValueError, match="cannot be saved: params"):
        model.save(tmp_path / "m", overwrite=True)
    mlgt.load(tmp_path / "m")


@pytest.mark.parametrize("params", [{"normalize": 1}, {"verbose": 0.0}, {"n_jobs": 1.0}], ids=str)
def test_numbers_of_another_type_are_saved(topics, tmp_path, params):
    model = MLGTClassifier(n_groups=9, column_weight=2, ranker=None, random_state=0, **params)
    model.fit(*topics[0]).save(tmp_path / "m")
    assert mlgt.load(tmp_path / "m").get_params() == model.get_params()


@pytest.mark.parametrize("what", ["pipe", "link", "folder"])
def test_nothing_foreign_in_a_model_folder_is_removed(models, tmp_path, what):
    (old, _), _ = models
    old.save(tmp_path / "m")
    foreign = tmp_path / "m" / "mine"
    {"pipe": os.mkfifo, "link": lambda f: f.symlink_to("nowhere"), "folder": os.mkdir}[what](foreign)
    with pytest.raises(FileExistsError, match="mine"):
        old.save(tmp_path / "m", overwrite=True)
    assert os.path.lexists(foreign)
