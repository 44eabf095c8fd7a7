import numpy as np
import pytest

from mlgt.rank import top_k

COMPILED = pytest.mark.parametrize("compiled", [True, False], ids=["numba", "numpy"])


@COMPILED
@pytest.mark.parametrize("k", [1, 3, 17])
def test_ties_go_to_the_lowest_id(compiled, k, rng):
    scores = rng.integers(0, 4, size=(50, 17)).astype(np.float32)
    labels, best = top_k(scores, k, compiled=compiled)
    for row, ids, values in zip(scores, labels, best):
        expected = sorted(range(17), key=lambda l: (-row[l], l))[:k]
        assert ids.tolist() == expected
        assert (values == row[expected]).all()


@COMPILED
def test_padding_where_fewer_labels_are_possible(compiled):
    scores = np.array([[-np.inf, 2.0, -np.inf, 3.0], [-np.inf] * 4], np.float32)
    labels, best = top_k(scores, 6, compiled=compiled)
    assert labels.tolist() == [[3, 1, -1, -1, -1, -1], [-1] * 6]
    assert (best[0, :2] == [3.0, 2.0]).all()
    assert (best[labels == -1] == -np.inf).all()
