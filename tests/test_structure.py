"""The tree reads as the data flow: a stage imports only what comes before it."""

import ast
import subprocess
import sys
from pathlib import Path

import mlgt

FLOW = (
    "_core data datasets text metrics labels groups classifiers decoding ranking blocks model estimators report "
    "cli __main__"
).split()
PACKAGE = Path(mlgt.__file__).parent


def imported_stages(file):
    """Names of the stages a module imports at its top level."""
    depth = len(file.relative_to(PACKAGE).parts)
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            yield from [node.module.split(".")[0]] if node.module else [a.name for a in node.names]


def test_every_module_has_its_place():
    stages = {f.relative_to(PACKAGE).parts[0].removesuffix(".py") for f in PACKAGE.rglob("*.py")}
    assert stages - {"__init__", "_version"} == set(FLOW)


def test_the_map_of_the_tree_names_every_module():
    text = Path(__file__).parents[1].joinpath("ARCHITECTURE.md").read_text("utf-8")
    missing = [stage for stage in FLOW if f"`{stage}.py`" not in text and f"`{stage}/`" not in text]
    assert missing == ["__main__"]


def test_imports_follow_the_flow():
    for file in PACKAGE.rglob("*.py"):
        stage = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for other in imported_stages(file):
            if stage in FLOW and other in FLOW:
                assert FLOW.index(other) < FLOW.index(stage), f"{file.name} ({stage}) imports {other}"


def test_importing_mlgt_is_light():
    heavy = "numpy scipy sklearn numba pandas joblib".split()
    code = f"import sys, mlgt; print([m for m in {heavy} if m in sys.modules], dir(mlgt))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("[]")
    assert "MLGTClassifier" in said
