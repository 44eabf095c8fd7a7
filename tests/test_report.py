import numpy as np

from mlgt.graph import cooccurrence
from mlgt.partition import Partition
from mlgt.report import draw_partition
from mlgt.report.pictures import binned_cooccurrence


def test_the_reordered_matrix_is_summed_in_squares(rng):
    G = cooccurrence(rng.random((30, 8)) < 0.3)
    order = rng.permutation(8)
    dense = G.toarray()[np.ix_(order, order)]
    assert (binned_cooccurrence(G, order, 8) == dense).all()
    assert (binned_cooccurrence(G, order, 4) == dense.reshape(4, 2, 4, 2).sum(axis=(1, 3))).all()


def test_a_partition_is_drawn(rng, tmp_path):
    G = cooccurrence(rng.random((30, 8)) < 0.3)
    partition = Partition(np.arange(8), np.array([0, 3, 6, 8]), np.array([2, 2, -1]))
    draw_partition(tmp_path / "spy.png", G, partition)
    assert (tmp_path / "spy.png").read_bytes().startswith(b"\x89PNG")
