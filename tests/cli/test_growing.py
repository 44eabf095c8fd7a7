"""From the shell: new rows and labels, own groups and blocks in, learnt ones out."""

import json

import numpy as np
import pytest

import mlgt
from mlgt._core.errors import DataFormatError
from mlgt.cli import main
from mlgt.data import write_xmc
from mlgt.groups.files import read_groups, write_groups
from mlgt.labels.partition import Partition, read_places, write_places


@pytest.fixture(scope="module")
def folder(topics, tmp_path_factory):
    folder = tmp_path_factory.mktemp("growing")
    (X, Y), _ = topics
    write_xmc(folder / "train.txt", X, Y)
    write_xmc(folder / "old.txt", X[:200], Y[:200, :28])
    write_xmc(folder / "new.txt", X[200:], Y[200:])
    (folder / "names.txt").write_text("".join(f"n{l}\n" for l in range(28)))
    (folder / "all.txt").write_text("".join(f"n{l}\n" for l in range(30)))
    return folder


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_update_adds_rows_and_labels(folder, tmp_path, capsys):
    model = tmp_path / "m"
    assert run("train", folder / "old.txt", "--model", model, "--label-names", folder / "names.txt") == 0
    update = ("update", model, folder / "new.txt", "--out")
    assert run(*update, model, "--force") == 2
    assert "pass names=" in capsys.readouterr().err
    assert run(*update, tmp_path / "m2", "--label-names", folder / "all.txt") == 0
    grown = mlgt.load(tmp_path / "m2")
    assert list(grown.classes_) == [f"n{l}" for l in range(30)]
    assert (grown.n_rows_, mlgt.load(model).n_rows_) == (400, 200)
    assert run(*update, model, "--force", "--label-names", folder / "all.txt") == 0
    assert len(mlgt.load(model).classes_) == 30
    (tmp_path / "bad.txt").write_text("".join(f"x{l}\n" for l in range(30)))
    assert run(*update, tmp_path / "m3", "--label-names", tmp_path / "bad.txt") == 2
    assert "the model calls this label 'n0'" in capsys.readouterr().err
    assert not (tmp_path / "m3").exists()


def test_models_without_names_take_none(folder, tmp_path, capsys):
    assert run("train", folder / "old.txt", "--model", tmp_path / "m") == 0
    (tmp_path / "ids.txt").write_text("".join(f"{l}\n" for l in range(30)))
    for names in (folder / "all.txt", tmp_path / "ids.txt"):
        update = ("update", tmp_path / "m", folder / "new.txt", "--out", tmp_path / "m2")
        assert run(*update, "--label-names", names) == 2
        assert (
            "have no names, so new ones can have none; leave out --label-names" in capsys.readouterr().err
        )


def test_known_labels_joined_by_another_mark_are_no_new_labels(tmp_path, capsys):
    words = {"cats": "purr meow", "dogs": "bark fetch", "law, civil": "court judge"}
    rows = ["text,labels", *(f'{words[l]} {i},"{l}"' for i in range(20) for l in words)]
    (tmp_path / "old.csv").write_text("\n".join(rows))
    (tmp_path / "new.csv").write_text('text,labels\npurr bark,"dogs, cats"\ncourt meow,"new, other"\n')
    assert run("train", tmp_path / "old.csv", "--model", tmp_path / "m", "--label-separator", ";") == 0
    update = "update", tmp_path / "m", tmp_path / "new.csv", "--out", tmp_path / "m2"
    assert run(*update) == 2
    said = capsys.readouterr().err
    assert "2 labels are new, like 'dogs, cats', but most of them are labels that the model knows" in said
    assert "--label-separator ','" in said
    assert not (tmp_path / "m2").exists()
    assert run(*update, "--label-separator", ",") == 0
    assert set(mlgt.load(tmp_path / "m2").classes_) == {*words, "new", "other"}
    assert run(*update, "--force", "--label-separator", ";") == 0
    assert "dogs, cats" in mlgt.load(tmp_path / "m2").classes_


