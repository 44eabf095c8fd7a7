"""Data in files that are larger than the memory: the same bits as in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.conftest import topic_data

from mlgt import MLGTClassifier
from mlgt._core.memory import is_mapped, on_disk
from mlgt.classifiers import solver
from mlgt.data import read_xmc, write_xmc
from mlgt.ranking import pairs, ranker
from mlgt.tasks import ahead
from references.same import same


def in_file(X):
    return sp.csr_array((on_disk(X.data), on_disk(X.indices), X.indptr), shape=X.shape)


@pytest.mark.parametrize("most", [0, 10_000])
def test_rows_are_gathered_from_a_file(rng, monkeypatch, most):
    monkeypatch.setattr(ahead, "COPY_ENTRIES", 40)
    monkeypatch.setattr(ahead, "GAP_ENTRIES", 25)
    monkeypatch.setattr(ahead, "available_memory", lambda: 1000)
    monkeypatch.setattr(ahead, "MAX_GATHERED", most)
    X = sp.csr_array(sp.random(500, 30, density=0.2, random_state=rng, dtype=np.float32))
    rows = rng.integers(500, size=200)
    own, used, places = ahead.gather(in_file(X), rows)
    assert is_mapped(own.data) == (most == 0)
    np.testing.assert_array_equal(np.arange(500)[used][places], rows)
    np.testing.assert_array_equal(own[places].toarray(), X[rows].toarray())


def test_only_files_larger_than_the_memory_are_read_ahead(rng, monkeypatch):
    X = sp.csr_array(sp.random(500, 30, density=0.2, random_state=rng, dtype=np.float32))
    assert not ahead.exceeds_memory(in_file(X))
    monkeypatch.setattr(ahead, "available_memory", lambda: 1000)
    assert ahead.exceeds_memory(in_file(X))
    assert not ahead.exceeds_memory(X)


@pytest.mark.parametrize(("most", "large"), [(100, 0), (10_000_000, 0), (10_000_000, 1 << 27)])
def test_training_from_files_larger_than_the_memory(tmp_path, monkeypatch, most, large):
    """Small data that is treated as such; also with labels that have too many rows to be gathered."""
    monkeypatch.setattr(solver, "LARGE_ENTRIES", large)
    monkeypatch.setattr(solver, "BLOCK_ENTRIES", 50)
    monkeypatch.setattr(solver, "MIXED_ENTRIES", 500)
    monkeypatch.setattr(pairs, "LARGE_ENTRIES", large)
    monkeypatch.setattr(pairs, "MAX_LABEL_ENTRIES", 1500)
    monkeypatch.setattr(pairs, "PIECE_CANDIDATES", 2000)
    monkeypatch.setattr(ranker, "PIECE_ENTRIES", 2000)
    monkeypatch.setattr(ahead, "MAX_GATHERED", most)
    monkeypatch.setattr(ahead, "available_memory", lambda: 1000)
    write_xmc(tmp_path / "train.txt", *topic_data(n=1500, p=200, d=300))
    model, taken = MLGTClassifier(n_groups=130, ranker="linear", random_state=0), []
    gather = ahead.gather
    monkeypatch.setattr(ranker, "gather", lambda *args: taken.append(1) or gather(*args))
    inside = read_xmc(tmp_path / "train.txt")
    plain = clone(model).fit(inside.X, inside.Y)
    assert not taken
    outside = read_xmc(tmp_path / "train.txt", folder=tmp_path)
    model.fit(outside.X, outside.Y)
    assert len(taken) > 5
    assert same(plain, model)


@pytest.mark.parametrize("large", [0, 1 << 27])
def test_each_row_is_visited_once_per_sweep(rng, monkeypatch, large):
    monkeypatch.setattr(solver, "LARGE_ENTRIES", large)
    monkeypatch.setattr(ahead, "available_memory", lambda: 1000)
    monkeypatch.setattr(solver, "BLOCK_ENTRIES", 30)
    monkeypatch.setattr(solver, "MIXED_ENTRIES", 100)
    X = sp.csr_array(sp.random(500, 30, density=0.2, random_state=rng, dtype=np.float32))
    visited = np.flatnonzero(rng.random(500) < 0.5)
    X = in_file(X)
    orders = []
    for rows, own in solver._visits(X, visited, rng):
        orders.append(rows)
        np.testing.assert_array_equal(own[rows].toarray(), X[rows].toarray())
    assert len(orders) > (5 if large else 20)
    assert all(len(part) % solver.ROWS_PER_SUM == 0 for part in orders[:-1]) or not large
    order = np.concatenate(orders)
    np.testing.assert_array_equal(np.sort(order), visited)
    assert (np.diff(order) < 0).any()
