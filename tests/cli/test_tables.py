"""Predictions as tables, thresholds and summaries; errors to correct; comparisons; joined labels."""

import csv
import io
import json
import re

import pytest

import mlgt
from mlgt.cli import main
from mlgt.data import RecordFile, read_xmc, write_xmc
from mlgt.errors import UncalibratedWarning
from mlgt.report.tables import CsvTable, Given, free_separator


@pytest.fixture(scope="module")
def folder(stories, tmp_path_factory):
    """A model of texts, and new.csv with ids, a quote, line ends and other columns."""
    folder = tmp_path_factory.mktemp("tables")
    texts, lists = stories
    rows = [json.dumps({"text": text, "labels": labels}) for text, labels in zip(texts[:600], lists)]
    (folder / "train.jsonl").write_text("\n".join(rows))
    assert main(["train", str(folder / "train.jsonl"), "--model", str(folder / "model")]) == 0
    with open(folder / "new.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "text", "labels", "note"])
        for i, (text, labels) in enumerate(zip(texts[600:], lists[600:])):
            table.writerow([f"00{i}", text, ";".join(labels), 'a "note",\nof two lines'])
    return folder


def predict(folder, capsys, *options, file="new.csv"):
    capsys.readouterr()
    assert main(["predict", str(folder / "model"), str(folder / file), *options]) == 0
    return capsys.readouterr()


def rows_of(text, **options):
    return list(csv.DictReader(io.StringIO(text, newline=""), **options))


def test_csv_keeps_columns_and_adds_labels(folder, capsys, stories):
    own = rows_of((folder / "new.csv").read_text("utf-8"))
    found = rows_of(predict(folder, capsys, "--format", "csv", "-k", "2").out)
    assert list(found[0]) == ["id", "text", "labels", "note", "predicted", "probabilities"]
    assert [{name: row[name] for name in own[0]} for row in found] == own
    tagged = mlgt.load(folder / "model").tag(stories[0][600:], k=2)
    for row, tags in zip(found, tagged):
        assert row["predicted"] == ";".join(name for name, _ in tags)
        assert [float(p) for p in row["probabilities"].split(";") if p] == pytest.approx(
            [p for _, p in tags], abs=1e-4
        )


def test_jsonl_keeps_columns_too(folder, capsys):
    lines = predict(folder, capsys, "--format", "jsonl", "-k", "1").out.splitlines()
    first = json.loads(lines[0])
    assert list(first) == ["id", "text", "labels", "note", "predicted"]
    assert first["id"] == "000"
    assert set(first["predicted"][0]) == {"id", "name", "probability"}


def test_a_table_of_a_spreadsheet_keeps_its_delimiter(folder, capsys, tmp_path):
    (tmp_path / "new.csv").write_text("id;text\n1;our cat\n2;our dog\n")
    assert main(["predict", str(folder / "model"), str(tmp_path / "new.csv"), "--format", "csv"]) == 0
    found = rows_of(capsys.readouterr().out, delimiter=";")
    assert [row["id"] for row in found] == ["1", "2"]
    assert found[0]["predicted"].startswith("cats")


def test_lines_become_a_table_and_streams_work(folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"our cat\nzzz\n"))))
    capsys.readouterr()
    assert main(["predict", str(folder / "model"), "-", "--format", "csv", "-k", "auto"]) == 0
    found = rows_of(capsys.readouterr().out)
    assert [(row["text"], row["predicted"]) for row in found] == [("our cat", "cats"), ("zzz", "")]


def test_a_threshold_keeps_likely_labels(folder, capsys):
    lines = predict(folder, capsys, "--threshold", "0.6").out.splitlines()
    assert {len(line.split("\t")) for line in lines if line} >= {1, 2}
    assert all(float(pair.rsplit(":", 1)[1]) >= 0.6 for line in lines if line for pair in line.split("\t"))
    everything = predict(folder, capsys, "-k", "4").out.splitlines()
    kept = [
        "\t".join(pair for pair in line.split("\t") if pair and float(pair.rsplit(":", 1)[1]) >= 0.6)
        for line in everything
    ]
    assert kept == lines
    with pytest.raises(SystemExit):
        main(["predict", "m", "f", "--threshold", "1.5"])


