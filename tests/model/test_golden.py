"""Models written by earlier releases must load and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pytest

import mlgt

GOLDEN = Path(__file__).parent / "golden"
MODELS = sorted(file.stem for file in GOLDEN.glob("*.json"))


def test_golden_models_are_complete():
    assert len(MODELS) == 18
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
