"""The notebooks of docs/notebooks run from top to bottom and draw their pictures."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NEEDS_DATA = {"subject-headings"}


def pictures(notebook):
    return sum("image/png" in o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", []))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path, tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    if path.stem in NEEDS_DATA and not (Path(os.environ.get("MLGT_DATA", "")) / "YSO-Finna-en").is_dir():
        pytest.skip("MLGT_DATA has no YSO-Finna-en")
    notebook = nbformat.read(path, as_version=4)
    drawn = pictures(notebook)
    nbclient.NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": tmp_path}}).execute()
    assert pictures(notebook) == drawn > 0


def test_the_paper_takes_a_hundred_lines():
    import json

    cells = json.loads((FOLDER / "paper.ipynb").read_text("utf-8"))["cells"]
    code = "".join("".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code")
    assert len([line for line in code.splitlines() if line.strip()]) <= 100
