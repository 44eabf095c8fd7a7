"""The examples of other tools in docs/coming-from.md run where those are installed, and find labels."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"
MODULES = {
    "omikuji": "omikuji",
    "PECOS": "pecos",
    "napkinXC": "napkinxc",
    "fastText": "fasttext",
    "scikit-multilearn": "skmultilearn",
}
RIGHT = 0.5
"""Share of first labels that must be right: less would mean that an example is wrong."""


def sections():
    """(title, text) of each section with an example of another tool."""
    parts = re.split(r"^## (.*)\n", PAGE.read_text("utf-8"), flags=re.M)
    return [(title, text) for title, text in zip(parts[1::2], parts[2::2]) if "```py\n" in text]


def test_every_tool_has_its_section():
    assert [title for title, _ in sections()] == list(MODULES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the other tools
@pytest.mark.parametrize(("title", "text"), sections(), ids=[title for title, _ in sections()])
def test_the_example_of_another_tool_finds_labels(title, text, tmp_path, monkeypatch):
    if importlib.util.find_spec(MODULES[title]) is None:
        pytest.skip(f'{title} is not installed; pip install "./research[peers]" scikit-multilearn')
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    head = PAGE.read_text("utf-8").partition("\n## ")[0]
    for code in re.findall(r"^```python\n(.*?)^```", head, flags=re.S | re.M):
        exec(compile(code, "head", "exec"), names)
    for code in re.findall(r"^```py\n(.*?)^```", text, flags=re.S | re.M):
        exec(compile(code, title, "exec"), names)
    truth = names["data"].test.Y[:500].toarray()
    ours = names["model"].predict_topk(names["X_new"], 1)[0]
    for answers in (names["found"], ours):
        assert np.mean([truth[i, row[0]] for i, row in enumerate(answers)]) > RIGHT
