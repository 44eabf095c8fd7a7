"""The docs: what they show runs as it is printed, page by page, in the order of the blocks."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mlgt

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", flags=re.S | re.M)
SLOW = {"saffron.md"}
PAGES = sorted(page.name for page in DOCS.glob("*.md") if BLOCK.search(page.read_text("utf-8")))


def blocks(page):
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


def shell(code, folder):
    """Run a block with `mlgt` being this very one."""
    command = folder / "bin" / "mlgt"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mlgt "$@"\n')
    command.chmod(0o755)
    paths = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", code],
        cwd=folder,
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not PAGES, reason="the docs are not beside the tests")
def test_there_are_examples():
    assert {"start.md", "growing.md", "faq.md", "formats.md"} <= set(PAGES)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in SLOW)) for page in PAGES]
)
def test_the_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for language, code in blocks(page):
        if "TextTagger" not in mlgt.__all__ and ("TextTagger" in code or ".jsonl" in code):
            continue
        if language == "python":
            exec(compile(code, page, "exec"), names)
        elif os.name == "posix":
            shell(code, tmp_path)


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason='the docs site needs pip install ".[docs]"')
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    page = (tmp_path / "site" / "command" / "index.html").read_text("utf-8")
    assert "mlgt doctor" in page
    assert "predict_topk" in (tmp_path / "site" / "api" / "index.html").read_text("utf-8")
