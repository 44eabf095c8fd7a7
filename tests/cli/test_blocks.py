"""The command line on models of blocks."""

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import mlgt
from mlgt.cli import main
from mlgt.data import write_xmc
from mlgt.labels.partition import write_reordering
from mlgt.training import settings


@pytest.fixture(scope="module")
def folder(topics, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    write_xmc(folder / "train.txt", *topics[0])
    write_xmc(folder / "test.txt", *topics[1])
    (folder / "perm.txt").write_text("1\n1\n", "utf-8")
    (folder / "two.txt").write_text("2\n1\n", "utf-8")
    (folder / "sets.txt").write_text("set1 = [1:1, 2:2];\n", "utf-8")
    assert train(folder, "model", "--method", "he-nmfgt", "--blocks", "2", "--budget", "0.1") == 0
    return folder


def train(folder, model, *options):
    return main(
        ["train", str(folder / "train.txt"), "--model", str(folder / model), "--n-groups", "12", *options]
    )


def test_he_nmfgt_is_trained_evaluated_shown_and_drawn(folder, topics, capsys):
    X, Y = topics[1]
    model = mlgt.load(folder / "model")
    assert (model.partition_.n_blocks, model.combination_, model.decoder) == (2, "weighted", "top_k")
    assert main(["evaluate", str(folder / "model"), str(folder / "test.txt"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    labels, _ = model.predict_topk(X, 5)
    assert report["P@5"] == mlgt.metrics.precision_at(Y, labels, 5)
    assert main(["predict", str(folder / "model"), str(folder / "test.txt"), "-k", "3"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert [int(pair.split(":")[0]) for pair in first.split()] == labels[0, :3].tolist()
    picture = folder / "blocks.png"
    data = ["--plot", str(picture), "--data", str(folder / "train.txt")]
    assert main(["inspect", str(folder / "model"), *data]) == 0
    assert "block 1:" in capsys.readouterr().out
    assert picture.stat().st_size > 1000


def test_very_many_labels_are_split_into_blocks_by_default(folder, monkeypatch):
    monkeypatch.setattr(settings, "MAX_FLAT_LABELS", 20)
    monkeypatch.setattr(settings, "LABELS_PER_BLOCK", 16)
    many = ["train", str(folder / "train.txt"), "--model", str(folder / "many")]
    assert main(many) == 0
    assert mlgt.load(folder / "many").partition_.n_blocks > 1
    assert train(folder, "asked") == 0  # the given number of groups, not per block
    assert mlgt.load(folder / "asked").n_groups_ == 12
    (folder / "groups.txt").write_text("0 1 2\n3 4 5\n0 5\n", "utf-8")
    assert main([*many[:-1], str(folder / "own"), "--groups", str(folder / "groups.txt")]) == 0
    assert mlgt.load(folder / "own").n_groups_ == 3


@pytest.mark.parametrize(
    ("name", "reason"), [("clique", "the label graph has no separator"), ("apart", "has no edges")]
)
def test_without_a_separator_it_warns_and_continues(folder, topics, tmp_path, capsys, name, reason):
    X = topics[0][0]
    labels = np.ones((400, 5)) if name == "clique" else np.eye(5)[np.arange(400) % 5]
    labels[0, 1] = name == "clique"
    write_xmc(tmp_path / "train.txt", X, sp.csr_array(labels, dtype=np.float32))
    assert train(tmp_path, "model", "--blocks", "2", "--column-weight", "3") == 0
    said = capsys.readouterr().err
    assert reason in said
    assert "One block is trained instead" in said
    assert "Warning" not in said
    assert said.count("\n") == 2  # and where the model is
    assert mlgt.load(tmp_path / "model").partition_.n_blocks == 1


@pytest.mark.parametrize(
    ("plot", "data", "message"),
    [
        ("x.txt", "train.txt", ".txt is not a supported picture format"),
        ("nowhere/x.png", "train.txt", "folder of the picture does not exist"),
        ("x.png", "other.txt", "counts 4 labels"),
        ("x.png", "none.txt", "there is no such file"),
    ],
)
def test_pictures_that_cannot_be(folder, capsys, plot, data, message):
    (folder / "other.txt").write_text("1 3 4\n0 1:1\n", "utf-8")
    arguments = ["--plot", str(folder / plot), "--data", str(folder / data)]
    assert main(["inspect", str(folder / "model"), *arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not (folder / plot).exists()


@pytest.mark.parametrize("method", ["auto", "he-nmfgt"])
def test_blocks_of_files(folder, tmp_path, method):
    given = mlgt.load(folder / "model").partition_
    files = [str(tmp_path / name) for name in ("perm.txt", "sets.txt")]
    write_reordering(given, *files)
    assert train(folder, f"of-files-{method}", "--method", method, "--reordering", *files) == 0
    assert str(mlgt.load(folder / f"of-files-{method}").partition_) == str(given)


def test_who_splits_the_labels(folder):
    assert (
        train(folder, "built-in", "--blocks", "2", "--partitioner", "propagation", "--budget", "0.1") == 0
    )
    assert mlgt.load(folder / "built-in").partition_.partitioner == "propagation"


def test_a_missing_partitioner_is_reported_with_the_names_of_options(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    assert train(folder, "bad", "--blocks", "2") == 2
    assert "--partitioner propagation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--blocks", "31"], "--blocks 31 exceeds 30, the number of labels. Pass --blocks 30 or less."),
        (["--budget", "0.1"], "pass --blocks too"),
        (["--partitioner", "metis"], "--partitioner is about blocks: pass --blocks too"),
        (["--reordering", "perm.txt", "sets.txt"], "label 1 is in line 1 already"),
        (["--reordering", "perm.txt", "sets.txt", "--blocks", "2"], "leave out --blocks"),
        (["--reordering", "none.txt", "sets.txt"], "none.txt: there is no such file"),
        (["--reordering", "two.txt", "sets.txt"], "the partition is one of 2 labels, but y has 30"),
    ],
)
def test_bad_requests_give_one_clear_message(folder, capsys, options, message):
    options = [str(folder / text) if text.endswith(".txt") else text for text in options]
    assert train(folder, "bad", *options) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (folder / "bad").exists()


def test_blocks_are_searched_by_route(folder, capsys):
    assert train(folder, "routed", "--blocks", "4", "--budget", "0.1", "--route", "0.2", "--force") == 0
    model = mlgt.load(folder / "routed")
    assert model.route == 0.2
    assert len(model.partition_.separator) == 0
    assert main(["inspect", str(folder / "routed")]) == 0
    searched = "all" if model.router_ is None else f"{model.router_.n_routes} per row"
    said = capsys.readouterr().out
    assert (
        next(line for line in said.splitlines() if "blocks searched" in line)
        .split("searched")[1]
        .strip()
        .startswith(searched)
    )
    for wrong in ("1", "-0.1", "much"):
        with pytest.raises(SystemExit):
            train(folder, "m", "--blocks", "4", "--route", wrong)
        assert "is not a share, from 0 to below 1" in capsys.readouterr().err
    assert train(folder, "m", "--route", "0.1") == 2
    assert "--route is about blocks: pass --blocks too." in capsys.readouterr().err
