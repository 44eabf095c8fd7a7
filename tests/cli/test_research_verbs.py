"""The verbs of mlgt-research: refused with a hint where it is missing, listed where it is installed."""

from importlib import import_module
from types import SimpleNamespace

import pytest

from mlgt.cli import main

command = import_module("mlgt.cli.main")  # `mlgt.cli.main` is the function


@pytest.fixture
def installed(monkeypatch):
    """The entry points that the command finds."""
    entries = []

    def entry_points(*, group, name=None):
        assert group == "mlgt.verbs"
        return [entry for entry in entries if name in (None, entry.name)]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    return entries


@pytest.mark.parametrize("verb", command.RESEARCH)
def test_a_missing_verb_names_the_package(verb, installed, capsys):
    assert main([verb, "--help"]) == 2
    said = capsys.readouterr().err
    assert f"`mlgt {verb}` is part of mlgt-research" in said
    assert "pip install ./research" in said


def test_missing_verbs_are_not_listed(installed, capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = capsys.readouterr().out
    assert "train" in said
    assert not any(verb in said for verb in command.RESEARCH)


def test_installed_verbs_are_listed_and_run(installed, capsys):
    module = SimpleNamespace(
        __doc__="Measures.",
        SUMMARY="measure mlgt beside its peers",
        add_arguments=lambda parser: parser.add_argument("train"),
        run=lambda options: print(options.train, options.quiet),
    )
    installed.append(SimpleNamespace(name="bench", load=lambda: module))
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "measure mlgt beside its peers" in capsys.readouterr().out
    assert main(["bench", "rows.txt", "--quiet"]) == 0
    assert capsys.readouterr().out == "rows.txt True\n"
    assert main(["report", "results"]) == 2
    assert "pip install ./research" in capsys.readouterr().err
