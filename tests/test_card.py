"""Cards of models: every model has one, its figures are of the rows that it names, names stay names."""

import json
from pathlib import Path

import numpy as np
import pytest

from mlgt import MLGTClassifier, load
from mlgt.cli import main
from mlgt.model.reading import make_model, open_model
from mlgt.report.card import check_model, model_card

GOLDEN = sorted(path.parent for path in (Path(__file__).parent / "model" / "golden").glob("*/model.json"))


@pytest.fixture(scope="module")
def model(families):
    X, Y = families[0]
    return MLGTClassifier(n_groups=24, random_state=0).fit(X, Y)


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_every_model_has_a_card(folder):
    header, arrays = open_model(folder)
    card = model_card(folder.name, header, make_model(header, arrays)[1], [])
    assert header.get("digest", "none: written by an older release") in card
    assert [line for line in card.splitlines() if line.startswith("## ")] == [
        "## Data", "## Figures", "## Calibration", "## Limits",
    ]  # fmt: skip


def test_figures_are_those_of_the_rows_kept_out_of_training(model):
    """P@1 counted label by label."""
    sample = model.fitted_model().sample
    X, Y = sample.X[sample.checked], sample.Y[sample.checked]
    labels = model.fitted_model().top_k(X, 1)[0][:, 0]
    expected = np.mean(Y.toarray()[np.arange(len(labels)), labels])
    assert check_model(model.fitted_model())["P@1"] == pytest.approx(expected)


def test_names_cannot_change_the_card(model, tmp_path):
    hostile = "| a |\n# *x* <b> [y](http://z) \x1b[31m"
    model.name_labels([f"{hostile} {i}" for i in range(model.n_labels_)]).save(
        tmp_path / "m", overwrite=True
    )
    assert main(["inspect", str(tmp_path / "m"), "--card", str(tmp_path / "card.md")]) == 0
    lines = (tmp_path / "card.md").read_text("utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith("| most frequent"))
    assert r"\| a \|\\n\# \*x\* \<b\> \[y\](http://z) \\x1b\[31m" in line
    assert len([line for line in lines if line.startswith("# ")]) == 1
    assert load(tmp_path / "m").classes_[0].startswith(hostile)


def test_an_evaluation_is_included(model, tmp_path, capsys):
    model.save(tmp_path / "m", overwrite=True)
    report = {"P@1": 0.125, "n": 77, "intervals": {"P@1": [0.1, 0.2]}, "calibration_error": 0.0625}
    (tmp_path / "report.json").write_text(json.dumps(report))
    inspect = ["inspect", str(tmp_path / "m"), "--evaluation", str(tmp_path / "report.json")]
    assert main(inspect) == 2
    assert "--evaluation has no effect without --card" in capsys.readouterr().err
    inspect += ["--card", str(tmp_path / "card.md")]
    assert main(inspect) == 0
    card = (tmp_path / "card.md").read_text("utf-8")
    assert "77 rows of a test file" in card
    assert "0.125" in card
    (tmp_path / "report.json").write_text("[1]")
    assert main(inspect) == 2
    assert "is no report of an evaluation; expected what `mlgt evaluate" in capsys.readouterr().err
