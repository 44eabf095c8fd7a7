"""The tree reads as the data flow, and no file, function or package outgrows its idea."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mlgt

FLOW = (
    "compile _core tasks text data vocabulary metrics labels groups classifiers decoding ranking blocks "
    "model teaching training estimators evaluation report serve cli"
).split()
ALIASES = {"__init__", "__main__", "_version", "datasets", "errors", "mlflow"}
"""Modules beside the packages: they import, and `mlflow` is the face of a model in MLflow."""
PACKAGE = Path(mlgt.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def stage_of(file):
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_stages(file):
    """The stages that a module imports, at its top level or inside a function."""
    depth = len(file.relative_to(PACKAGE).parts)
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            yield from [node.module.split(".")[0]] if node.module else [a.name for a in node.names]


def test_every_module_has_its_place():
    assert {stage_of(file) for file in FILES} == set(FLOW) | ALIASES


def test_the_map_of_the_tree_names_every_package():
    text = Path(__file__).parents[1].joinpath("ARCHITECTURE.md").read_text("utf-8")
    assert [stage for stage in FLOW if f"`{stage}/`" not in text] == []


@pytest.mark.parametrize("stage", FLOW)
def test_imports_follow_the_flow(stage):
    for file in FILES:
        if stage_of(file) == stage:
            for other in set(imported_stages(file)) & set(FLOW):
                assert FLOW.index(other) < FLOW.index(stage), f"{file} imports {other}"


def test_only_estimators_and_commands_compose():
    """Mathematics knows no model, estimator, file of a model or command."""
    composing = {"model", "teaching", "training", "estimators", "evaluation", "report", "serve", "cli"}
    for file in FILES:
        if stage_of(file) in set(FLOW) - composing:
            assert not composing & set(imported_stages(file)), file


def test_sizes():
    lines = {file: len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert {str(file): n for file, n in lines.items() if n > 400} == {}
    totals = {stage: sum(n for file, n in lines.items() if stage_of(file) == stage) for stage in FLOW}
    assert {stage: n for stage, n in totals.items() if n > 3100} == {}
    assert sum(lines.values()) < 32_720


def test_functions_fit_on_a_screen():
    long = [
        f"{file.name}: {node.name}"
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 60
    ]
    assert long == []


def test_few_files_know_keys_of_the_header():
    """`format.py`, `entries.py` and `header.py` own the header; others still read or make a few keys."""
    keys = r'header(\.get\(|\[)"|\btext\["|owner\[|"default_classifier"|params\["\w+"\] is None'
    knowing = {file.name for file in FILES if re.search(keys, file.read_text("utf-8"))}
    own = {"format.py", "entries.py", "header.py"}
    others = {"reading.py", "load.py", "tagger.py", "base.py", "hierarchical.py", "inspect.py"}
    assert knowing - own == others


def test_importing_mlgt_is_light():
    heavy = "numpy scipy sklearn numba pandas joblib".split()
    code = f"import sys, mlgt; print([m for m in {heavy} if m in sys.modules], dir(mlgt))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("[]")
    assert "MLGTClassifier" in said


def test_prediction_does_not_import_scikit_learn():
    code = "import sys; from mlgt import Predictor; print('sklearn' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"
