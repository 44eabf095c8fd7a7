import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.groups import SaffronDesign, pool, regular_graph, saffron_design
from mlgt.groups.density_evolution import expected_recovery
from mlgt.groups.saffron import (
    choose_column_weight,
    count_bins,
    count_bits,
    plan,
    plan_design,
    required_tests,
)

BOTH = pytest.mark.parametrize("signatures", ["local", "global"])


def uneven_graph(rng, m1=7, d=40):
    return rng.random((m1, d)) < np.linspace(0.05, 0.6, m1)[:, None]


@BOTH
def test_the_matrix_is_U_diag_t(signatures, rng):
    """A_i = U diag(t_i), eq. (1); under local signatures a bin takes U's columns in its members' order."""
    design = saffron_design(uneven_graph(rng), rng, signatures=signatures)
    T, U = design.graph.toarray(), design.U
    expected = np.zeros((7, len(U), 40))
    for block, t in zip(expected, T):
        members = np.flatnonzero(t)
        block[:, members] = U[:, : len(members)] if signatures == "local" else U[:, members]
    assert design.A.shape == (design.n_groups, 40) == (7 * 6 * design.n_bits, 40)
    assert (design.A.toarray() == expected.reshape(-1, 40)).all()


@BOTH
def test_signatures_spell_the_address_three_times_and_its_complement(signatures, rng):
    design = saffron_design(uneven_graph(rng), rng, signatures=signatures)
    U, L = design.U, design.n_bits
    b, not_b, b1, not_b1, b2, not_b2 = U.reshape(6, L, -1)
    digits = 2 ** np.arange(L)
    assert (b + not_b == 1).all()
    assert (b1 + not_b1 == 1).all()
    assert (b2 + not_b2 == 1).all()
    assert (digits @ b == np.arange(U.shape[1])).all()
    assert sorted(digits @ b1) == sorted(digits @ b2) == list(range(U.shape[1]))
    assert (digits @ b1 != digits @ b2).any()


def test_local_addresses_take_the_digits_of_the_largest_bin(rng):
    graph = regular_graph(16, 1000, 4, rng)  # 250 labels a bin
    assert saffron_design(graph, rng, signatures="local").n_bits == 8
    assert saffron_design(graph, rng, signatures="global").n_bits == 10
    assert [count_bits(n) for n in (1, 2, 3, 4, 5, 1024, 1025)] == [1, 1, 2, 2, 3, 10, 11]


@BOTH
def test_pooling_without_A_is_pooling(signatures, rng):
    design = saffron_design(uneven_graph(rng), rng, signatures=signatures)
    labels = np.array([rng.choice(40, 4, replace=False) for _ in range(30)])
    labels[:10, 2:] = -1
    labels[0] = -1
    Y = np.zeros((30, 41))
    np.put_along_axis(Y, labels, 1, axis=1)
    assert (design.pool(labels) == pool(Y[:, :40], design.A).toarray()).all()


