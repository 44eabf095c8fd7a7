"""The public API: documented in full, typed, and with examples that run."""

import ast
import doctest
import importlib
import inspect
import os
from pathlib import Path

import pytest

import mlgt
from mlgt.cli.main import VERBS

PACKAGE = Path(mlgt.__file__).parent
CLASSES = ("MLGTClassifier", "HierarchicalMLGTClassifier", "TextTagger", "Predictor")
REQUIRED = (
    "GL02 GL03 GL06 GL07 SS02 SS03 SS05 PR01 PR02 PR03 PR04 PR05 PR06 PR07 PR08 RT01 RT03 RT04".split()
)
"""Checks of numpydoc: sections, order, every parameter with its type and a sentence, what is returned."""
INHERITED = {"set_score_request", "set_fit_request", "set_params", "get_params", "get_metadata_routing"}
"""Methods that scikit-learn writes and documents."""
WITH_EXAMPLES = ["mlgt.estimators.flat", "mlgt.estimators.hierarchical", "mlgt.estimators.tagger"]
WITH_EXAMPLES += ["mlgt.model.predictor", "mlgt.metrics.measures", "mlgt.data.datasets", "mlgt.data.xmc"]
WITH_EXAMPLES += ["mlgt.vocabulary.vocabulary"]


def public_names():
    """Dotted names of everything that the docs call public."""
    yield from ("mlgt.load", "mlgt.keep_work", "mlgt.on_cluster")
    for name in CLASSES:
        yield f"mlgt.{name}"
        for method, value in inspect.getmembers(getattr(mlgt, name)):
            if not method.startswith("_") and callable(value) and method not in INHERITED:
                yield f"mlgt.{name}.{method}"
    yield from ("mlgt.metrics.evaluate", "mlgt.data.read_xmc", "mlgt.data.write_xmc")
    yield "mlgt.vocabulary.read_vocabulary"
    yield from ("mlgt.datasets.load", "mlgt.datasets.load_debtags", "mlgt.estimators.make_estimator")


@pytest.mark.parametrize("name", public_names())
def test_docstrings_follow_numpydoc(name):
    validate = pytest.importorskip("numpydoc.validate", reason='checked with pip install ".[dev]"').validate
    errors = [f"{code}: {text}" for code, text in validate(name)["errors"] if code in REQUIRED]
    assert errors == []


@pytest.mark.parametrize("name", CLASSES[:3])
def test_every_parameter_is_documented(name):
    kind = getattr(mlgt, name)
    described = inspect.getdoc(kind)
    for parameter in inspect.signature(kind.__init__).parameters:
        assert parameter == "self" or parameter in described, parameter


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_in_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


def test_the_classifier_has_few_parameters():
    assert len(mlgt.MLGTClassifier().get_params()) <= 19


def unannotated(file):
    """Public functions and methods of a module that lack a type somewhere."""
    tree = ast.parse(file.read_text("utf-8"))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")
    for parent in [tree, *classes]:
        for node in parent.body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if any("kernel" in ast.unparse(decorator) for decorator in node.decorator_list):
                continue
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            arguments += [extra for extra in (node.args.vararg, node.args.kwarg) if extra]
            named = [a for a in arguments if a.arg not in ("self", "cls")]
            if node.returns is None or any(a.annotation is None for a in named):
                yield f"{file.relative_to(PACKAGE)}: {node.name}"


def test_public_functions_are_typed():
    public = [
        f for f in sorted(PACKAGE.rglob("*.py")) if not f.name.startswith("_") or f.name == "__init__.py"
    ]
    assert [name for file in public for name in unannotated(file)] == []


def test_names_that_others_rely_on():
    assert set(CLASSES) | {"load", "datasets", "data", "metrics"} <= set(mlgt.__all__)
    verbs = "demo train predict evaluate compare explain inspect update prune synth doctor".split()
    assert set(verbs) <= set(VERBS)
    for module in ("mlgt.datasets", "mlgt.data", "mlgt.metrics", "mlgt.errors"):
        assert importlib.import_module(module).__all__
    assert os.path.isdir(PACKAGE)
