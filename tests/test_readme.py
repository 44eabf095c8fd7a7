"""The README's Python example runs as it is printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    if not README.is_file():
        pytest.skip("the README is not beside the tests")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), flags=re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert float(capsys.readouterr().out) > 0.8
    assert (tmp_path / "model" / "model.json").is_file()