@BOTH
def test_a_design_survives_as_arrays(signatures, rng):
    design = saffron_design(uneven_graph(rng), rng, signatures=signatures)
    again = SaffronDesign.from_arrays(design.to_arrays(), 40)
    assert again.signatures == signatures
    assert (again.A != design.A).nnz == 0


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("saffron_indices", lambda a: a + 1, "outside 0 .. 39"),
        ("saffron_indptr", lambda a: a[::-1], "does not rise"),
        ("saffron_indptr", lambda a: a[:-1], "ends at"),
        ("saffron_codes", lambda a: a[:, :-1].copy(), "three permutations"),
        ("saffron_codes", lambda a: a // 2, "three permutations"),
        ("saffron_codes", lambda a: a[:, ::-1].copy(), "not the address itself"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change, message, rng):
    arrays = saffron_design(np.ones((2, 40)), rng).to_arrays()
    with pytest.raises(ValueError, match=message):
        SaffronDesign.from_arrays(arrays | {name: change(arrays[name])}, 40)


@BOTH
@pytest.mark.parametrize(("m", "d", "c"), [(350, 4000, 1), (1440, 4000, 4), (720, 300, 6)])
def test_one_bin_more_would_be_too_many_tests(m, d, c, signatures, rng):
    m1 = count_bins(m, d, c, signatures)
    sizes = [
        saffron_design(regular_graph(n, d, c, rng), rng, signatures=signatures).n_groups
        for n in (m1, m1 + 1)
    ]
    assert sizes[0] <= m < sizes[1]


@BOTH
@pytest.mark.parametrize("graph", ["regular", "nmf"])
def test_plans_draw_reproducibly_within_m_tests(graph, signatures, rng):
    Y = sp.csr_array((rng.random((300, 60)) < 0.05) & (np.arange(60) != 7))

    def build(seed, weight=None):
        rng = np.random.default_rng(seed)
        return plan_design(Y, 400, rng, graph=graph, signatures=signatures).draw(weight, rng)

    design = build(0, 3)
    assert design.n_groups <= 400
    assert (design.graph.sum(axis=0) == 3).all()  # label 7, without training rows, too
    assert (design.A != build(0, 3).A).nnz == 0
    assert design.A.shape != build(1, 3).A.shape or (design.A != build(1, 3).A).nnz > 0
    assert build(0).graph.sum(axis=0).min() >= 1
    rng = np.random.default_rng(0)
    alone = plan(Y, 400, rng, graph=graph, signatures=signatures).draw(3, rng)
    assert (alone != design.A).nnz == 0


def test_an_nmf_graph_follows_the_labels(rng):
    """Labels of two families that never occur together share no bin; a regular graph mixes them."""
    Y = np.kron(np.eye(2), rng.random((200, 30)) < 0.3)
    shared = {}
    for graph in ("nmf", "regular"):
        T = plan_design(Y, 800, rng, graph=graph).draw(3, rng).graph.astype(float)
        shared[graph] = (T.T @ T).toarray()[:30, 30:].mean()
    assert shared["nmf"] < 0.2 * shared["regular"]


def test_more_tests_afford_a_larger_weight():
    labels = np.full(100, 5)
    few, many = (choose_column_weight(m, labels, 4000) for m in (350, 3000))
    assert few == 1
    assert 4 <= many <= 12


@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("weight", [None, 1, 5, 20])
def test_required_tests_are_expected_to_find_the_labels(k, weight):
    """And those of one bin fewer are not."""
    d = 5000
    m = required_tests(d, k, weight)
    c = weight or choose_column_weight(m, np.array([k]), d)
    assert expected_recovery(k, count_bins(m, d, c), c) >= 0.99
    longest = required_tests(d, k, weight, signatures="global")
    assert longest == required_tests(d, k, weight, graph="nmf") >= m
    bins = longest // (6 * count_bits(d))
    assert all(expected_recovery(k, bins - 1, c) < 0.99 for c in [weight or 3] if c < bins)


@BOTH
def test_an_nmf_graph_can_be_drawn_with_required_tests(signatures, rng):
    """Its largest bin may hold nearly all labels."""
    Y = np.pad((rng.random((300, 5)) < 0.5), ((0, 0), (0, 60)))
    options = {"graph": "nmf", "signatures": signatures}
    for weight in (None, 4):
        m = required_tests(65, 3, weight, **options)
        assert plan_design(Y, m, rng, **options).draw(weight, rng).n_groups <= m


def test_senseless_options_name_the_choices(rng):
    with pytest.raises(ValueError, match="choose one of local, global"):
        saffron_design(np.eye(3), rng, signatures="short")
    with pytest.raises(ValueError, match="choose one of regular, nmf"):
        plan_design(np.eye(3), 100, rng, graph="tree")
    with pytest.raises(ValueError, match="choose one of local, global"):
        plan_design(np.eye(3), 100, rng, signatures="short")
    with pytest.raises(ValueError, match="has no edge"):
        saffron_design(np.zeros((2, 3)), rng)
    with pytest.raises(ValueError, match=r"100 groups do not make 4 bins.*Pass 288 groups"):
        plan_design(np.ones((2, 4000)), 100, rng).draw(4, rng)
