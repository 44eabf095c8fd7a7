import builtins
import sys
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mlgt._core.errors import MLGTError, NoSeparatorError, PartitionerMissingError
from mlgt.labels.graph import adjacency, cooccurrence
from mlgt.labels.partition import PARTITIONERS, lost_share, partition_labels

try:
    import pymetis  # noqa: F401
except ImportError:
    METIS = pytest.param("metis", marks=pytest.mark.skip(reason="pymetis is not installed"))
else:
    METIS = "metis"
EACH = pytest.mark.parametrize("partitioner", [METIS, *sorted(PARTITIONERS.keys() - {"metis"})])


def graph(edges, d, weight=1):
    """The co-occurrence of d labels, each in a row of its own, and of the given pairs."""
    G = np.eye(d)
    for i, j in edges:
        G[i, j] = G[j, i] = weight
    return sp.csr_array(G)


def communities(n_communities=6, size=20, hubs=3, seed=0):
    """Labels in communities; `hubs` occur with everything. Returns Y'Y and the true community (-1: hub)."""
    rng = np.random.default_rng(seed)
    d = n_communities * size + hubs
    Y = np.zeros((60 * n_communities, d))
    for i, row in enumerate(Y):
        row[rng.choice(size, 4, replace=False) + size * (i % n_communities)] = 1
        row[d - 1 - rng.integers(hubs)] = 1
    truth = np.append(np.repeat(np.arange(n_communities), size), np.full(hubs, -1))
    shuffled = rng.permutation(d)
    return cooccurrence(sp.csr_array(Y[:, shuffled])), truth[shuffled]


def split(G, seed=0, **options):
    return partition_labels(G, np.random.default_rng(seed), **options)


def assert_a_partition(partition, d):
    """Every label in exactly one node, and in the labels of the blocks below it."""
    nodes = [partition.node(v) for v in range(partition.n_nodes)]
    assert sorted(np.concatenate(nodes)) == list(range(d))
    assert set(np.concatenate([partition.labels(i) for i in range(partition.n_blocks)])) == set(range(d))
    assert all(len(nodes[i]) for i in range(partition.n_blocks))


def holds_together(partition):
    """(d, d): is there a block whose labels, with its separators, hold both?"""
    together = np.zeros((partition.n_labels, partition.n_labels), bool)
    for i in range(partition.n_blocks):
        together[np.ix_(partition.labels(i), partition.labels(i))] = True
    return together


@st.composite
def graphs(draw):
    d = draw(st.integers(2, 24))
    pairs = st.tuples(st.integers(0, d - 1), st.integers(0, d - 1))
    G = graph(draw(st.lists(pairs, min_size=1, max_size=60)), d)
    G.data *= draw(st.integers(1, 3))
    return G


OPTIONS = settings(max_examples=60, deadline=None)


@EACH
@OPTIONS
@given(G=graphs(), data=st.data())
def test_a_strict_partition_parts_no_labels_that_occur_together(partitioner, G, data):
    d = G.shape[0]
    n_blocks = data.draw(st.integers(2, min(d, 6)))
    branching = data.draw(st.integers(2, 4))
    try:
        partition = split(G, n_blocks=n_blocks, partitioner=partitioner, branching=branching)
        assert partition.n_blocks == n_blocks
    except NoSeparatorError as error:
        partition = error.partition
        if partition is None:
            return
        assert partition.n_blocks < n_blocks
    assert_a_partition(partition, d)
    assert holds_together(partition)[G.nonzero()].all()
    assert partition.lost == 0


@EACH
@OPTIONS
@given(G=graphs(), data=st.data())
def test_a_budget_is_kept_and_always_leads_to_the_blocks(partitioner, G, data):
    d = G.shape[0]
    n_blocks = data.draw(st.integers(2, d))
    budget = data.draw(st.sampled_from([0, 0.1, 0.3, 0.9]))
    branching = data.draw(st.integers(2, 4))
    assume(adjacency(G).nnz)  # not all pairs are of a label with itself
    partition = split(G, n_blocks=n_blocks, partitioner=partitioner, branching=branching, budget=budget)
    assert_a_partition(partition, d)
    assert partition.n_blocks == n_blocks
    assert len(partition.separator) <= budget * d
    A = adjacency(G).toarray()
    lost = A[~holds_together(partition)].sum() / A.sum()
    assert partition.lost == pytest.approx(lost)
    assert lost_share(adjacency(G), partition) == pytest.approx(lost)


