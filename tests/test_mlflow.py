"""Models in the real MLflow: saved, logged, loaded and asked. It stores the folder without pickle."""

import numpy as np
import pandas as pd
import pytest

import mlgt

mlflow = pytest.importorskip("mlflow", reason='pip install "mlgt[mlflow]"')

import mlgt.mlflow  # noqa: E402
from mlgt import MLGTClassifier, TextTagger  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of MLflow


@pytest.fixture(scope="module")
def tagger():
    texts = ["the cat purrs", "a dog barks", "dog and cat", "no animal"] * 300
    return TextTagger(random_state=0).fit(texts, [["cats"], ["dogs"], ["cats", "dogs"], []] * 300)


def test_a_model_of_texts(tagger, tmp_path):
    mlgt.mlflow.save_model(tagger, tmp_path / "m", input_example=pd.DataFrame({"text": ["a cat"]}))
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    found = served.predict(
        pd.DataFrame({"text": ["my cat sleeps", "a dog"]}, index=[7, 9]), params={"k": 1}
    )
    assert found.labels.tolist() == [["cats"], ["dogs"]]
    assert found.index.tolist() == [7, 9]
    assert found.probabilities[7][0] == pytest.approx(tagger.tag("my cat sleeps", 1)[0][1])
    assert served.predict(["no animal"], params={"k": 0}).labels[0] == [
        n for n, _ in tagger.tag("no animal", "auto")
    ]
    assert len(served.predict(["dog and cat"]).labels[0]) == 2
    again = mlgt.mlflow.load_model(tmp_path / "m")
    assert again.tag("a cat and a dog") == tagger.tag("a cat and a dog")
    assert not [
        file for file in (tmp_path / "m").rglob("*") if "pkl" in file.suffix or "pickle" in file.name
    ]
    assert f"mlgt=={mlgt.__version__}" in (tmp_path / "m" / "requirements.txt").read_text()


def test_a_model_of_rows(topics, tmp_path):
    (X, Y), (X_test, _) = topics
    model = MLGTClassifier(random_state=0).fit(X, Y)
    mlgt.mlflow.save_model(model, tmp_path / "m")
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    expected, _ = model.predict_topk(X_test, 3)
    for form in (X_test, X_test.toarray(), pd.DataFrame(X_test.toarray())):
        assert (np.array(served.predict(form, params={"k": 3}).labels.tolist()) == expected).all()


def test_a_run_logs_the_model(tagger, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # mlflow-skinny has no other
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run():
        logged = mlgt.mlflow.log_model(tagger, "tags")
    assert mlgt.mlflow.load_model(logged.model_uri).tag("cat") == tagger.tag("cat")


def test_models_of_others_are_refused(tmp_path):
    class Other(mlflow.pyfunc.PythonModel):
        def predict(self, model_input: list[str]) -> list[str]:
            return model_input

    mlflow.pyfunc.save_model(str(tmp_path / "m"), python_model=Other(), pip_requirements=[])
    with pytest.raises(ValueError, match="is no model of mlgt: its flavours are python_function"):
        mlgt.mlflow.load_model(tmp_path / "m")
