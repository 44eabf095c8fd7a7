import os
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings

from mlgt.data import datasets

settings.register_profile("mlgt", deadline=None)  # no test asserts a time
settings.load_profile("mlgt")


def real_data(name):
    """A real data set below MLGT_DATA; the test is skipped, with the reason, where it is not."""
    folder = os.environ.get(datasets.ENVIRONMENT)
    if not folder:
        pytest.skip("MLGT_DATA is not set: it names the folder of the real data sets")
    if not (Path(folder) / name).is_dir():
        pytest.skip(f"MLGT_DATA has no {name}")
    return datasets.load(name)


@pytest.fixture(scope="session")
def bibtex():
    return real_data("Bibtex")


@pytest.fixture(scope="session")
def eurlex():
    return real_data("EURLex-4K")


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


@pytest.fixture(scope="session")
def families():
    """4,000 rows with labels of 60 topics and of 6 broader ones: enough to hold some rows out."""
    X, Y = topic_data(n=5000, p=300, d=60)
    broader = sp.csr_array((Y @ np.kron(np.eye(6), np.ones((10, 1))) > 0).astype(np.float32))
    Y = sp.csr_array(sp.hstack([Y, broader]), dtype=np.float32)
    X.data *= np.random.default_rng(1).random(X.nnz) < 0.3  # most words are missing
    X.eliminate_zeros()
    return (X[:4000], Y[:4000]), (X[4000:], Y[4000:])


@pytest.fixture(scope="session")
def stories():
    """(texts, lists of labels) that can be learnt; some texts have no label, some labels come twice."""
    words = {
        "cats": "cat purr whiskers meow".split(),
        "dogs": "dog bark leash fetch".split(),
        "law, civil": "court judge law tort".split(),
        "Füße & Maße": "füße straße größe".split(),
    }
    rng = random.Random(0)
    texts, lists = [], []
    for _ in range(700):
        labels = rng.sample(list(words), rng.choice([0, 1, 1, 2]))
        said = [rng.choice(words[label]) for label in labels for _ in range(3)]
        texts.append(" ".join(["the", *said, rng.choice(["of", "and", "our"])]))
        lists.append(labels + labels[:1])
    return texts, lists