def test_training_says_where_the_model_is(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("text,labels\n" + "a cat,cats\na dog,dogs\n" * 20)
    arguments = ["train", str(tmp_path / "x.csv"), "--model", str(tmp_path / "model")]
    assert main(arguments) == 0
    assert f"mlgt: the model is in {tmp_path / 'model'}; next: " in capsys.readouterr().err
    assert main([*arguments, "--force", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_last_line_counts(folder, capsys, tmp_path):
    (tmp_path / "x.txt").write_text("our cat\nzzz\nour dog\n")
    arguments = ["predict", str(folder / "model"), str(tmp_path / "x.txt"), "-k", "1"]
    assert main(arguments) == 0
    said = capsys.readouterr().err
    assert re.fullmatch(r"mlgt: 3 rows got 2 labels \(1 got none\) in \d+\.\d s\n", said)
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_scores_are_not_called_probabilities(topics, tmp_path, capsys):
    write_xmc(tmp_path / "x.txt", *topics[0])
    model = mlgt.MLGTClassifier(n_groups=20, column_weight=5, random_state=0, ranker=None).fit(*topics[0])
    model.save(tmp_path / "m")
    arguments = ["predict", str(tmp_path / "m"), str(tmp_path / "x.txt"), "-k", "2"]
    assert main([*arguments, "--format", "csv"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("row,predicted,scores\n1,")
    assert "scores, not probabilities" in said.err
    assert main([*arguments, "--threshold", "0.5"]) == 2
    assert "--threshold needs probabilities" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "m"), str(tmp_path / "x.txt"), "--errors", "e.csv"]) == 2
    assert "trained on rows of features" in capsys.readouterr().err
    with pytest.warns(UncalibratedWarning):
        mlgt.Predictor(model).best(topics[1][0], 2)


def test_a_colon_in_a_name_stays_readable(tmp_path, capsys):
    rows = [{"text": f"word{j}", "labels": [f"a::b:{j}"]} for j in range(3)] * 20
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["train", str(tmp_path / "t.jsonl"), "--model", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "t.jsonl"), "-k", "1"]) == 0
    assert re.fullmatch(r"a::b:0 [-\d.e]+", capsys.readouterr().out.splitlines()[0])


