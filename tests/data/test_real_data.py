"""Published data sets, read with the figures their descriptions give.

MLGT_DATA names a folder with EURLex-4K/train.txt.gz, Bibtex/train.txt.gz and their test.txt.gz.
"""

import gzip
import io
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from mlgt.data import read_xmc, write_xmc


def find(name):
    folder = os.environ.get("MLGT_DATA")
    if not folder:
        pytest.skip("MLGT_DATA is not set; it names the folder with the data sets")
    path = Path(folder, name)
    if not path.is_file():
        pytest.skip(f"MLGT_DATA has no {name}")
    return path


FIGURES = {  # n, p, d, average labels, average non-zeros, rows without labels
    "EURLex-4K/train.txt.gz": (15539, 5000, 3993, 5.3112, 237.13, 28),
    "EURLex-4K/test.txt.gz": (3809, 5000, 3993, 5.3061, None, 6),
    "Bibtex/train.txt.gz": (4880, 1836, 159, 2.3943, 68.74, 0),
    "Bibtex/test.txt.gz": (2515, 1836, 159, 2.4167, None, 0),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures(name):
    n, p, d, labels, nonzeros, unlabelled = FIGURES[name]
    data = read_xmc(find(name))
    assert data.X.shape == (n, p)
    assert data.Y.shape == (n, d)
    assert data.Y.nnz / n == pytest.approx(labels, abs=5e-5)
    assert nonzeros is None or data.X.nnz / n == pytest.approx(nonzeros, abs=5e-3)
    assert (np.diff(data.Y.indptr) == 0).sum() == unlabelled


def test_sklearn_reads_the_same():
    path = find("Bibtex/train.txt.gz")
    data = read_xmc(path)
    body = gzip.decompress(path.read_bytes()).partition(b"\n")[2]
    X, labels = load_svmlight_file(
        io.BytesIO(body), n_features=1836, dtype=np.float32, multilabel=True, zero_based=True
    )
    assert (X != data.X).nnz == 0
    assert [tuple(map(int, row)) for row in labels] == [
        tuple(data.Y.indices[a:b].tolist()) for a, b in zip(data.Y.indptr, data.Y.indptr[1:])
    ]


def test_round_trip(tmp_path):
    """The file of the repository, read and written, is the same text."""
    path = find("EURLex-4K/test.txt.gz")
    data = read_xmc(path)
    write_xmc(tmp_path / "back.txt", data.X, data.Y)
    assert (tmp_path / "back.txt").read_bytes() == gzip.decompress(path.read_bytes())
