"""A file read in pieces, into memory or into mapped files, is the file read at once."""

import gzip
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest

from mlgt import MLGTClassifier, keep_work, load, on_cluster
from mlgt._core.errors import DataFormatError
from mlgt._core.memory import is_mapped
from mlgt.cli import main
from mlgt.data import read_xmc, write_xmc
from mlgt.data.datasets import load_debtags

XMC = sys.modules["mlgt.data.xmc"]
ROWS = "".join(f"{i % 7},{i % 5} {i % 11}:{i}.5 3:1 3:2 12:0\n" for i in range(200))
GOOD = {
    "header": "200 13 7\n" + ROWS,
    "no header": ROWS,
    "no last newline": "200 13 7\n" + ROWS[:-1],
    "blank lines after": "200 13 7\n" + ROWS + "\n \n" * 30,
    "byte order mark": "\ufeff200 13 7\n" + ROWS,
    "no rows": "0 13 7\n",
    "no labels": "".join(f" {i % 11}:1\n" for i in range(200)),
    "no entries": "\n" * 200,
}
BAD = {
    "value": "401 13 7\n" + ROWS + "1 2:x\n" + ROWS,
    "label": "401 13 7\n" + ROWS + "7 2:1\n" + ROWS,
    "too few": "201 13 7\n" + ROWS,
    "too many": "200 13 7\n" + ROWS + "1 2:1\n",
    "sums": "401 13 7\n" + ROWS + "1 2:3e38 2:3e38\n" + ROWS,
    "nul": "401 13 7\n" + ROWS + "1 2:1\0\n" + ROWS,
}


@pytest.fixture(params=[1, 40, 1000])
def piece(request, monkeypatch):
    def small():
        monkeypatch.setattr(XMC, "PIECE_BYTES", request.param)
        monkeypatch.setattr(sys.modules["mlgt._core.files"], "CHUNK_BYTES", 32)

    return small


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("mapped", [False, True])
def test_the_same_arrays(kind, mapped, piece, tmp_path):
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress(GOOD[kind].encode()))
    whole = read_xmc(path)
    piece()
    (tmp_path / "arrays").mkdir()
    parts = read_xmc(path, folder=tmp_path / "arrays" if mapped else None)
    for one, other in ((whole.X, parts.X), (whole.Y, parts.Y)):
        assert one.shape == other.shape
        for name in ("indptr", "indices", "data"):
            assert getattr(one, name).dtype == getattr(other, name).dtype
            assert (getattr(one, name) == getattr(other, name)).all()
    if mapped:
        assert is_mapped(parts.X.data) == (whole.X.nnz > 0)
        assert is_mapped(parts.Y.indices) == (whole.Y.nnz > 0)


def test_a_missing_folder_is_reported(tmp_path):
    (tmp_path / "train.txt").write_text(GOOD["header"], encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"the folder to keep the arrays in .* create it.*nowhere"):
        read_xmc(tmp_path / "train.txt", folder=tmp_path / "nowhere")


@pytest.mark.parametrize("kind", BAD)
def test_the_same_errors(kind, piece, tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(BAD[kind], encoding="utf-8")
    with pytest.raises(DataFormatError) as at_once:
        read_xmc(path)
    piece()
    with pytest.raises(DataFormatError) as in_pieces:
        read_xmc(path)
    assert str(in_pieces.value) == str(at_once.value)
    assert "line 202" in str(at_once.value) or kind == "too few"


@pytest.mark.parametrize("where", ["here", "kept", "elsewhere"])
def test_training_from_mapped_files_gives_the_same_model(tmp_path, where):
    few = load_debtags().train
    write_xmc(tmp_path / "few.txt", few.X[:600], few.Y[:600])
    found = []
    with ThreadPoolExecutor(1) as executor:
        for folder in (None, tmp_path):
            data = read_xmc(tmp_path / "few.txt", folder=folder)
            context = {
                "here": nullcontext(),
                "kept": keep_work(tmp_path / "work"),
                "elsewhere": on_cluster(executor, storage=tmp_path),
            }
            with nullcontext() if folder is None else context[where]:
                model = MLGTClassifier(n_groups=32, random_state=0).fit(data.X, data.Y)
            found.append(model.predict_topk(few.X[600:700], 3))
    np.testing.assert_array_equal(found[0], found[1])


def test_two_files_in_one_folder_do_not_disturb_each_other(tmp_path):
    few = load_debtags().train
    write_xmc(tmp_path / "one.txt", few.X[:40], few.Y[:40])
    write_xmc(tmp_path / "two.txt", few.X[:3], few.Y[:3])
    one = read_xmc(tmp_path / "one.txt", folder=tmp_path)
    before = one.X.data.tolist()
    read_xmc(tmp_path / "two.txt", folder=tmp_path)
    assert one.X.data.tolist() == before


def test_the_command_maps_large_files_and_cleans_up(tmp_path, monkeypatch):
    few = load_debtags().train
    write_xmc(tmp_path / "few.txt", few.X[:600], few.Y[:600])
    arguments = ["train", str(tmp_path / "few.txt"), "--n-groups", "32", "--seed", "0", "--quiet"]
    assert main([*arguments, "--model", str(tmp_path / "plain")]) == 0
    folders = []
    read = XMC.read_xmc
    monkeypatch.setattr("mlgt.data.read_xmc", lambda *a, **k: folders.append(k["folder"]) or read(*a, **k))
    monkeypatch.setattr("mlgt.cli.training.LARGE_FILE_SHARE", 1e15)
    assert main([*arguments, "--model", str(tmp_path / "mapped")]) == 0
    assert folders[0] == tmp_path
    assert main([*arguments, "--model", str(tmp_path / "new" / "deep")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.txt", "mapped", "new", "plain"]
    found = [load(tmp_path / name).predict_topk(few.X[600:700], 3)[0] for name in ("plain", "mapped")]
    assert (found[0] == found[1]).all()