@EACH
@OPTIONS
@given(G=graphs(), data=st.data())
def test_blocks_are_as_small_as_requested(partitioner, G, data):
    most = data.draw(st.integers(1, G.shape[0]))
    budget = data.draw(st.sampled_from([None, 0, 0.1]))
    try:
        partition = split(G, max_block_labels=most, partitioner=partitioner, budget=budget)
    except NoSeparatorError as error:
        partition = error.partition
        assert partition is None or partition.sizes.max() > most
    else:
        assert partition.sizes.max() <= most
    if partition is not None:
        assert_a_partition(partition, G.shape[0])


@EACH
@pytest.mark.parametrize("branching", [2, 6])
def test_communities_and_hubs_are_found(partitioner, branching):
    G, truth = communities()
    partition = split(G, n_blocks=6, partitioner=partitioner, branching=branching)
    assert sorted(partition.separator) == sorted(np.flatnonzero(truth == -1))
    for i in range(6):
        assert len(set(truth[partition.node(i)])) == 1
    assert partition.balance == 1
    assert partition.partitioner == partitioner


@EACH
def test_a_budget_goes_to_the_labels_that_cover_most(partitioner):
    G, truth = communities(hubs=4)
    partition = split(G, n_blocks=6, partitioner=partitioner, branching=6, budget=4.1 / 124)
    assert sorted(partition.separator) == sorted(np.flatnonzero(truth == -1))
    assert partition.lost == 0
    fewer = split(G, n_blocks=6, partitioner=partitioner, branching=6, budget=2.1 / 124)
    assert set(fewer.separator) < set(np.flatnonzero(truth == -1))
    assert 0 < fewer.lost < split(G, n_blocks=6, partitioner=partitioner, branching=6, budget=0).lost


@EACH
def test_whole_components_need_no_separator(partitioner):
    G, truth = communities(hubs=1)
    apart = G[truth >= 0][:, truth >= 0]
    partition = split(apart, n_blocks=3, partitioner=partitioner)
    assert len(partition.separator) == 0
    assert partition.balance == 1


@EACH
def test_labels_that_never_occur_fill_the_blocks_evenly(partitioner):
    G, _ = communities(n_communities=4)
    d = G.shape[0]
    G = sp.block_diag([G, sp.csr_array((42, 42))], format="csr")
    partition = split(G, n_blocks=4, partitioner=partitioner, branching=4)
    unused = [(partition.node(i) >= d).sum() for i in range(4)]
    assert sum(unused) == 42
    assert max(unused) <= 11
    assert partition.sizes.max() - partition.sizes.min() <= 1


@EACH
@pytest.mark.parametrize("budget", [None, 0.05])
def test_same_seed_same_partition(partitioner, budget):
    G, _ = communities(seed=1)
    options = {"n_blocks": 5, "partitioner": partitioner, "budget": budget}
    one, two, other = (split(G, seed=seed, **options) for seed in (7, 7, 8))
    assert (one.permutation == two.permutation).all()
    assert (one.offsets == two.offsets).all()
    assert (one.permutation != other.permutation).any()


def test_nesting_keeps_deep_separators_out_of_other_blocks():
    """Two halves, joined by label 12, each of two cliques joined by a label of its own."""
    cliques = [range(3), range(3, 6), range(6, 9), range(9, 12)]
    edges = [(i, j) for clique in cliques for i in clique for j in clique if i < j]
    edges += [(12, i) for i in range(12)] + [(13, i) for i in range(6)] + [(14, i) for i in range(6, 12)]
    partition = split(graph(edges, 15), n_blocks=4, partitioner="propagation")
    assert [list(s) for s in partition.levels[0]] == [[12]]
    assert sorted(int(s[0]) for s in partition.levels[1]) == [13, 14]
    assert (partition.sizes == 5).all()


