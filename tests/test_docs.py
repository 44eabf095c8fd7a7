"""The docs: their examples run as they are printed, page by page, and what they name exists."""

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mlgt
from references.shell import run_shell

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", flags=re.S | re.M)
SLOW = {"saffron.md"}
CHECKED_ELSEWHERE = {"daily-work.md", "serve.md"}
"""Run by cli/test_daily_work.py and serve/test_five_minutes.py, which look at what the commands do."""
REMOVED = (
    "weight_bits",
    r"mlgt\.solve\b",
    "rehears",
    r"\bcompanions_\b(?!\*)",
    "benchmarks/",
    "experiments/",
)
PROSE = sorted([*DOCS.glob("*.md"), *DOCS.parent.glob("CONTRIBUTING.md")])
LINKED = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "research/*.md", "research/results/*.md", "integrations/*/*.md")
    for page in DOCS.parent.glob(pattern)
)
PAGES = sorted(page.name for page in DOCS.glob("*.md") if BLOCK.search(page.read_text("utf-8")))


def blocks(page):
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


@pytest.mark.skipif(not PAGES, reason="the docs are not beside the tests")
def test_there_are_examples():
    assert {"start.md", "growing.md", "faq.md", "formats.md"} <= set(PAGES)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * (page in SLOW))
        for page in PAGES
        if page not in CHECKED_ELSEWHERE
    ],
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
            run_shell(code, tmp_path)


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_removed_names_are_not_mentioned(page):
    assert re.findall("|".join(REMOVED), page.read_text("utf-8")) == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_names_and_files_exist(page):
    """Dotted names such as `mlgt.data.read_xmc`, and paths below the root of the repository."""
    text = page.read_text("utf-8")
    for name in set(re.findall(r"`(mlgt(?:\.\w+)+)", text)):
        pkgutil.resolve_name(name)
    for path in set(re.findall(r"\b(?:src|tests|scripts|examples|research)/[\w./-]+\w", text)):
        root = DOCS.parent / path.partition("/")[0]
        assert "yours" in path or not root.exists() or (DOCS.parent / path).exists(), path


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_links_lead_to_files_and_headings(page):
    """As a reader of the repository follows them; `mkdocs build --strict` checks those of the site."""
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.S)
    for target in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not (DOCS.parent / "research").is_dir() and "research" in file.parts:
            continue  # an sdist has no research/
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page.name} links to {target}, which has no such heading"


def anchors(page):
    """The names of the headings of a page, as GitHub and MkDocs make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M)
    titles = [title.lower() for title in re.findall(r"^#+ (.*)$", text, flags=re.M)]
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


def test_the_page_of_benchmarks_is_that_of_the_results(tmp_path):
    """And its picture can be drawn."""
    if not (DOCS.parent / "research" / "results").is_dir():
        pytest.skip("the results are not beside the tests")
    script = DOCS.parent / "scripts" / "draw_benchmarks.py"
    subprocess.run([sys.executable, script, "--out", tmp_path], check=True)
    drawn = (tmp_path / "benchmarks.md").read_text("utf-8")
    assert drawn == (DOCS / "benchmarks.md").read_text("utf-8"), f"run python {script}"
    assert (tmp_path / "pictures" / "benchmarks.svg").stat().st_size > 10_000


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocstrings", reason='the docs site needs pip install ".[docs]"')
    if not (DOCS.parent / "research").is_dir():
        pytest.skip("the site has pages of research/, which is not beside the tests")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    page = (tmp_path / "site" / "command" / "index.html").read_text("utf-8")
    assert "mlgt doctor" in page
    assert "predict_topk" in (tmp_path / "site" / "api" / "index.html").read_text("utf-8")
