import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mlgt.groups.reweight import reweight
from mlgt.groups.sampling import SAMPLERS, bernoulli, fill_up, fixed_size

entries = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))
columns = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(2, 12)), elements=entries)


@settings(max_examples=300, deadline=None)
@given(V=columns, share=st.floats(0, 1))
def test_columns_sum_to_c_and_are_probabilities(V, share):
    c = 1 + int(share * (V.shape[1] - 1))
    P = reweight(V, c)
    assert ((P >= 0) & (P <= 1)).all()
    np.testing.assert_allclose(P.sum(axis=1), c, rtol=1e-9)


@settings(max_examples=200, deadline=None)
@given(V=columns, share=st.floats(0, 1))
def test_reweighting_is_the_limit_of_clipping_and_redistributing(V, share):
    c = 1 + int(share * (V.shape[1] - 1))
    for h, p in zip(V, reweight(V, c)):
        if np.count_nonzero(h) <= c:  # all non-zeros full, the rest spread over the zeros
            assert (p[h > 0] == 1).all()
            assert np.ptp(p[h == 0]) < 1e-12 if (h == 0).any() else True
            continue
        q = c * h / h.sum()
        for _ in range(1000):
            excess = np.maximum(q - 1, 0).sum()
            q = np.minimum(q, 1)
            free = q < 1
            if excess < 1e-13:
                break
            q[free] += excess * q[free] / q[free].sum()
        np.testing.assert_allclose(p, q, atol=1e-6)


def test_an_empty_column_is_spread_evenly():
    np.testing.assert_allclose(reweight(np.zeros((1, 8)), 2), 0.25)


def test_hopelessly_small_entries_count_as_zero():
    np.testing.assert_allclose(reweight([[1.0, 1e-320, 1e-320]], 2), [[1.0, 0.5, 0.5]])


def test_fewer_nonzeros_than_c():
    np.testing.assert_allclose(reweight([[5.0, 0, 0, 1.0, 0]], 3), [[1, 1 / 3, 1 / 3, 1, 1 / 3]])


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_inclusion_probabilities_are_kept(sampler):
    """Each of 12 frequencies over 20,000 draws within 5 standard errors: a correct sampler fails this
    less than once in 100,000 runs."""
    P = reweight([[9.0, 4, 3, 2, 1, 1, 0.5, 0.3, 0.2, 0.1, 0.1, 0]], 4)
    draws = 20_000
    frequency = sampler(np.repeat(P, draws, axis=0), np.random.default_rng(5)).mean(axis=0)
    error = np.sqrt(P[0] * (1 - P[0]) / draws)
    assert (np.abs(frequency - P[0]) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("c", [1, 4, 16, 32])
def test_fixed_size_gives_every_label_exactly_c_groups(c, rng):
    V = rng.random((500, 40)) * (rng.random((500, 40)) < 0.3)
    assert (fixed_size(reweight(V, c), rng).sum(axis=1) == c).all()


def test_bernoulli_weights_vary(rng):
    P = reweight(rng.random((2000, 40)), 8)
    weights = bernoulli(P, rng).sum(axis=1)
    assert abs(weights.mean() - 8) < 0.5
    assert weights.std() > 1


def test_rows_are_filled_up_at_random(rng):
    """As by `fixed_size`: certain entries are drawn, the others of a row equally often."""
    V = np.zeros((6000, 9))
    V[:3000, [1, 4]] = 2.0
    drawn = fill_up(V > 0, 4, rng)
    assert (drawn.sum(axis=1) == 4).all()
    for rows in (slice(3000), slice(3000, None)):
        share = drawn[rows].mean(axis=0)
        np.testing.assert_allclose(share, reweight(V[rows], 4)[0], atol=0.05)
        np.testing.assert_allclose(share, fixed_size(reweight(V[rows], 4), rng).mean(axis=0), atol=0.05)
    assert len(np.unique(drawn[3000:], axis=0)) == 126  # all sets of four of nine
