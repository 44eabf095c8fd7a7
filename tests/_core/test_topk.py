import numpy as np
import pytest

from mlgt._core.topk import top_k
from mlgt.ranking.sets import expected_f1_cut
from references import topk as reference

EACH = pytest.mark.parametrize("top_k", [top_k, reference.top_k], ids=["numba", "numpy"])


@EACH
@pytest.mark.parametrize("k", [1, 3, 17])
def test_ties_go_to_the_lowest_id(top_k, k, rng):
    scores = rng.integers(0, 4, size=(50, 17)).astype(np.float32)
    labels, best = top_k(scores, k)
    for row, ids, values in zip(scores, labels, best):
        expected = sorted(range(17), key=lambda l: (-row[l], l))[:k]
        assert ids.tolist() == expected
        assert (values == row[expected]).all()


@EACH
def test_padding_where_fewer_labels_are_possible(top_k):
    scores = np.array([[-np.inf, 2.0, -np.inf, 3.0], [-np.inf] * 4], np.float32)
    labels, best = top_k(scores, 6)
    assert labels.tolist() == [[3, 1, -1, -1, -1, -1], [-1] * 6]
    assert (best[0, :2] == [3.0, 2.0]).all()
    assert (best[labels == -1] == -np.inf).all()


def test_the_cut_has_the_largest_expected_f1(rng):
    p = -np.sort(-(rng.random((50, 8)) ** 2), axis=1)
    cut = expected_f1_cut(p)
    for row, kept in zip(p, cut):
        values = [2 * row[:j].sum() / (j + row.sum()) for j in range(1, 9)]
        assert values[kept - 1] == max(values)


def test_the_cut_follows_how_sure_one_is():
    p = np.array(
        [[0.99, 0.98, 0.97, 0.02, 0.01], [0.6, 0.05, 0.01, 0.01, 0.0], [0.01, 0.01, 0.01, 0.01, 0.01]]
    )
    assert expected_f1_cut(p)[:2].tolist() == [3, 1]
    assert expected_f1_cut(p)[2] >= 1
    assert expected_f1_cut(np.zeros((2, 3))).tolist() == [1, 1]
