"""The notebooks of docs/notebooks run from top to bottom and draw their pictures."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from mlgt.metrics import modified_precision_at, precision_at

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


def code_of_the_paper():
    cells = json.loads((FOLDER / "paper.ipynb").read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code"]


def test_the_paper_takes_a_hundred_lines():
    code = "".join(code_of_the_paper())
    assert len([line for line in code.splitlines() if line.strip()]) <= 100


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_measures_of_the_paper_are_those_of_mlgt(k):
    rng = np.random.default_rng(k)
    Y, scores = rng.random((50, 12)) < 0.3, rng.random((50, 12))
    names = {"np": np}
    (cell,) = (code for code in code_of_the_paper() if "def precision_at" in code)
    exec(cell.split("\n\n\n")[0], names)
    best = np.argsort(-scores, axis=1)[:, :5]
    assert names["precision_at"](Y, scores, k) == pytest.approx(precision_at(Y, best, k))
    assert names["precision_at"](Y, scores, k, among=5) == pytest.approx(modified_precision_at(Y, best, k))
