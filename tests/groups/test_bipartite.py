import numpy as np
import pytest

from mlgt.groups.bipartite import regular_graph


@pytest.mark.parametrize(
    ("m1", "d", "c"),
    [(20, 4000, 4), (5, 400, 2), (7, 3, 5), (4, 4, 2), (1, 5, 1), (6, 10, 6), (50, 100, 25), (9, 200, 4)],
)
def test_every_label_has_c_bins_and_bins_are_even(m1, d, c, rng):
    T = regular_graph(m1, d, c, rng)
    assert T.shape == (m1, d)
    assert T.has_canonical_format  # no label is in a bin twice
    assert (T.data == 1).all()
    assert (T.sum(axis=0) == c).all()
    assert np.ptp(T.sum(axis=1)) <= 1


def test_any_two_bins_are_as_likely_as_any_other_two(rng):
    """A label's pair of bins is uniform among the 15: a repair that preferred some would show."""
    n = 300
    pairs = np.array([np.flatnonzero(regular_graph(6, 12, 2, rng)[:, [0]].toarray()) for _ in range(n)])
    times = np.unique(pairs @ [6, 1], return_counts=True)[1]
    assert len(times) == 15
    assert ((times - n / 15) ** 2 / (n / 15)).sum() < 36.1  # chi-square, 14 degrees of freedom, p = 0.001


def test_more_bins_than_there_are_is_refused(rng):
    with pytest.raises(ValueError, match="Pass 1 <= c <= 3"):
        regular_graph(3, 10, 4, rng)
