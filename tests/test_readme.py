"""The README's examples run as they are printed."""

import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from mlgt.cli import main

README = Path(__file__).parents[1] / "README.md"
pytestmark = pytest.mark.skipif(not README.is_file(), reason="the README is not beside the tests")


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", README.read_text("utf-8"), flags=re.S | re.M)[1]


def run_python(title):
    (code,) = re.findall(r"```python\n(.*?)```", section(title), flags=re.S)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    return names


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_python("From Python")
    assert float(capsys.readouterr().out) > 0.8
    assert (tmp_path / "model" / "model.json").is_file()


def test_the_example_of_texts_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tagger = run_python("From texts")["tagger"]
    ((name, probability),) = tagger.tag("my cat sleeps", k=1)
    assert name == "cats"
    assert round(probability, 2) == 0.99
    ((word, share),) = tagger.explain("my cat sleeps").labels[0].words
    assert (word, round(share, 2)) == ("cat", 0.95)


def test_the_commands_on_texts_run(tmp_path, monkeypatch, capsys):
    """From a CSV of texts to named tags with reasons, as printed."""
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    (\S.*?)(?:\s+#.*)?$", section("From texts"), flags=re.M)
    commands = [line for line in commands if "mlgt" in line]
    assert len(commands) == 5
    said = {}
    for line in commands:
        before, pipe, after = line.partition(" | ")
        if pipe:
            stdin = shlex.split(before)[1] + "\n"
            stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin.encode())))
            monkeypatch.setattr(sys, "stdin", stream)
        program, verb, *arguments = shlex.split(after or before)
        assert program == "mlgt"
        assert main([verb, *arguments]) == 0
        said[verb] = capsys.readouterr().out
    assert "game::board:chess 0." in said["predict"]
    assert re.search(r"game::board:chess: probability 0\.\d+\n +a \[\+chess\]", said["explain"])
    precision = re.search(r"P@k +(\d\.\d+)", said["evaluate"])
    assert float(precision[1]) > 0.78