def test_models_of_texts_grow_and_shrink(tmp_path, capsys):
    words = {"cats": "purr meow", "dogs": "bark fetch", "law": "court judge"}
    for name, labels in {"old": ["cats", "dogs"], "new": ["cats", "law"]}.items():
        lines = [{"text": words[l], "labels": [l]} for l in labels] * 20
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert run("train", tmp_path / "old.jsonl", "--model", tmp_path / "m") == 0
    assert run("update", tmp_path / "m", tmp_path / "new.jsonl", "--out", tmp_path / "m2") == 0
    tagger = mlgt.load(tmp_path / "m2")
    assert list(tagger.classes_) == ["cats", "dogs", "law"]
    assert "keeps no rows out of training" in capsys.readouterr().err  # too few to keep some out
    assert tagger.classes_[tagger.predict_topk(["purr"], 1)[0][0, 0]] == "cats"
    assert tagger.classes_[tagger.predict_topk(["judge"], 1)[0][0, 0]] == "law"  # a word of the new texts
    assert run("evaluate", tmp_path / "m2", tmp_path / "new.jsonl", "--html", tmp_path / "p.html") == 0
    assert "Worst labels" in (tmp_path / "p.html").read_text("utf-8")
    capsys.readouterr()
    assert run("prune", tmp_path / "m2", "--threshold", "0.3") == 2
    assert "no rankers to prune" in capsys.readouterr().err


def test_learnt_groups_go_out_and_in_again(folder, tmp_path, capsys):
    settings = ["--n-groups", "20", "--column-weight", "5"]
    assert run("train", folder / "train.txt", "--model", tmp_path / "m", *settings) == 0
    assert run("inspect", tmp_path / "m", "--groups", tmp_path / "groups.txt") == 0
    own = ("--groups", tmp_path / "groups.txt")
    assert run("train", folder / "train.txt", "--model", tmp_path / "m2", *own) == 0
    old, new = mlgt.load(tmp_path / "m"), mlgt.load(tmp_path / "m2")
    assert (old.groups_ != new.groups_).nnz == 0
    assert run("train", folder / "train.txt", "--model", tmp_path / "m3", *own, "--blocks", "2") == 2
    assert "leave out blocks" in capsys.readouterr().err
    assert run("inspect", tmp_path / "m", "--partition", tmp_path / "p.txt") == 2
    assert "has no blocks to write" in capsys.readouterr().err


def test_own_blocks_go_in_and_out_again(folder, tmp_path, capsys):
    places = ["a/x", "a/y", "a"] * 5 + ["b"] * 14 + ["."]
    (tmp_path / "places.txt").write_text("\n".join(places) + "\n")
    train = ("train", folder / "train.txt", "--model", tmp_path / "m", "--n-groups", "8")
    assert run(*train, "--partition", tmp_path / "places.txt") == 0
    partition = mlgt.load(tmp_path / "m").partition_
    assert partition.n_blocks == 3
    blocks = [partition.labels(i).tolist() for i in range(3)]
    assert sorted([*range(0, 15, 3), *range(2, 15, 3), 29]) in blocks
    assert [*range(15, 30)] in blocks
    assert run("inspect", tmp_path / "m", "--partition", tmp_path / "out.txt") == 0
    again = read_places(tmp_path / "out.txt")
    assert [again.labels(i).tolist() for i in range(3)] == blocks
    (tmp_path / "short.txt").write_text("a\nb\n")
    assert run(*train, "--force", "--partition", tmp_path / "short.txt") == 2
    assert "has 2 lines, but there are 30 labels" in capsys.readouterr().err
    assert run(*train, "--force", "--partition", tmp_path / "places.txt", "--blocks", "2") == 2
    assert "--partition defines the blocks already" in capsys.readouterr().err


def test_group_files_keep_groups(rng, tmp_path):
    A = rng.random((9, 12)) < 0.3
    A[4] = False
    for first in (0, 1):
        write_groups(A, tmp_path / "g.txt", first)
        assert (read_groups(tmp_path / "g.txt", 12, first).toarray() == A).all()
    for text, message in {
        "0 12\n": "line 1: '12' is not a label",
        "0\n1 1\n": "line 2 names a label twice",
    }.items():
        (tmp_path / "g.txt").write_text(text)
        with pytest.raises(DataFormatError, match=message):
            read_groups(tmp_path / "g.txt", 12)


def test_places_keep_a_partition(tmp_path):
    nested = Partition(
        np.array([0, 5, 1, 6, 2, 3, 4, 7]), np.array([0, 2, 4, 5, 6, 7, 8]), np.array([4, 4, 5, 5, 5, -1])
    )
    write_places(nested, tmp_path / "p.txt")
    again = read_places(tmp_path / "p.txt")
    found = sorted(again.labels(i).tolist() for i in range(again.n_blocks))
    assert found == sorted(nested.labels(i).tolist() for i in range(nested.n_blocks))
    (tmp_path / "p.txt").write_text(".\n.\n")
    assert read_places(tmp_path / "p.txt").n_blocks == 1
    for text in ("a\n\nb\n", "a//b\n"):
        (tmp_path / "p.txt").write_text(text)
        with pytest.raises(DataFormatError, match="is not a place"):
            read_places(tmp_path / "p.txt")
