import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.errors import MLGTError
from mlgt.labels.partition import Partition, lost_share, separators_apart

#           6: {9}
#      4: {7}     5: {8}
#   0: {0,3} 1: {1,2}   2: {4}, 3: {5,6}
TREE = Partition(
    np.array([0, 3, 1, 2, 4, 5, 6, 7, 8, 9]),
    np.array([0, 2, 4, 5, 7, 8, 9, 10]),
    np.array([4, 4, 5, 5, 6, 6, -1]),
)


def test_a_block_is_trained_with_the_separators_above_it():
    assert TREE.n_blocks == 4
    assert TREE.path(1) == [1, 4, 6]
    assert list(TREE.labels(1)) == [1, 2, 7, 9]
    assert list(TREE.labels(2)) == [4, 8, 9]
    assert list(TREE.sizes) == [4, 4, 3, 4]


def test_separators_by_level():
    assert [[list(s) for s in level] for level in TREE.levels] == [[[9]], [[7], [8]]]
    assert list(TREE.separator) == [7, 8, 9]


def test_where_labels_are():
    assert list(TREE.node_of) == [0, 1, 1, 0, 2, 3, 3, 4, 5, 6]
    assert TREE.balance == pytest.approx(2 / 1.75)


def test_the_tree_in_text():
    assert str(TREE).splitlines() == [
        "separator: 1 labels",
        "  separator: 1 labels",
        "    block 0: 2 labels, 4 with its separators",
        "    block 1: 2 labels, 4 with its separators",
        "  separator: 1 labels",
        "    block 2: 1 labels, 3 with its separators",
        "    block 3: 2 labels, 4 with its separators",
    ]


def test_lost_is_what_no_block_holds_together(monkeypatch):
    monkeypatch.setattr("mlgt.labels.partition.tree._BLOCK_ROWS", 3)  # several slices
    rng = np.random.default_rng(0)
    G = np.triu(rng.integers(1, 9, (10, 10)), 1)
    G += G.T
    together = np.zeros((10, 10), bool)
    for i in range(4):
        together[np.ix_(TREE.labels(i), TREE.labels(i))] = True
    expected = G[~together].sum() / G.sum()
    assert 0 < expected < 1
    assert lost_share(sp.csr_array(G), TREE) == pytest.approx(expected)
    assert lost_share(sp.csr_array(np.where(together, G, 0)), TREE) == 0


@pytest.mark.parametrize(
    ("permutation", "offsets", "parents", "message"),
    [
        ([0, 0, 2], [0, 1, 2, 3], [2, 2, -1], "labels 0 to 2 once"),
        ([0, 1, 2], [0, 1, 2], [2, 2, -1], "offsets"),
        ([0, 1, 2], [0, 2, 1, 3], [2, 2, -1], "offsets"),
        ([0, 1, 2], [0, 1, 2, 3], [2, 2, 2], "the root"),
        ([0, 1, 2], [0, 1, 2, 3], [-1, 2, -1], "the root"),
        ([0, 1, 2], [0, 1, 2, 3], [1, 0, -1], "the root"),
    ],
)
def test_arrays_that_are_no_partition_are_refused(permutation, offsets, parents, message):
    with pytest.raises(MLGTError, match=message):
        Partition(np.array(permutation), np.array(offsets), np.array(parents))


def test_separators_apart_are_one_more_block():
    apart = separators_apart(TREE)
    assert apart.n_blocks == TREE.n_blocks + 1 == 5
    assert [apart.labels(i).tolist() for i in range(5)] == [[0, 3], [1, 2], [4], [5, 6], [7, 8, 9]]
    assert len(apart.separator) == 0
    assert separators_apart(apart) is apart
