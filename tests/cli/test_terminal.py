"""Names, texts and paths from files cannot steer a terminal: control characters are shown as escapes."""

import json
import os
import re
import sys
import warnings
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.errors import OneBlockWarning
from mlgt._core.progress import Narrator
from mlgt._core.terminal import visible
from mlgt.cli import doctor, main
from mlgt.cli.console import Bars
from mlgt.report import draw_demo

EVIL = "\x1b[31m\x07\x9b2J\u202e\u2066\x7f"
SHOWN = r"\x1b[31m\x07\x9b2J\u202e\u2066\x7f"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def test_control_characters_become_escapes():
    assert visible(EVIL) == SHOWN
    assert visible("a\nb\tc", keep="\n") == r"a" "\n" r"b\tc"
    assert visible(os.fsdecode(b"caf\xe9")) == r"caf\udce9"
    assert visible("Füße ≠ 足 🙂") == "Füße ≠ 足 🙂"


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A file of texts whose words, labels and columns hold control characters, and a model of it."""
    folder = tmp_path_factory.mktemp("evil") / f"dir{EVIL}"
    folder.mkdir()
    rows = [
        {
            f"text{EVIL}": f"{kind} {kind}s word{i % 7}",
            "labels": [f"{kind}{EVIL}", f"x{i % 3}\r\n$\\frac{{"],
        }
        for i in range(400)
        for kind in ("cat", "dog")
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    columns = ["--text", f"text{EVIL}"]
    assert (
        main(["train", str(folder / "rows.jsonl"), "--model", str(folder / "m"), *columns, "--quiet"]) == 0
    )
    return folder


COMMANDS = {
    "inspect": ["inspect", "{dir}/m"],
    "evaluate": ["evaluate", "{dir}/m", "{dir}/rows.jsonl"],
    "explain": ["explain", "{dir}/m", "the cat's cats \x1b[2J"],
    "no-model": ["inspect", "{dir}/none"],
    "no-column": ["predict", "{dir}/m", "{dir}/rows.jsonl", "--text", f"no{EVIL}"],
    "no-file": ["predict", "{dir}/m", "{dir}/none.jsonl"],
    "bad-number": ["predict", "{dir}/m", "{dir}/rows.jsonl", "-k", f"1{EVIL}"],
    "bad-option": ["predict", "{dir}/m", "{dir}/rows.jsonl", f"--no{EVIL}"],
    "bad-verb": [f"no{EVIL}"],
    "bad-choice": ["train", "x", "--model", "y", "--method", f"no{EVIL}"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_shown_has_control_characters(name, evil, capsys):
    with suppress(SystemExit):
        main([argument.format(dir=evil) for argument in COMMANDS[name]])
    said = "".join(capsys.readouterr())
    assert CONTROL.findall(said) == []
    assert "\\x1b[" in said


def test_files_and_pipes_keep_names_as_they_are(evil, tmp_path, capsys):
    arguments = ["predict", str(evil / "m"), str(evil / "rows.jsonl"), "--text", f"text{EVIL}", "-k", "2"]
    assert main(arguments) == 0
    assert f"cat{EVIL}:" in capsys.readouterr().out
    assert main([*arguments, "--format", "jsonl", "-o", str(tmp_path / "out")]) == 0
    first = json.loads((tmp_path / "out").read_text("utf-8").splitlines()[0])
    assert f"cat{EVIL}" in {label["name"] for label in first["labels"]}


class Screen:
    """Standard output that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("form", ["names", "jsonl"])
def test_predictions_on_a_terminal_are_escaped(form, evil, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Screen())
    arguments = ["predict", str(evil / "m"), str(evil / "rows.jsonl"), "--text", f"text{EVIL}", "--quiet"]
    assert main([*arguments, "-k", "2", "--format", form]) == 0
    assert CONTROL.findall(sys.stdout.text) == []
    assert "\t" in sys.stdout.text or form == "jsonl"


def test_json_on_a_terminal_is_json_without_control_characters(evil, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Screen())
    assert main(["explain", str(evil / "m"), "cats", "--json"]) == 0
    assert CONTROL.findall(sys.stdout.text) == []
    assert f"cat{EVIL}" in {label["name"] for label in json.loads(sys.stdout.text)["labels"]}


def test_pages_and_pictures_take_any_name(evil, tmp_path, capsys):
    picture, page = tmp_path / "a.png", tmp_path / "a.html"
    files = ["--plot", str(picture), "--html", str(page), "--text", f"text{EVIL}"]
    tricky = tmp_path / "$\\frac{<b>"
    tricky.symlink_to(evil)
    assert main(["evaluate", str(tricky / "m"), str(tricky / "rows.jsonl"), *files]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text("utf-8")
    assert CONTROL.findall(text) == []
    assert "<b>" not in text.replace("<b>0", "").replace("<b>1", "").replace("<b>2", "")
    assert "$\\frac{&lt;b&gt;" in text


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_file_name_that_is_not_text(tmp_path, capsys):
    assert main(["inspect", os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9\n.txt")]) == 2
    said = capsys.readouterr().err
    assert r"caf\udce9\n.txt is not a model folder" in said
    assert said.count("\n") == 1


def test_progress_and_warnings_are_escaped(monkeypatch, capsys):
    def run(options):
        Narrator(1).say(EVIL)
        with Bars().stage(f"{EVIL}[/]"):
            warnings.warn(EVIL, OneBlockWarning, stacklevel=1)

    monkeypatch.setattr(doctor, "run", run)
    assert main(["doctor"]) == 0
    said = capsys.readouterr().err
    assert CONTROL.findall(said) == []
    assert f"{SHOWN}[/]" in said
    assert said.count(f"mlgt: {SHOWN}\n") == 2


def test_pictures_of_labels_take_any_name(tmp_path):
    Y = sp.csr_array(np.eye(12, dtype=np.float32))
    names = [f"$\\frac{{{i}{EVIL}::a" for i in range(12)]
    draw_demo(tmp_path / "a.png", Y, names, -np.arange(12.0), (names[0], {0}), {"mlgt": {1: 0.5}})
    assert (tmp_path / "a.png").stat().st_size > 0
