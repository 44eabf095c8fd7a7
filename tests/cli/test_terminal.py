"""Names, texts and paths from files cannot steer a terminal: control characters are shown as escapes."""

import io
import json
import os
import re
import sys
import threading
import warnings
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.errors import OneBlockWarning
from mlgt._core.progress import Narrator
from mlgt._core.terminal import visible, write_out
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
    "explain-verbose": ["explain", "{dir}/m", "the cat's cats \x1b[2J", "--verbose"],
    "compare": ["compare", "{dir}/m", "{dir}/m", "{dir}/rows.jsonl"],
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
    assert f"cat{EVIL}" in {label["name"] for label in first["predicted"]}


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


@pytest.mark.parametrize("form", ["names", "jsonl", "csv"])
def test_predictions_on_a_terminal_are_escaped(form, evil, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Screen())
    arguments = ["predict", str(evil / "m"), str(evil / "rows.jsonl"), "--text", f"text{EVIL}", "--quiet"]
    assert main([*arguments, "-k", "2", "--format", form]) == 0
    assert CONTROL.findall(sys.stdout.text) == []
    assert "\t" in sys.stdout.text or form != "names"


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


@contextmanager
def terminal(monkeypatch, *names):
    """Make the named streams a real terminal; yields a list of what it was sent, complete afterwards."""
    master, slave = os.openpty()
    sent = []

    def read():
        with suppress(OSError):  # EIO: nobody writes any more
            while data := os.read(master, 65536):
                sent.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    with monkeypatch.context() as patch:
        patch.setenv("TERM", "xterm")
        with open(slave, "w", encoding="utf-8") as screen:
            for name in names:
                patch.setattr(sys, name, screen)
            yield sent
    reader.join()
    os.close(master)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")
@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("kind", ["rows", "texts"])
def test_a_bar_on_the_terminal_takes_nothing_from_the_file(
    kind, buffered, evil, folder, tmp_path, monkeypatch
):
    arguments = ["predict", f"{folder}/model", f"{folder}/test.txt.gz"]
    if kind == "texts":
        arguments = ["predict", f"{evil}/m", f"{evil}/rows.jsonl", "--text", f"text{EVIL}"]
    assert main([*arguments, "-o", str(tmp_path / "expected")]) == 0
    with open(tmp_path / "out", "wb", buffering=-1 if buffered else 0) as raw:
        out = io.TextIOWrapper(raw, "utf-8", write_through=not buffered)
        with terminal(monkeypatch, "stderr") as sent:
            monkeypatch.setattr(sys, "stdout", out)
            assert main(arguments) == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() != b""
    assert "predicting" in b"".join(sent).decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")
def test_no_bar_between_predictions_on_a_terminal(folder, tmp_path, monkeypatch):
    arguments = ["predict", f"{folder}/model", f"{folder}/test.txt.gz"]
    assert main([*arguments, "-o", str(tmp_path / "expected")]) == 0
    with terminal(monkeypatch, "stdout", "stderr") as sent:
        assert main(arguments) == 0
    said = b"".join(sent).decode().replace("\r\n", "\n")
    assert "reading" in said
    assert "predicting" not in said
    assert (tmp_path / "expected").read_text() + "mlgt: 200 rows got 1000 labels" in said


class Raw(io.RawIOBase):
    """Takes three bytes at a time, as a slow pipe may."""

    taken = b""

    def write(self, data):
        self.taken += bytes(data[:3])
        return len(data[:3])


def test_a_stream_without_an_encoding_gets_utf8(monkeypatch):
    stream = SimpleNamespace(encoding=None, errors=None, buffer=Raw(), flush=lambda: None)
    monkeypatch.setattr(sys, "stdout", stream)
    write_out("Füße\n")
    assert stream.buffer.taken.decode() == f"Füße{os.linesep}"
