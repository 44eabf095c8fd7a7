"""The command line on models of blocks."""

import json

import pytest

import mlgt
from mlgt.cli import main
from mlgt.data import write_xmc


@pytest.fixture(scope="module")
def folder(topics, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    write_xmc(folder / "train.txt", *topics[0])
    write_xmc(folder / "test.txt", *topics[1])
    (folder / "perm.txt").write_text("1\n1\n", "utf-8")
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
    assert (model.partition_.n_blocks, model.combination_, model.decoder) == (2, "sum", "top_k")
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


def test_without_a_separator_it_says_so_and_goes_on(folder, capsys):
    assert train(folder, "clique", "--blocks", "4", "--column-weight", "3") == 0
    said = capsys.readouterr().err
    assert "One block is trained instead" in said or "blocks are trained instead" in said
    assert "Warning" not in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--blocks", "31"], "--blocks 31 exceeds 30, the number of labels. Pass --blocks 30 or less."),
        (["--budget", "0.1"], "pass --blocks too"),
        (["--reordering", "perm.txt", "sets.txt"], "label 1 stands in line 1 already"),
        (["--reordering", "perm.txt", "sets.txt", "--blocks", "2"], "leave out --blocks"),
        (["--reordering", "none.txt", "sets.txt"], "none.txt: No such file"),
    ],
)
def test_bad_requests_give_one_clear_message(folder, capsys, options, message):
    options = [str(folder / text) if text.endswith(".txt") else text for text in options]
    assert train(folder, "bad", *options) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (folder / "bad").exists()
