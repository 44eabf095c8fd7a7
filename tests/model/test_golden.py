"""Models written by earlier releases must load and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pytest

import mlgt
from mlgt.model.format import VERSION

GOLDEN = Path(__file__).parent / "golden"
MODELS = sorted(file.stem for file in GOLDEN.glob("*.json"))


def test_golden_models_are_complete():
    assert len(MODELS) == 24
    assert all((GOLDEN / name / "model.json").is_file() for name in MODELS)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("load", [mlgt.load, mlgt.Predictor])
def test_an_old_model_still_predicts_the_same(name, load):
    expected = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    model = load(GOLDEN / name)
    if "texts" in expected and load is mlgt.Predictor:
        rows = model.features_(expected["texts"])
    else:
        rows = expected.get("texts") or np.array(expected["rows"])
    labels, scores = model.predict_topk(rows, 4)
    assert labels.tolist() == expected["labels"]
    wanted = [[-np.inf if score is None else score for score in row] for row in expected["scores"]]
    np.testing.assert_allclose(scores, wanted, atol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_an_old_model_saved_again_stays_the_same(name, tmp_path):
    expected = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    mlgt.load(GOLDEN / name).save(tmp_path / "again")
    again = mlgt.load(tmp_path / "again")
    rows = expected.get("texts") or np.array(expected["rows"])
    assert again.predict_topk(rows, 4)[0].tolist() == expected["labels"]


@pytest.mark.parametrize("name", MODELS)
def test_old_parameters_are_valid(name):
    model = mlgt.load(GOLDEN / name)
    model = getattr(model, "classifier_", model)
    model._params(model.get_params(deep=False)).check(len(model.classes_))


def test_old_parameters_become_keys_and_the_version_is_the_current_one(tmp_path):
    old, new = mlgt.load(GOLDEN / "model-v1"), mlgt.load(GOLDEN / "model-v2")
    assert old.ranker_params == {"n_candidates": 8, "candidate_prior": 0.2}
    assert old.solver_params == {"tol": 0.01}
    assert (new.ranker_params, new.solver_params) == ({"n_candidates": 8, "centroids": True}, None)
    old.save(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))["format_version"] == VERSION
