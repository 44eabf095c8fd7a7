"""Models written by earlier releases must load and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pytest

import mlgt

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["model-v1", "model-v2"])
def test_an_old_model_still_predicts_the_same(name):
    expected = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    for model in (mlgt.load(GOLDEN / name), mlgt.Predictor(GOLDEN / name)):
        labels, scores = model.predict_topk(np.array(expected["rows"]), 4)
        assert labels.tolist() == expected["labels"]
        np.testing.assert_allclose(scores, expected["scores"], atol=1e-3)
        assert model.classes_[3] == "topic 3"
