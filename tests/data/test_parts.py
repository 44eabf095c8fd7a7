"""Data in parts: the same as in one file."""

import json

import numpy as np
import pytest

import mlgt
from mlgt._core.memory import is_mapped
from mlgt.cli import main
from mlgt.data import part_files, read_xmc, write_xmc
from mlgt.data.datasets import load_debtags
from mlgt.ranking import training_pairs


def write_parts(folder, X, Y, header=True):
    folder.mkdir()
    for i, first in enumerate(range(0, X.shape[0], 150)):
        name = f"part-{i:02d}.txt" + ".gz" * (i % 2)
        write_xmc(folder / name, X[first : first + 150], Y[first : first + 150], header=header)
    (folder / "_SUCCESS").write_text("")
    return folder


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("mapped", [True, False])
def test_parts_are_read_as_one_file(topics, tmp_path, header, mapped):
    (X, Y), _ = topics
    files = part_files(write_parts(tmp_path / "parts", X, Y, header))
    assert len(files) == 3
    assert files == part_files(tmp_path / "parts" / "part-*")
    data = read_xmc(files, folder=tmp_path if mapped else None)
    for found, given in ((data.X, X), (data.Y, Y)):
        assert found.shape == given.shape
        assert (found != given).nnz == 0


def test_parts_with_other_headers_are_refused(topics, tmp_path):
    (X, Y), _ = topics
    write_xmc(tmp_path / "a", X[:5], Y[:5])
    write_xmc(tmp_path / "b", X[5:9, :50], Y[5:9])
    with pytest.raises(ValueError, match=r"b, line 1: the header counts 50 features, but n_features=120"):
        read_xmc([tmp_path / "a", tmp_path / "b"])


def test_training_from_parts_gives_the_model_of_one_file(topics, tmp_path):
    (X, Y), _ = topics
    write_parts(tmp_path / "parts", X, Y)
    write_xmc(tmp_path / "whole.txt", X, Y)
    for given, model in (("parts", "a"), ("parts/*.txt*", "b"), ("whole.txt", "c")):
        assert main(["train", str(tmp_path / given), "--model", str(tmp_path / model)]) == 0
    one, two, three = (mlgt.load(tmp_path / model).predict_topk(X, 3) for model in "abc")
    np.testing.assert_array_equal(one[1], three[1])
    np.testing.assert_array_equal(two[1], three[1])


@pytest.mark.parametrize("options", [["--words", "2", "--characters", "2-3"], ["--hashing"], []])
def test_training_from_texts_in_parts(stories, tmp_path, monkeypatch, options):
    """In memory or in files, the same bits, and nothing is left."""
    texts, lists = stories
    lines = [json.dumps({"text": text, "labels": labels}) for text, labels in zip(texts, lists)]
    (tmp_path / "parts").mkdir()
    for i in range(0, len(lines), 300):
        (tmp_path / "parts" / f"{i:03d}.jsonl").write_text("\n".join(lines[i : i + 300]))
    for model, share in (("memory", 1e-9), ("files", 1e15)):
        monkeypatch.setattr("mlgt.cli.training.LARGE_FILE_SHARE", share)
        assert main(["train", str(tmp_path / "parts"), "--model", str(tmp_path / model), *options]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "memory", "parts"]
    assert mlgt.load(tmp_path / "files").classifier_.n_rows_ == len(lines)
    assert_same_files(tmp_path / "memory", tmp_path / "files")


@pytest.mark.parametrize("options", [["--n-groups", "32"], ["--blocks", "3"]])
def test_what_grows_with_the_rows_is_in_files_if_the_rows_are(tmp_path, monkeypatch, options):
    few = load_debtags().train
    parts, found = write_parts(tmp_path / "parts", few.X[:1100], few.Y[:1100]), []

    def spy(candidates, Y):
        found.append(training_pairs(candidates, Y))
        return found[-1]

    monkeypatch.setattr("mlgt.ranking.train.training_pairs", spy)
    for model, share in (("memory", 1e-9), ("files", 1e15)):
        monkeypatch.setattr("mlgt.cli.training.LARGE_FILE_SHARE", share)
        assert main(["train", str(parts), "--model", str(tmp_path / model), *options]) == 0
    assert [is_mapped(pairs.rows) for pairs in found] == [False, True]
    assert_same_files(tmp_path / "memory", tmp_path / "files")


def assert_same_files(one, other):
    names = sorted(path.relative_to(one) for path in one.rglob("*.npy"))
    assert names == sorted(path.relative_to(other) for path in other.rglob("*.npy"))
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_what_is_no_parts(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    for given, said in (
        ("empty", "this is a folder that is empty"),
        (".", "this is a folder that has other folders"),
        ("none-*", "no file matches this pattern"),
        ("none", "there is no such file"),
    ):
        assert main(["train", str(tmp_path / given), "--model", str(tmp_path / "m")]) == 2
        assert said in capsys.readouterr().err
