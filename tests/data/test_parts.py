"""Data in parts: the same as in one file."""

import json

import numpy as np
import pytest

import mlgt
from mlgt.cli import main
from mlgt.data import part_files, read_xmc, write_xmc


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


def test_training_from_texts_in_parts(stories, tmp_path):
    texts, lists = stories
    lines = [json.dumps({"text": text, "labels": labels}) for text, labels in zip(texts, lists)]
    (tmp_path / "parts").mkdir()
    for i in range(0, len(lines), 300):
        (tmp_path / "parts" / f"{i:03d}.jsonl").write_text("\n".join(lines[i : i + 300]))
    assert main(["train", str(tmp_path / "parts"), "--model", str(tmp_path / "m")]) == 0
    assert mlgt.load(tmp_path / "m").classifier_.n_rows_ == len(lines)


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
