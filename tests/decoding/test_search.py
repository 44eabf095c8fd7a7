"""The search gives the same labels and the same bits as the full product, whatever way it takes."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.rows import scale_rows
from mlgt.classifiers.margins import group_margins
from mlgt.decoding import DECODERS, decode_soft, decode_top_k, search
from mlgt.decoding._search_kernels import add_rows
from mlgt.decoding.index import LabelIndex
from mlgt.decoding.search import MAX_FILTER_ROWS, count_filter, is_countable
from mlgt.groups import constant_weight_groups, sparse_random_groups
from references.topk import top_k

METHODS = ["product", "row", "count_filter"]


def full_product(decoder, margins, A, k):
    """All n x d scores, then a sort: the definition."""
    scores = decoder.scores(margins, A)
    order = np.arange(scores.shape[1]) if decoder.order is None else decoder.order
    labels, best = top_k(np.ascontiguousarray(scores[:, order]), k)
    return np.where(labels >= 0, order[labels], -1), best


def margins_of(rng, n, m, kind):
    noise = rng.normal(size=(n, m)).astype(np.float32)
    if kind == "separated":  # what good classifiers give: a few groups well above the rest
        return np.where(rng.random((n, m)) < 0.1, 1 + 0.3 * noise, -1 + 0.3 * noise).astype(np.float32)
    if kind == "ties":
        return np.round(noise)
    return noise if kind == "noise" else np.full((n, m), -0.5, np.float32)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["separated", "noise", "ties", "constant"])
@pytest.mark.parametrize(
    ("m", "d", "c"),
    [(40, 300, 4), (20, 30, 5), (60, 200, 21), (64, 64, 16), (90, 1000, 12), (300, 130, 70), (7, 5, 1)],
)
@pytest.mark.parametrize("name", ["soft", "top_k", "inclusion"])
def test_exactly_the_full_product(method, kind, m, d, c, name, rng):
    A = constant_weight_groups(m, d, c, rng)
    decoder, index = DECODERS[name](A, np.arange(d)), LabelIndex(A)
    margins = margins_of(rng, 70, m, kind)
    for k in (1, 5, d):
        labels, best = search(decoder.values(margins), index, decoder, k, method=method)
        expected_labels, expected_best = full_product(decoder, margins, A, k)
        assert (labels == expected_labels).all()
        assert (best == expected_best).all()


@pytest.mark.parametrize("name", DECODERS)
def test_unequal_columns_and_priors_take_the_product(name, rng):
    A = sparse_random_groups(20, 100, 3, rng).toarray()
    A[:, 13] = 0
    counts = rng.integers(0, 50, size=100)
    options = {"prior": 0.3} if name == "soft" else {}
    decoder, index = DECODERS[name](A, counts, **options), LabelIndex(A)
    assert index.weight is None
    assert not is_countable(index, decoder)
    margins = margins_of(rng, 5, 20, "noise")
    expected_labels, expected_best = full_product(decoder, margins, A, 100)
    for method in (None, "product", "row"):
        labels, best = search(decoder.values(margins), index, decoder, 100, method=method)
        assert (labels == expected_labels).all()
        assert (best == expected_best).all()
        assert not (labels == 13).any()


@pytest.mark.parametrize("method", ["product", "row"])
@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("kind", ["noise", "ties"])
def test_labels_can_be_scored_a_part_at_a_time(method, name, kind, rng, monkeypatch):
    A = constant_weight_groups(20, 150, 4, rng)
    decoder, index = DECODERS[name](A, rng.integers(0, 9, 150)), LabelIndex(A)
    values = decoder.values(margins_of(rng, 70, 20, kind))
    for k in (1, 5, 150):
        whole = search(values, index, decoder, k, method=method)
        with monkeypatch.context() as narrow:
            narrow.setattr(sys.modules["mlgt.decoding.search"], "BLOCK_LABELS", 32)
            parts = search(values, index, decoder, k, method=method)
        assert (parts[0] == whole[0]).all()
        assert (parts[1] == whole[1]).all()


def test_a_prior_rules_out_counting_even_with_equal_columns(rng):
    A = constant_weight_groups(20, 50, 4, rng)
    index = LabelIndex(A)
    assert is_countable(index, decode_soft(A, np.arange(50)))
    assert not is_countable(index, decode_soft(A, np.arange(50), prior=0.1))
    assert not is_countable(index, DECODERS["top_k_frequency"](A, np.arange(50)))


def test_counting_scores_few_labels_when_groups_are_well_separated(rng):
    A = constant_weight_groups(200, 20_000, 16, rng)
    decoder, index = decode_soft(A), LabelIndex(A)
    margins = margins_of(rng, 10, 200, "noise") * 0.2 - 1
    for row in margins:  # five labels present
        row[np.unique(index.groups.reshape(-1, 16)[rng.choice(20_000, 5)])] += 2
    values = decoder.values(margins)
    for v in values:
        labels, best = np.full(5, -1), np.full(5, -np.inf, np.float32)
        _, scored = count_filter(v, index, decoder, labels, best)
        assert scored < 0.02 * 20_000


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 16, 40, 60])
def test_bit_sliced_counters_count(n_rows, rng):
    bits = rng.integers(0, 2**63, size=(80, 300), dtype=np.uint64)
    chosen = rng.choice(80, n_rows, replace=False)
    planes = np.zeros((6, 300), np.uint64)
    add_rows(bits, chosen, planes)

    def unpack(words):
        return (words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)

    counted = sum(unpack(plane).astype(int) << p for p, plane in enumerate(planes))
    expected = sum((unpack(bits[i]).astype(int) for i in chosen), np.zeros((300, 64), int))
    assert (counted == expected).all()


def test_the_index_is_the_matrix(rng):
    A = sparse_random_groups(30, 200, 4, rng)
    index = LabelIndex(A)
    labels = np.repeat(np.arange(200), np.diff(index.indptr))
    assert (sp.csr_array((np.ones(A.nnz), (index.groups, labels)), shape=A.shape) != A).nnz == 0
    unpacked = (index.bits[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert (unpacked.reshape(30, -1)[:, :200] == A.toarray()).all()
    assert unpacked.reshape(30, -1)[:, 200:].sum() == 0


def test_margins_are_the_product_and_do_not_depend_on_the_neighbours(rng):
    X = sp.csr_array(rng.normal(size=(50, 80)) * (rng.random((50, 80)) < 0.2), dtype=np.float32)
    W, b = rng.normal(size=(80, 33)).astype(np.float32), rng.normal(size=33).astype(np.float32)
    out = group_margins(X, W, b)
    np.testing.assert_allclose(out, X.toarray() @ W + b, atol=1e-4)
    assert (group_margins(X[[17]], W, b)[0] == out[17]).all()


def test_unit_rows(rng):
    X = sp.csr_array(rng.normal(size=(20, 30)) * (rng.random((20, 30)) < 0.3), dtype=np.float32)
    X = sp.vstack([X, sp.csr_array((1, 30), dtype=np.float32)], format="csr")
    norms = np.linalg.norm(scale_rows(X).toarray(), axis=1)
    np.testing.assert_allclose(norms[:20], 1, rtol=1e-6)
    assert norms[20] == 0


def test_few_and_many_rows_agree(rng):
    A = constant_weight_groups(60, 500, 8, rng)
    decoder, index = decode_top_k(A), LabelIndex(A)
    values = decoder.values(margins_of(rng, 100, 60, "noise"))
    labels, best = search(values, index, decoder, 9)
    for first in range(0, 100, MAX_FILTER_ROWS):
        few = search(values[first : first + MAX_FILTER_ROWS], index, decoder, 9)
        assert (few[0] == labels[first : first + MAX_FILTER_ROWS]).all()
        assert (few[1] == best[first : first + MAX_FILTER_ROWS]).all()


@pytest.mark.parametrize("method", METHODS)
def test_infinite_and_missing_values_are_nobodys_score(method):
    A = constant_weight_groups(12, 40, 3, np.random.default_rng(0))
    decoder, index = decode_soft(A), LabelIndex(A)
    values = np.full((2, 12), -np.inf, np.float32)
    values[1] = np.nan
    labels, best = search(values, index, decoder, 4, method=method)
    assert (labels == -1).all()
    assert (best == -np.inf).all()
