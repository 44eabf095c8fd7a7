"""Ids that a model knows, and their positions in it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mlgt._core import ids
from mlgt._core.ids import KnownIds, find_known, find_more, occurring_ids
from mlgt._core.memory import is_mapped, on_disk

DISTINCT = st.lists(st.integers(0, 99), min_size=1, max_size=20, unique=True)


def random_matrix(seed, columns):
    matrix = sp.random(6, columns, density=0.1, random_state=seed, format="csr")
    return sp.csr_array(matrix)


@given(DISTINCT, st.integers(0, 9))
def test_positions_are_places_among_the_ids(chosen, seed):
    known = KnownIds(np.array(chosen), 100)
    assert known.to_ids(np.arange(len(chosen))).tolist() == chosen
    assert known.to_ids([-1]).tolist() == [-1]
    expected = [chosen.index(i) if i in chosen else -1 for i in range(-1, 100)]
    assert known.to_positions(np.arange(-1, 100)).tolist() == expected
    matrix = random_matrix(seed, 100)
    selected = known.select(matrix)
    assert (selected.toarray() == matrix.toarray()[:, chosen]).all()
    assert selected.has_sorted_indices
    assert (known.select(known.spread(selected)).toarray() == selected.toarray()).all()
    assert (known.spread_scores(selected.toarray())[:, chosen] == selected.toarray()).all()


@given(DISTINCT, st.integers(0, 9), st.integers(1, 12), st.booleans())
def test_pieces_and_files_change_nothing(chosen, seed, piece, mapped):
    known, matrix = KnownIds(np.array(chosen), 100), random_matrix(seed, 100)
    expected = matrix.toarray()[:, chosen]
    if mapped:
        matrix.data, matrix.indices = on_disk(matrix.data), on_disk(matrix.indices)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "PIECE", piece)
        selected = known.select(matrix)
    assert (selected.toarray() == expected).all()
    assert selected.has_sorted_indices
    if selected.nnz:
        assert is_mapped(selected.data) == is_mapped(selected.indices) == mapped


@pytest.mark.parametrize("order", [[2, 0, 1], [0, 1, 2]])
def test_the_matrix_that_is_renumbered_stays_as_it_was(order):
    known = KnownIds(np.array(order), 3)
    matrix = sp.csr_array(np.array([[1.0, 2.0, 3.0]]))
    for renumber in (known.select, known.spread):
        renumber(matrix)
        assert matrix.toarray().tolist() == [[1, 2, 3]]
        assert matrix.data.tolist() == [1, 2, 3]
    backwards = sp.csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    assert known.select(backwards).toarray().tolist() == [backwards.toarray()[0][order].tolist()]
    assert (backwards.data.tolist(), backwards.indices.tolist()) == ([1, 2], [2, 0])


@given(st.integers(0, 9), st.sampled_from([5, 100, 100_000]))
def test_columns_that_occur(seed, columns):
    matrix = random_matrix(seed, columns)
    assert occurring_ids(matrix).tolist() == sorted(set(matrix.indices.tolist()))


def test_more_than_half_must_be_unused():
    half = sp.csr_array((np.ones(600), (np.zeros(600, int), np.arange(600))), shape=(1, 1200))
    assert find_known(half) is None
    less = sp.csr_array((np.ones(599), (np.zeros(599, int), np.arange(599))), shape=(1, 1200))
    assert find_known(less).ids.tolist() == list(range(599))
    assert find_known(less, listed=np.array([1100])) is None
    assert find_known(less, listed=np.array([7])).ids.tolist() == list(range(599))
    few = sp.csr_array((np.ones(1), ([0], [0])), shape=(1, ids.MIN_IDS - 1))
    assert find_known(few) is None
    assert find_known(sp.csr_array((3, 10**9))).ids.tolist() == [0]


@pytest.mark.parametrize("total", [6, 1500, 2**31 - 1])
def test_new_ids_follow_the_known_ones(total):
    new = sp.csr_array((np.ones(2), ([0, 1], [total - 1, 2])), shape=(2, total))
    found = find_more(None, 5, new)
    if total == 6:
        assert found is None
        return
    assert (found.ids.tolist(), found.total) == ([0, 1, 2, 3, 4, total - 1], total)
    found = find_more(KnownIds(np.array([4, 0]), total), total, new)
    assert found.ids.tolist() == [4, 0, 2, total - 1]
