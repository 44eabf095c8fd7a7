"""From the shell: a vocabulary in training, evaluation, prediction and updates."""

import json
import random

import pytest

import mlgt
from mlgt.cli import main

WORDS = {"p1": "cat whiskers purr", "p2": "dog bark leash", "p3": "judge court trial"}
NAMES = {"p1": "cats: small", "p2": "dogs", "p3": "law", "p4": "birds"}


def rows(n, seed):
    rng = random.Random(seed)
    for _ in range(n):
        ids = rng.sample(sorted(WORDS), rng.randint(1, 2))
        yield " ".join(rng.choice(WORDS[id].split()) for id in ids for _ in range(4)), ids


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Training rows with ids, test rows with names, a vocabulary, and a model."""
    folder = tmp_path_factory.mktemp("vocabulary")
    for name, seed, form in (("train", 0, str), ("ids", 1, str), ("names", 1, NAMES.get)):
        lines = [json.dumps({"text": text, "labels": list(map(form, ids))}) for text, ids in rows(80, seed)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "v.tsv").write_text("".join(f"<http://e.org/{id}>\t{name}\n" for id, name in NAMES.items()))
    ids = (folder / "train.jsonl").read_text().replace('"p', '"http://e.org/p')
    (folder / "uris.jsonl").write_text(ids)
    (folder / "one.txt").write_text("a cat whiskers\n")
    train = ("train", folder / "uris.jsonl", "--vocabulary", folder / "v.tsv", "--model", folder / "m")
    assert run(*train) == 0
    return folder


def test_all_labels_of_the_vocabulary_are_in_the_model(folder, capsys):
    assert mlgt.load(folder / "m").classes_.tolist() == list(NAMES.values())
    assert run("inspect", folder / "m") == 0
    said = capsys.readouterr().out
    assert "4 ids, 0 further names" in said
    assert "cats: small = http://e.org/p1" in said
    assert "4, 3 of them seen in training" in said


def test_show_ids_and_names(folder, capsys):
    predict = ("predict", folder / "m", folder / "one.txt", "-k", "1")

    def said(*options):
        assert run(*predict, *options) == 0
        return capsys.readouterr().out.rpartition(" ")[0]  # a name has a colon: a blank before the number

    assert said() == said("--show", "name") == "cats: small"
    assert said("--show", "id") == "http://e.org/p1"
    assert said("--show", "id,name") == "http://e.org/p1 cats: small"
    assert run(*predict, "--format", "jsonl") == 0
    found = json.loads(capsys.readouterr().out)["predicted"][0]
    assert (found["name"], found["ids"]) == ("cats: small", ["http://e.org/p1"])


def test_mistakes_with_show(folder, tmp_path, capsys):
    assert run("predict", folder / "m", folder / "one.txt", "--show", "id", "--format", "ids") == 2
    assert "--show has no effect with --format ids" in capsys.readouterr().err
    assert run("train", folder / "train.jsonl", "--model", tmp_path / "plain") == 0
    assert run("predict", tmp_path / "plain", folder / "one.txt", "--show", "id") == 2
    assert "have no ids to show" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run("predict", folder / "m", folder / "one.txt", "--show", "url")


def test_evaluation_takes_ids_and_names(folder, tmp_path, capsys):
    reports = []
    uris = (folder / "ids.jsonl").read_text().replace('"p', '"<http://e.org/p').replace('p1"', 'p1>"')
    (tmp_path / "uris.jsonl").write_text(uris.replace('p2"', 'p2>"').replace('p3"', 'p3>"'))
    for file in (folder / "names.jsonl", tmp_path / "uris.jsonl"):
        assert run("evaluate", folder / "m", file, "--json") == 0
        reports.append(json.loads(capsys.readouterr().out))
    assert reports[0]["P@1"] == reports[1]["P@1"] > 0.9
    assert reports[0]["n_unknown_labels"] == reports[1]["n_unknown_labels"] == 0


def test_what_does_not_match_is_reported(folder, tmp_path, capsys):
    (tmp_path / "v.txt").write_text("p1\np2\np9\n")
    train = ("train", folder / "train.jsonl", "--vocabulary", tmp_path / "v.txt", "--model", tmp_path / "m")
    assert run(*train) == 0
    assert (
        "labels that the vocabulary lacks, kept as labels of their own: 1 (p3 (" in capsys.readouterr().err
    )
    assert mlgt.load(tmp_path / "m").classes_.tolist() == ["p1", "p2", "p9", "p3"]
    assert run(*train, "--vocabulary-only", "--force") == 0
    assert "dropped: 1 (p3 (" in capsys.readouterr().err
    assert mlgt.load(tmp_path / "m").classes_.tolist() == ["p1", "p2", "p9"]


def test_mistakes_in_training(folder, tmp_path, capsys):
    train = ("train", folder / "train.jsonl", "--model", tmp_path / "m")
    assert run(*train, "--vocabulary-language", "fi") == 2
    assert "--vocabulary-language has no effect without --vocabulary FILE" in capsys.readouterr().err
    assert run(*train, "--vocabulary-only") == 2
    assert run(*train, "--vocabulary", folder / "none.tsv") == 2
    assert "there is no such file" in capsys.readouterr().err
    (tmp_path / "rows.txt").write_text("2 3 2\n0 0:1 1:1\n1 2:1\n")
    rows = ("train", tmp_path / "rows.txt", "--model", tmp_path / "m")
    assert run(*rows, "--vocabulary", folder / "v.tsv") == 2
    assert "--label-names" in capsys.readouterr().err


def test_names_of_rows(tmp_path, capsys):
    (tmp_path / "rows.txt").write_text("4 3 2\n0 0:1 1:1\n1 2:1\n0 0:1\n1 2:1 1:1\n")
    (tmp_path / "labels.txt").write_text("p1\tlaw\tlaws\np2\tart\n")
    (tmp_path / "words.txt").write_text("judge\nold\npaint\n")
    names = ("--label-names", tmp_path / "labels.txt", "--feature-names", tmp_path / "words.txt")
    assert run("train", tmp_path / "rows.txt", "--model", tmp_path / "m", *names) == 0
    model = mlgt.load(tmp_path / "m")
    assert model.classes_.tolist() == ["law", "art"]
    assert model.fitted_model().vocabulary.all_names() == [["law", "laws"], ["art"]]
    assert run("explain", tmp_path / "m", "--row", f"{tmp_path / 'rows.txt'}:1", "-k", "1") == 0
    assert "judge" in capsys.readouterr().out
    assert run("predict", tmp_path / "m", tmp_path / "rows.txt", "-k", "1", "--show", "id,name") == 0
    assert capsys.readouterr().out.startswith("p1 law:")
    (tmp_path / "words.txt").write_text("judge\n")
    assert run("train", tmp_path / "rows.txt", "--model", tmp_path / "m2", *names) == 2
    assert "1 lines, but there are 3 features" in capsys.readouterr().err


def test_update_follows_a_vocabulary(folder, tmp_path, capsys):
    (tmp_path / "new.tsv").write_text(
        "http://e.org/p1\tfelines\nhttp://e.org/p2\tdogs\nhttp://e.org/p5\tlizards\n"
    )
    update = ("update", folder / "m", "--out", tmp_path / "m2")
    assert run(*update, "--vocabulary", tmp_path / "new.tsv") == 0
    said = capsys.readouterr().err
    assert "renamed labels: 1 (cats: small -> felines)" in said
    assert "withdrawn labels, no longer returned: 2 (law, birds)" in said
    assert "new labels: 1 (lizards)" in said
    tagger = mlgt.load(tmp_path / "m2")
    found = tagger.predict_topk(["cat dog judge court"], 4)[0][0]
    assert {tagger.classes_[label] for label in found if label >= 0} == {"felines", "dogs", "lizards"}
    (tmp_path / "more.jsonl").write_text('{"text": "a judge and a cat", "labels": ["felines"]}\n' * 5)
    both = ("--vocabulary", tmp_path / "new.tsv", tmp_path / "more.jsonl")
    assert run("update", folder / "m", "--out", tmp_path / "m3", *both) == 0
    assert mlgt.load(tmp_path / "m3").classifier_.n_rows_ == 85
    assert run(*update, "--force") == 2
    assert "nothing to update with" in capsys.readouterr().err
    assert run("inspect", tmp_path / "m3") == 0
    assert "2 withdrawn, 0 merged into others" in capsys.readouterr().out
    for verb in (
        ("evaluate", tmp_path / "m3", folder / "ids.jsonl"),
        ("explain", tmp_path / "m3", "cat judge"),
    ):
        assert run(*verb) == 0


def test_compare_matches_labels_by_the_vocabulary(folder, tmp_path, capsys):
    """Ids and names in the file mean the same, also for a model whose labels were renamed since."""
    names = {id: "felines" if id == "p1" else name for id, name in NAMES.items()}
    (tmp_path / "new.tsv").write_text("".join(f"http://e.org/{id}\t{name}\n" for id, name in names.items()))
    new = ("--vocabulary", tmp_path / "new.tsv", "--out", tmp_path / "m2")
    assert run("update", folder / "m", *new) == 0
    uris = (folder / "ids.jsonl").read_text().replace('"p', '"http://e.org/p')
    (tmp_path / "uris.jsonl").write_text(uris)
    capsys.readouterr()
    figures = []
    for test in (tmp_path / "uris.jsonl", folder / "names.jsonl"):
        assert run("compare", folder / "m", tmp_path / "m2", test, "--json") == 0
        figures.append(json.loads(capsys.readouterr().out)["measures"]["P@1"])
    assert figures[0] == figures[1]
    assert figures[0]["a"] == figures[0]["b"] > 0.9
