"""An hour's daily work, as docs/daily-work.md prints it."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

import mlgt
from mlgt.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "daily-work.md"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", flags=re.S | re.M)


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shell(line, folder):
    """Run one line of the page: `mlgt` in this process, the two kinds of `head` by hand."""
    if line.startswith("mlgt"):
        assert main(shlex.split(line)[1:]) == 0, line
        return
    source, target = re.search(r"(debtags/\w+\.csv)\D*(?:\d+ \S+)?.*> (\S+)", line).groups()
    lines = (folder / source).read_text("utf-8").splitlines(keepends=True)
    last = re.search(r"tail -n (\d+)", line)
    part = lines[:1] + lines[-int(last[1]) :] if last else lines[: int(re.search(r"-n (\d+)", line)[1])]
    (folder / target).write_text("".join(part), "utf-8")


@pytest.fixture(scope="module")
def hour(tmp_path_factory):
    """The folder in which all blocks of the page have run, and what they printed."""
    if not PAGE.exists():
        pytest.skip("the docs are not beside the tests")
    folder, names = tmp_path_factory.mktemp("hour"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for language, code in BLOCK.findall(PAGE.read_text("utf-8")):
            if language == "python":
                exec(compile(code, str(PAGE), "exec"), names)
            else:
                for line in code.splitlines():
                    shell(line, folder)
    return folder


def test_predictions_keep_the_columns_and_ids(hour):
    new, found = table(hour / "new.csv"), table(hour / "predicted.csv")
    assert list(found[0]) == ["package", "words", "tags", "predicted", "probabilities"]
    assert [{name: row[name] for name in new[0]} for row in found] == new
    tagger = mlgt.load(hour / "tags")
    for row, tags in zip(found[:50], tagger.tag([row["words"] for row in new[:50]], k=20)):
        kept = [(name, p) for name, p in tags if p >= 0.5]
        assert row["predicted"] == ";".join(name for name, _ in kept)
        assert row["probabilities"] == ";".join(f"{p:.4f}" for _, p in kept)


def test_errors_are_the_rows_whose_labels_differ(hour):
    rows, errors = table(hour / "test.csv"), table(hour / "errors.csv")
    predicted = mlgt.load(hour / "tags").predict([row["words"] for row in rows])
    true = [set(row["tags"].split(";")) for row in rows]
    assert {int(error["row"]) for error in errors} == {
        i + 1 for i, (given, own) in enumerate(zip(predicted, true)) if given != own
    }
    for error in errors[:100]:
        i = int(error["row"]) - 1
        assert {name: error[name] for name in rows[0]} == rows[i]
        assert set(filter(None, error["wrong"].split(";"))) == predicted[i] - true[i]
        assert set(filter(None, error["missed"].split(";"))) == true[i] - predicted[i]
    surest = [max(map(float, e["probabilities"].split(";"))) for e in errors if e["wrong"]]
    assert errors[0]["wrong"]
    assert not any(error["wrong"] for error in errors[len(surest) :])


def test_the_corrected_rows_are_learnt_as_they_are(hour):
    old, new = (mlgt.load(hour / name) for name in ("tags", "tags2"))
    assert new.classifier_.n_rows_ == old.classifier_.n_rows_ + 10
    given = {label for row in table(hour / "corrected.csv") for label in row["tags"].split(";")}
    assert list(new.classes_) == [*old.classes_, *sorted(given - set(old.classes_))]


def test_the_comparison_agrees_with_two_evaluations(hour, capsys):
    models = [str(hour / name) for name in ("tags", "tags2")]
    assert main(["compare", *models, str(hour / "new.csv"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    for side, model in zip("ab", models):
        assert main(["evaluate", model, str(hour / "new.csv"), "--json"]) == 0
        single = json.loads(capsys.readouterr().out)
        for name in ("P@1", "P@3", "P@5", "nDCG@5", "recall@5", "F1"):
            assert report["measures"][name][side] == pytest.approx(single[name])
    assert report["n"] == 400
    for row in [*report["rows"]["better"], *report["rows"]["worse"]]:
        assert row["text"] == table(hour / "new.csv")[row["row"] - 1]["words"][:1000]
    assert (hour / "compare.png").read_bytes().startswith(b"\x89PNG")
    for page in ("report.html", "compare.html", "why.html"):
        assert "</html>" in (hour / page).read_text("utf-8")


def test_rows_that_were_taught_are_counted(hour, capsys):
    """What a model gains on rows that it remembers says nothing about others: they are not compared."""
    corrected = {row["words"] for row in table(hour / "corrected.csv")}
    taught = sum(row["words"] in corrected for row in table(hour / "test.csv"))
    assert taught >= 10
    models, test = [str(hour / name) for name in ("tags", "tags2")], str(hour / "test.csv")
    assert main(["compare", *models, test, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    before, known = report["n_taught"]
    assert before == 0
    assert report["n_left_out"] == known == 800 - report["n"]
    texts = [row["words"] for row in table(hour / "test.csv")]
    for row in [*report["rows"]["better"], *report["rows"]["worse"]]:
        assert row["text"] == texts[row["row"] - 1][:1000]
        assert texts[row["row"] - 1] not in corrected
    assert taught <= known <= taught + 5  # other texts of the same words are known, too
    assert main(["compare", *models, test]) == 0
    assert (
        f"{known} of the rows were taught to B, which remembers them: they are not"
        in capsys.readouterr().out
    )
    assert (
        main(["compare", *models, str(hour / "corrected.csv"), "--text", "words", "--labels", "tags"]) == 0
    )
    assert "remembers them: what it gains on them says nothing about other rows" in capsys.readouterr().out
    assert main(["evaluate", models[1], test]) == 0
    assert f"{known} of the rows were taught to the model" in capsys.readouterr().out
    assert main(["evaluate", models[0], test]) == 0
    assert "taught" not in capsys.readouterr().out