def test_progress_counts_all_labels():
    G, _ = communities()
    seen = []
    split(G, n_blocks=4, partitioner="propagation", progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (G.shape[0], G.shape[0])


@EACH
def test_a_clique_has_no_separator(partitioner):
    clique = sp.csr_array(np.ones((20, 20)))
    with pytest.raises(NoSeparatorError, match="no separator: nearly all of its 20 labels") as caught:
        split(clique, n_blocks=4, partitioner=partitioner)
    assert caught.value.partition is None
    assert split(clique, n_blocks=4, partitioner=partitioner, budget=0.1).n_blocks == 4


def test_what_came_nearest_is_in_the_error():
    two_cliques = sp.csr_array(np.kron(np.eye(2), np.ones((10, 10))))
    with pytest.raises(NoSeparatorError, match="into 2 blocks, not into n_blocks=4") as caught:
        split(two_cliques, n_blocks=4, partitioner="propagation")
    assert caught.value.partition.n_blocks == 2
    with pytest.raises(
        NoSeparatorError, match=r"largest block has 10 labels.*max_block_labels=5"
    ) as caught:
        split(two_cliques, max_block_labels=5, partitioner="propagation")
    assert caught.value.partition.n_blocks == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_blocks": 9}, "n_blocks=9 exceeds the 8 labels. Pass n_blocks<=8"),
        ({"n_blocks": 1}, "n_blocks=1 must be a whole number of at least 2"),
        ({"n_blocks": 2.0}, "n_blocks=2.0 must be a whole number"),
        ({"n_blocks": 2, "max_block_labels": 4}, "either n_blocks or max_block_labels"),
        ({}, "either n_blocks or max_block_labels"),
        ({"n_blocks": 2, "budget": 5}, "budget=5 must be a share of the labels"),
        ({"n_blocks": 2, "branching": 1}, "branching=1 must be"),
        ({"n_blocks": 2, "partitioner": "scotch"}, "'scotch' is unknown; choose one of metis, propagation"),
    ],
)
def test_impossible_wishes_are_refused(options, message):
    with pytest.raises(MLGTError, match=message):
        split(graph([(0, 1), (1, 2)], 8), **options)


def test_a_graph_without_edges_is_refused():
    with pytest.raises(NoSeparatorError, match="no two of the 8 labels occur together"):
        split(graph([], 8), n_blocks=2)


def test_metis_missing_is_reported_and_never_replaced(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "pymetis":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "pymetis", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    path = graph([(i, i + 1) for i in range(7)], 8)
    with pytest.raises(PartitionerMissingError, match=r"pip install pymetis.*partitioner='propagation'"):
        split(path, n_blocks=2)
    assert split(path, n_blocks=2, partitioner="propagation").partitioner == "propagation"


def test_a_partitioner_is_one_module_and_its_name(monkeypatch):
    module = ModuleType("halves")
    module.partition_edges = lambda A, shares, rng: np.arange(A.shape[0]) * len(shares) // A.shape[0]
    monkeypatch.setitem(sys.modules, "mlgt.labels.partition.halves", module)
    monkeypatch.setitem(PARTITIONERS, "halves", "for this test")
    path = graph([(i, i + 1) for i in range(7)], 8)
    assert split(path, n_blocks=2, partitioner="halves").partitioner == "halves"


@EACH
def test_eurlex_beats_the_authors_reordering(partitioner, eurlex):
    """Eight blocks, strict: theirs have 1,352 labels in separators, 1,963 in the largest block."""
    G = cooccurrence(eurlex.train.Y)
    partition = split(G, n_blocks=8, partitioner=partitioner)
    assert lost_share(adjacency(G), partition) == 0
    assert len(partition.separator) < 1420
    assert partition.sizes.max() < 1550
    assert partition.balance < 1.2