def test_columns_that_come_later_are_named(folder, capsys, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": "our cat"}\n{"text": "our dog", "source": "web"}\n')
    assert main(["predict", str(folder / "model"), str(tmp_path / "x.jsonl"), "--format", "csv"]) == 0
    assert "left out: source" in capsys.readouterr().err


def test_names_that_hold_the_separator_get_another_one():
    assert free_separator(["a;b", "c"], ";") == "|"
    assert free_separator(["a", "c"], ",") == ","
    with pytest.raises(ValueError, match="--format jsonl"):
        free_separator([";|¦\t\n,"], ",")
    table = CsvTable("scores", "|")
    text = table([[("predicted", 1), ("tags", ["x", "y"])]], [[Given(0, "a;b", 0.5), Given(1, "c", 0.25)]])
    assert text == "predicted,tags,predicted_2,scores\n1,x|y,a;b|c,0.5000|0.2500\n"


@pytest.mark.parametrize("mark", [",", ";"])
def test_errors_of_a_file_with_other_columns_say_how_to_go_on(folder, capsys, tmp_path, stories, mark):
    """They are a table as the file is one, so that the same spreadsheet opens both."""
    lines = [f'{i}{mark}{text}{mark}"{"|".join(labels)}"' for i, (text, labels) in
             enumerate(zip(stories[0][600:], stories[1][599:]))]  # fmt: skip
    (tmp_path / "x.csv").write_text(mark.join(["id", "title", "subjects\n"]) + "\n".join(lines), "utf-8")
    options = ["--text", "title", "--labels", "subjects", "--label-separator", "|"]
    errors, test = str(tmp_path / "e.csv"), str(tmp_path / "x.csv")
    assert main(["evaluate", str(folder / "model"), test, *options, "--errors", errors]) == 0
    said = capsys.readouterr()
    assert "--out DIR2 --text 'title' --labels 'subjects' --label-separator '|'" in said.err
    assert "Of 100 first labels," in said.out
    assert "Labels given instead of each other" in said.out
    records = RecordFile(
        errors, "csv", mlgt.data.Columns(("title",), "subjects", "|"), labelled=True
    ).read()
    assert all(record.labels is not None for record in records)
    assert (tmp_path / "e.csv").read_text("utf-8").startswith(f"id{mark}title{mark}subjects{mark}predicted")
    out = str(tmp_path / "m2")
    assert main(["update", str(folder / "model"), errors, *options, "--out", out]) == 0


# ---- compare ----


def test_models_of_rows_are_compared_by_id(topics, tmp_path, capsys):
    write_xmc(tmp_path / "x.txt", *topics[1])
    for seed in (0, 1):
        options = ["--n-groups", "20", "--seed", str(seed), "--model", str(tmp_path / f"m{seed}")]
        assert main(["train", str(tmp_path / "x.txt"), *options]) == 0
    models = [str(tmp_path / f"m{seed}") for seed in (0, 1)]
    capsys.readouterr()
    assert main(["compare", *models, str(tmp_path / "x.txt"), "-k", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    Y = read_xmc(tmp_path / "x.txt").Y
    for side, path in zip("ab", models):
        labels, _ = mlgt.load(path).predict_topk(topics[1][0], 2)
        right = mlgt.metrics.hits(Y, labels).sum(axis=1)
        f1 = 2 * right / (2 + Y.sum(axis=1))
        assert report["measures"]["F1"][side] == pytest.approx(f1.mean())
    assert main(["compare", *models, str(tmp_path / "x.txt")]) == 0
    assert "no sure difference" in capsys.readouterr().out


def test_models_of_other_labels_are_compared_by_name(folder, stories, tmp_path, capsys):
    texts, lists = stories
    other = [[label.upper() if label == "cats" else label for label in labels] for labels in lists]
    mlgt.TextTagger(random_state=0).fit(texts[:600], other[:600]).save(tmp_path / "b")
    arguments = ["compare", str(folder / "model"), str(tmp_path / "b"), str(folder / "new.csv")]
    assert main([*arguments, "--html", str(tmp_path / "p.html"), "--plot", str(tmp_path / "p.svg")]) == 0
    said = capsys.readouterr().out
    assert "B is surely worse" in said
    assert "*CATS" in said
    page = (tmp_path / "p.html").read_text("utf-8")
    assert "✗ CATS" in page
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")


def test_models_that_read_other_files_are_refused(folder, topics, tmp_path, capsys):
    mlgt.MLGTClassifier(random_state=0).fit(*topics[0]).save(tmp_path / "rows")
    arguments = ["compare", str(folder / "model"), str(tmp_path / "rows"), str(folder / "new.csv")]
    assert main(arguments) == 2
    assert "trained on texts, the second on rows of features" in capsys.readouterr().err


# ---- joined labels ----


def test_joined_labels_stop_training(folder, stories, tmp_path, capsys):
    lines = [f'{text},"{"|".join(dict.fromkeys(labels))}"' for text, labels in zip(*stories)]
    (tmp_path / "x.csv").write_text("text,labels\n" + "\n".join(lines), "utf-8")
    arguments = ["train", str(tmp_path / "x.csv"), "--model", str(tmp_path / "m")]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "joined by '|'" in said
    assert "Pass --label-separator '|' to split them, or --label-separator ';'" in said
    assert not (tmp_path / "m").exists()
    assert main([*arguments, "--label-separator", "|"]) == 0
    assert len(mlgt.load(tmp_path / "m").classes_) == 4
    assert main([*arguments, "--label-separator", ";", "--force"]) == 0
    assert len(mlgt.load(tmp_path / "m").classes_) > 4
