"""`mlgt predict` of small inputs: what it imports, and the same answer without kernels."""

import json
import os
import subprocess
import sys

import pytest

from mlgt.cli import main
from mlgt.compile.kernels import ONE
from mlgt.data import read_xmc, write_xmc

HEAVY = "numba sklearn pandas matplotlib rich joblib scipy.optimize scipy.stats".split()
CODE = f"""
import sys
from mlgt.cli import main
main(sys.argv[1:])
print([m for m in {HEAVY} if m in sys.modules])
"""


@pytest.fixture(scope="module")
def texts(stories, tmp_path_factory):
    """A model of texts whose labels have names, and one text that is not ASCII alone."""
    folder = tmp_path_factory.mktemp("one")
    rows = [json.dumps({"text": text, "labels": labels}) for text, labels in zip(*stories)]
    (folder / "train.jsonl").write_text("\n".join(rows), "utf-8")
    assert main(["train", str(folder / "train.jsonl"), "--model", str(folder / "model"), "--quiet"]) == 0
    (folder / "one.txt").write_text("our Straße, cats and a judge of law\n", "utf-8")
    return folder / "model", folder / "one.txt"


@pytest.fixture(scope="module")
def row(folder):
    """A model of rows, and one row."""
    rows = read_xmc(folder / "test.txt.gz")
    write_xmc(folder / "one.txt", rows.X[:1], rows.Y[:1])
    return folder / "model", folder / "one.txt"


@pytest.fixture(scope="module")
def rows(folder):
    """A model of rows, and some more rows."""
    rows = read_xmc(folder / "test.txt.gz")
    write_xmc(folder / "some.txt", rows.X[:60], rows.Y[:60])
    assert (folder / "some.txt").stat().st_size > ONE
    return folder / "model", folder / "some.txt"


def predict(files, cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", CODE, "predict", *map(str, files), "-k", "4", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == ""
    *answer, imported = done.stdout.splitlines()
    return "\n".join(answer), imported


@pytest.mark.parametrize("kind", ["texts", "row", "rows"])
def test_small_inputs_are_answered_without_numba(kind, request, tmp_path, capsys):
    files = request.getfixturevalue(kind)
    answer, imported = predict(files, tmp_path / "cold")
    assert imported == "[]"
    assert (
        main(["predict", *map(str, files), "-k", "4", "--quiet"]) == 0
    )  # by kernels, which training loaded
    assert capsys.readouterr().out == answer + "\n"
