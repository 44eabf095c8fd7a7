"""Run the notebooks of docs/notebooks and keep their outputs, without what differs from run to run.

pip install nbclient ipykernel && MLGT_DATA=... python scripts/run_notebooks.py [NAME ...]
"""

import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def run(path):
    """Execute a notebook in an empty folder and write it back."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        options = {"timeout": 1200, "coalesce_streams": True, "resources": {"metadata": {"path": folder}}}
        nbclient.NotebookClient(notebook, **options).execute()
    notebook.metadata = METADATA
    for cell in notebook.cells:
        cell.metadata = {}
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for path in [FOLDER / f"{name}.ipynb" for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        run(path)
