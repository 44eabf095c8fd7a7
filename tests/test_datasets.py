import pytest

from mlgt import datasets
from mlgt.data import write_xmc


def test_load_by_folder_and_by_name(topics, tmp_path, monkeypatch):
    (X, Y), (X_test, Y_test) = topics
    (tmp_path / "Topics").mkdir()
    write_xmc(tmp_path / "Topics" / "train.txt.gz", X, Y)
    write_xmc(tmp_path / "Topics" / "test.txt", X_test, Y_test)
    monkeypatch.setenv("MLGT_DATA", str(tmp_path))
    for name in (tmp_path / "Topics", "Topics"):
        train, test = datasets.load(name)
        assert (train.X != X).nnz == 0
        assert (test.Y != Y_test).nnz == 0


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("MLGT_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"no data set 'Nowhere'.*MLGT_DATA"):
        datasets.load("Nowhere")
    with pytest.raises(FileNotFoundError, match=r"has no train\.txt\.gz"):
        datasets.load(tmp_path)
