import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.errors import MLGTError
from mlgt.labels.graph import adjacency, cooccurrence

Y = sp.csr_array(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0]]))


def test_cooccurrence_counts_rows():
    expected = [[2, 2, 1, 0], [2, 2, 1, 0], [1, 1, 2, 0], [0, 0, 0, 0]]
    assert (cooccurrence(Y).toarray() == expected).all()


def test_counts_beyond_the_type_of_y():
    many = sp.csr_array(np.ones((300, 2), np.uint8))
    assert (cooccurrence(many).toarray() == 300).all()


def test_rows_with_too_many_labels_can_be_left_out():
    expected = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert (cooccurrence(Y, max_row_labels=2).toarray() == expected).all()


def test_a_row_that_fills_the_memory_is_named(monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(sp.csc_array, "__matmul__", full)
    with pytest.raises(MLGTError, match=r"Row 1 alone, with 3 labels, joins 9 pairs.*max_row_labels"):
        cooccurrence(Y)


def test_adjacency_is_the_graph_without_its_diagonal():
    A = adjacency(cooccurrence(Y))
    assert A.dtype == np.int64
    assert (A.toarray() == [[0, 2, 1, 0], [2, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]).all()


@pytest.mark.parametrize(
    ("G", "message"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        (np.zeros((0, 0)), r"shape \(0, 0\)"),
        (np.array([[0, 0.5], [0.5, 0]]), "not counts"),
        (np.array([[0, -1], [-1, 0]]), "not counts"),
        (np.array([[0, 2], [1, 0]]), "not symmetric"),
        (np.array([[0, 1], [0, 0]]), "not symmetric"),
    ],
)
def test_what_is_no_label_graph_is_refused(G, message):
    with pytest.raises(MLGTError, match=message):
        adjacency(sp.csr_array(G))
