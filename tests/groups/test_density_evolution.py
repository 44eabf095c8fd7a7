import numpy as np
import pytest

from mlgt.decoding.saffron import decode_peeling
from mlgt.groups.bipartite import regular_graph
from mlgt.groups.density_evolution import best_column_weight, expected_recovery
from mlgt.groups.saffron import saffron_design


def test_one_label_is_always_found():
    assert expected_recovery(1, 5, 2) == 1.0


def test_two_labels_in_one_bin_each_are_found_unless_they_meet():
    assert expected_recovery(2, 10, 1) == pytest.approx(0.9)


@pytest.mark.parametrize(("m1", "c"), [(160, 4), (100, 3), (60, 3)])
def test_peeling_finds_the_share_that_density_evolution_expects(m1, c):
    """60 rows of 50 labels; their shares scatter with a deviation of at most 1/2, their mean with 1/16."""
    rng = np.random.default_rng(6)
    k, d, n = 50, 20_000, 60
    design = saffron_design(regular_graph(m1, d, c, rng), rng)
    truth = np.array([rng.choice(d, k, replace=False) for _ in range(n)])
    labels, _ = decode_peeling(design, design.pool(truth), k)
    shares = (labels >= 0).mean(axis=1)
    assert abs(shares.mean() - expected_recovery(k, m1, c)) < 4 * shares.std() / np.sqrt(n) + 1 / k


def test_the_best_weight_is_none_too_small_and_none_too_large():
    c = best_column_weight(50, 200)
    assert 1 < c < 32
    assert expected_recovery(50, 200, c) >= max(expected_recovery(50, 200, w) for w in (c - 1, c + 1))
