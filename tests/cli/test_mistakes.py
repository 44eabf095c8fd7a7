"""Errors in files, requests and models are reported in one line, and nothing is left behind."""

import errno
import gzip
import json
import os

import pytest

from mlgt.cli import doctor, main
from references.headers import write_header

BAD_FILES = {
    "label-range": (b"2 3 3\n0 1:1\n3 2:1\n", "line 3: label 3 is out of range for 3 labels"),
    "ids-from-one": (b"2 3 3\n0 1:1\n3 2:1\n", "If yours start at 1, pass --first-label 1."),
    "feature-range": (b"1 3 3\n0 3:1\n", "line 2: feature 3 is out of range for 3 features"),
    "malformed": (b"1 3 3\n0 1=1\n", "line 2: '1=1' has no colon"),
    "nan": (b"1 3 3\n0 1:nan\n", "line 2: the value 'nan' of feature 1 is not finite"),
    "infinity": (b"1 3 3\n0 1:inf\n", "line 2: the value 'inf' of feature 1 is not finite"),
    "too-few-rows": (
        b"3 3 3\n0 1:1\n",
        "the file ends after 1 rows; expected the 3 that the header counts",
    ),
    "too-many-rows": (b"1 3 3\n0 1:1\n1 1:1\n", "line 3: the header counts 1 rows, but here is one more"),
    "10^12-labels": (b"1 3 1000000000000\n0 1:1\n", "line 1: the header counts 1000000000000 labels"),
    "no-label-at-all": (b"2 3 3\n 1:1\n 2:1\n", "no positive label in any row"),
    "empty": (b"", "the file is empty"),
    "header-only": (b"0 3 3\n", "the file has no rows"),
    "no-features": (b"1 0 3\n0\n", "the file has no features"),
    "binary": (b"1 3 3\n\0\1\2", "a NUL byte, so this is not text"),
    "truncated-gzip": (gzip.compress(b"1 3 3\n0 1:1\n" * 50)[:-12], "the gzip data is cut short"),
    "corrupt-gzip": (b"\x1f\x8b" + b"nonsense" * 9, "the gzip data is corrupt"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_training_file_gives_one_clear_message(name, tmp_path, capsys):
    content, message = BAD_FILES[name]
    (tmp_path / "bad.txt").write_bytes(content)
    assert main(["train", str(tmp_path / "bad.txt"), "--model", str(tmp_path / "m")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    assert [f.name for f in tmp_path.iterdir()] == ["bad.txt"]


BAD_REQUESTS = {
    "c-above-m": (["train", "{train}", "--model", "{new}", "--n-groups", "4", "--column-weight", "5"],
                  "--column-weight 5 exceeds 4, the number of groups"),
    "few-for-saffron": (["train", "{train}", "--model", "{new}", "--method", "saffron", "--n-groups", "9"],
                        "9 groups do not make 1 bins for 30 labels"),
    "k-above-d": (["predict", "{model}", "{test}", "-k", "31"],
                  "-k 31 exceeds 30, the number of labels the model knows. Pass -k 30 or less."),
    "no-such-file": (["train", "{new}", "--model", "{new}"], "there is no such file"),
    "folder-for-file": (["train", "{folder}", "--model", "{new}"], "this is a folder"),
    "file-for-model": (["predict", "{train}", "{test}"], "is not a model folder"),
    "no-such-model": (["evaluate", "{new}", "{test}"], "there is no such folder"),
    "model-in-a-file": (["train", "{train}", "--model", "{train}"], "is no model folder"),
    "model-below-a-file": (["train", "{train}", "--model", "{train}/m"], "train.txt"),
    "output-is-a-folder": (["predict", "{model}", "{test}", "-o", "{folder}"], "this is a folder"),
    "output-nowhere": (["predict", "{model}", "{test}", "-o", "{new}/out"], "does not exist"),
    "model-here": (["train", "{train}", "--model", "."], "is the current folder"),
    "picture-nowhere": (["demo", "-o", "{new}/x.png"], "the folder of the picture does not exist"),
    "names-miscounted": (["train", "{train}", "--model", "{new}", "--label-names", "{train}"],
                         "401 lines, but there are 30 labels"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_gives_one_clear_message(name, folder, capsys):
    arguments, message = BAD_REQUESTS[name]
    places = {
        "train": folder / "train.txt", "test": folder / "test.txt.gz", "model": folder / "model",
        "new": folder / "new", "folder": folder,
    }  # fmt: skip
    before = sorted(folder.rglob("*"))
    assert main([argument.format(**places) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("option", [["-k", "0"], ["-k", "many"], ["--jobs", "0"], ["--magic"]])
def test_bad_options_are_explained_by_the_parser(option, folder, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["predict", str(folder / "model"), str(folder / "test.txt.gz"), *option])
    assert stop.value.code == 2
    assert option[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "content", "message"),
    [
        ("predict", "1 99 30\n0 1:1\n", "the header counts 99 features, but the model in"),
        ("evaluate", "1 99 30\n0 1:1\n", "was trained with 120"),
        ("update", "1 99 30\n0 1:1\n", "the header counts 99 features, but the model in"),
        ("evaluate", "1 120 31\n0 1:1\n", "the header counts 31 labels, but the model in"),
        ("predict", "0 120:1\n", "line 1: feature 120 is out of range for 120 features"),
        ("evaluate", "30 1:1\n", "line 1: label 30 is out of range for 30 labels"),
        ("evaluate", "0 120 30\n", "the file has no rows"),
        ("predict", "0 1:x\n", "is not a number"),
    ],
)
def test_rows_of_another_shape_than_the_models(verb, content, message, folder, tmp_path, capsys):
    (tmp_path / "other.txt").write_text(content)
    out = ["--out", str(tmp_path / "new")] if verb == "update" else []
    assert main([verb, str(folder / "model"), str(tmp_path / "other.txt"), *out]) == 2
    assert message in capsys.readouterr().err


def test_too_many_open_files_come_with_advice(monkeypatch, capsys):
    def run(options):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "coef.npy")

    monkeypatch.setattr(doctor, "run", run)
    assert main(["doctor"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mlgt: coef.npy: ")
    assert said.endswith("; raise the limit on the number of open files (ulimit -n).\n")


def edit_header(**changes):
    def damage(folder):
        header = json.loads((folder / "model.json").read_text())
        write_header(folder, header | changes)

    return damage


def flip_last_byte(folder):
    content = bytearray((folder / "coef.npy").read_bytes())
    content[-1] ^= 1
    (folder / "coef.npy").write_bytes(content)


DAMAGES = {
    "missing": (lambda m: (m / "coef.npy").unlink(), "coef.npy is missing"),
    "truncated": (lambda m: os.truncate(m / "coef.npy", 100), "coef.npy has 100 bytes; expected"),
    "altered": (flip_last_byte, "coef.npy was altered"),
    "no-header": (lambda m: (m / "model.json").unlink(), "it has no model.json"),
    "broken-header": (lambda m: os.truncate(m / "model.json", 50), "cannot be read as JSON"),
    "newer": (edit_header(format_version=99, mlgt_version="9.9"), "written by mlgt 9.9"),
    "incomplete": (edit_header(params={}), "does not describe a whole model"),
}


@pytest.mark.parametrize("verb", ["predict", "evaluate", "inspect"])
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_model_gives_one_clear_message(verb, name, folder, tmp_path, capsys):
    import shutil

    damage, message = DAMAGES[name]
    shutil.copytree(folder / "model", tmp_path / "m")
    damage(tmp_path / "m")
    rows = [] if verb == "inspect" else [str(folder / "test.txt.gz")]
    assert main([verb, str(tmp_path / "m"), *rows, *(["--verify"] if verb == "inspect" else [])]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert "Traceback" not in said.err
