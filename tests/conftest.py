import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.data import read_xmc


def real_data(name, part="train"):
    """A real data set below MLGT_DATA; the test is skipped, with the reason, where it is not."""
    folder = os.environ.get("MLGT_DATA")
    if not folder:
        pytest.skip("MLGT_DATA is not set: it names the folder of the real data sets")
    path = Path(folder) / name / f"{part}.txt.gz"
    if not path.is_file():
        pytest.skip(f"MLGT_DATA has no {name}/{part}.txt.gz")
    return read_xmc(path)


@pytest.fixture(scope="session")
def bibtex():
    return real_data("Bibtex", "train"), real_data("Bibtex", "test")


@pytest.fixture(scope="session")
def eurlex():
    return real_data("EURLex-4K", "train"), real_data("EURLex-4K", "test")


@pytest.fixture
def rng():
    return np.random.default_rng(20201206)


def topic_data(n=400, p=120, d=30, k=3, seed=0):
    """Rows of words drawn from the words of their labels, so that labels can be learnt; labels come
    in families that occur together."""
    rng = np.random.default_rng(seed)
    words = rng.random((d, p)) * (rng.random((d, p)) < 0.15)
    family = np.arange(d) // 5
    Y = np.zeros((n, d), np.float32)
    for row in Y:
        favourite = rng.integers(d // 5)
        odds = np.where(family == favourite, 8.0, 1.0)
        row[rng.choice(d, rng.integers(1, k + 1), replace=False, p=odds / odds.sum())] = 1
    X = (Y @ words + 0.05 * rng.random((n, p))) * (rng.random((n, p)) < 0.8)
    return sp.csr_array(X, dtype=np.float32), sp.csr_array(Y)


@pytest.fixture(scope="session")
def topics():
    X, Y = topic_data(n=600)
    return (X[:400], Y[:400]), (X[400:], Y[400:])
