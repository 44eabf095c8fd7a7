"""What runs in place of kernels that are not compiled yet: the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.rows import _scale, scale, scale_row
from mlgt._core.sigmoid import _log_sigmoids, log_sigmoids
from mlgt._core.sorting import space
from mlgt.classifiers import margins
from mlgt.compile.kernels import FEW, ONE, exceeds, interpreting
from mlgt.decoding import _search_kernels as search
from mlgt.ranking import _dense_kernels as dense
from mlgt.ranking import _kernels as rankers
from mlgt.ranking import _name_kernels as name_kernels
from mlgt.ranking import _order_kernels as order
from mlgt.ranking import _shortlist_kernels as shortlists
from mlgt.ranking.cooccurrence import N_LIKELY

f4 = np.float32


def same(*arrays):
    return all((a.view(np.uint8) == b.view(np.uint8)).all() for a, b in arrays)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_rows_are_scaled_alike(rng, power):
    data, indptr = rng.normal(size=50).astype(f4), np.array([0, 15, 15, 40, 50], np.int32)
    data[40:] = 0
    found, plain = np.empty_like(data), np.empty_like(data)
    scale(indptr, data, f4(power), True, found)
    _scale(indptr, data, f4(power), True, plain)
    assert same((found, plain))
    assert _scale(indptr, data, f4(0.7), True, plain) is NotImplemented
    indices, one = np.arange(15, dtype=np.int32), np.empty(15, f4)
    assert scale_row(indices, data[:15], 15, f4(power), True, one)
    assert same((one, found[:15]))


@pytest.mark.parametrize(
    ("indices", "values"),
    [([3, 2], [1, 1]), ([2, 2], [1, 1]), ([-1, 2], [1, 1]), ([2, 9], [1, 1]), ([2, 3], [1, np.nan])],
)
def test_a_row_that_needs_a_second_look_is_noticed(indices, values):
    row = np.array(indices, np.int32), np.array(values, f4)
    assert not scale_row(*row, 9, f4(1), True, np.empty(2, f4))


def test_log_sigmoids_are_alike(rng):
    x = np.concatenate([rng.normal(scale=20, size=300), [0, -0.0, 90, -90, np.inf, -np.inf]]).astype(f4)
    found, plain = np.empty_like(x), np.empty_like(x)
    log_sigmoids(x, f4(3), found)
    with np.errstate(over="ignore"):
        _log_sigmoids(x, f4(3), plain)
    assert same((found, plain))


@pytest.mark.parametrize("lengths", [[0], [3], [11], [4, 0, 1, 11, 8, 6, 3]])
def test_margins_are_alike(rng, lengths):
    indices = np.concatenate([np.sort(rng.choice(50, size, replace=False)) for size in lengths])
    indptr, n = np.cumsum([0, *lengths]).astype(np.int32), len(lengths)
    row = indptr, indices.astype(np.int32), rng.normal(size=len(indices)).astype(f4)
    W, b = rng.normal(size=(50, 70)).astype(f4), rng.normal(size=70).astype(f4)
    Q, unit = rng.integers(-127, 128, (50, 70)).astype(np.int8), rng.random(70).astype(f4)
    found, plain = np.empty((2, n, 70), f4), np.empty((2, n, 70), f4)
    margins.margins_of_floats(*row, W, b, found[0])
    margins._margins(*row, W, b, plain[0])
    margins.margins_of_bytes(*row, Q, unit, b, found[1])
    margins._margins_of_bytes(*row, Q, unit, b, plain[1])
    assert same((found, plain))


def test_label_scores_of_a_row_are_alike(rng):
    v, columns = rng.normal(size=40).astype(f4), rng.integers(0, 40, (5, 2000)).astype(np.int32)
    own = rng.random(2000).astype(f4), rng.random(2000).astype(f4)
    found, plain = np.empty(2000, f4), np.empty(2000, f4)
    search.even_row_scores(v, columns, *own, found)
    search._even_row_scores(v, columns, *own, plain)
    assert same((found, plain))


@pytest.mark.parametrize("k", [1, 60])
def test_the_best_labels_of_rows_are_alike(rng, k):
    n, m, d = 150, 40, 200
    values, lengths = np.round(rng.normal(size=(n, m)), 1).astype(f4), rng.integers(0, 9, d)
    indptr, chosen = np.concatenate([[0], np.cumsum(lengths)]), rng.permutation(d)[:180]
    groups = rng.integers(0, m, indptr[-1]).astype(np.int32)
    own = np.ones(d, f4), np.where(rng.random(d) < 0.1, -np.inf, 0).astype(f4)
    answers = []
    for function in (search.search_rows, search._search_rows):
        labels, best = np.empty((n, k), np.int64), np.empty((n, k), f4)
        spaces = np.zeros((m, search.BLOCK_ROWS), f4), np.empty(search.BLOCK_ROWS, f4)
        scores = np.empty((search.BLOCK_ROWS, d), f4)
        function(
            values, indptr, groups, *own, chosen, f4(-np.inf), *spaces, scores, labels, best, *space(d)
        )
        answers.append((labels, best))
    assert same(*zip(*answers))


@pytest.mark.parametrize("k", [1, 7, 40])
def test_the_best_labels_are_selected_alike(rng, k):
    scores = np.round(rng.normal(size=(30, 40)), 1).astype(f4)  # with ties
    scores[rng.random(scores.shape) < 0.3] = -np.inf
    answers = []
    for function in (search.select, search._select):
        labels, best = np.empty((30, k), np.int64), np.empty((30, k), f4)
        function(scores, f4(-0.5), labels, best, *space(40))
        answers.append((labels, best))
    assert same(*zip(*answers))


@pytest.mark.parametrize("supported", [False, True])
@pytest.mark.parametrize("bonus", [False, True])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("ranked", [False, True])
def test_candidates_are_ordered_alike(rng, supported, bonus, named, ranked):
    n, d, K, k, none = 9, 60, 30, 5, np.empty((0, 0), f4)
    labels = np.stack([rng.permutation(d)[:K] for _ in range(n)])
    labels[rng.random(labels.shape) < 0.1] = -1
    labels[3] = -1
    scores, near, margin, *names = np.round(rng.normal(size=(5, n, K)), 1).astype(f4)  # with ties
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    ends = np.arange(d + 1) * 4
    shares = ends, rng.integers(0, d, 4 * d).astype(np.int32), rng.integers(0, 256, 4 * d).astype(np.uint8)
    first, final = rng.normal(size=(2, 8)).astype(f4)
    extra = rng.random(d).astype(f4) if bonus else np.empty(0, f4)
    unseen = (rng.random(d) < 0.2).astype(f4) if named else np.empty(0, f4)
    answers = []
    for function in (order.order, order._order):
        found, best = np.empty((n, k), np.int64), np.empty((n, k), f4)
        function(
            labels, scores, near, margin, ranked, *(names if named else (none, none)), unseen,
            np.zeros(d, f4), first, final if supported else np.empty(0, f4), *shares, extra,
            np.full(d, -1, np.int32), np.empty((5, K), f4), np.empty(N_LIKELY, np.int64), found, best,
        )  # fmt: skip
        answers.append((found, best))
    assert same(*zip(*answers))


@pytest.mark.parametrize(("few", "started"), [(False, False), (True, False), (False, True)])
def test_shortlists_are_alike(rng, few, started):
    n, p, d, m, count = 12, 60, 1800, 40, 30
    X = sp.random(n, p, density=0.1, format="csr", dtype=f4, random_state=rng)
    X.data[::5] = 1e-45  # what it adds may underflow
    lists = sp.random(p, d, density=0.01, format="csr", dtype=f4, random_state=rng)
    starts = rng.normal(size=(n if started else 0, d)).astype(f4)
    groups = np.sort(rng.integers(0, m, (d, 4)).astype(np.int32), axis=1)
    prior, scale, offset = (np.round(rng.normal(size=d), 1).astype(f4) for _ in range(3))  # with ties
    offset[:9], V = -np.inf, np.round(rng.normal(size=(n, m)), 1).astype(f4)
    extra = np.where(rng.random((n, 5)) < 0.8, rng.integers(0, d, (n, 5)), -1)
    answers = []
    for function in (shortlists.shortlist, shortlists._shortlist):
        labels = np.full((n, 200), -1)
        best, near = np.full((n, 200), -np.inf, f4), np.zeros((n, 200), f4)
        function(
            X.indptr, X.indices, X.data, lists.indptr.astype(np.int64), lists.indices.astype(np.int32),
            np.ceil(100 * lists.data).astype(np.int8), np.full(p, 0.01, f4), prior, starts, f4(3),
            np.argsort(-prior, kind="stable")[:100] if few else np.empty(0, np.int64),
            V, 4 * np.arange(d + 1), groups.ravel(),
            scale, offset, count, extra, np.array([100, 400]), np.array([count + 5, 200]), prior.copy(),
            np.empty(d + 1, np.int32), np.empty(d + 1, f4), *space(d), labels, best, near,
        )  # fmt: skip
        answers.append((labels, best, near))
    assert same(*zip(*answers))
    assert (answers[0][0][:, count - 1] >= 0).all()


def test_shortlists_of_many_rows_are_left_to_the_kernel_at_once():
    """Blocks of a large file are small; what counts is the file. In small files, NumPy does all."""
    d, rows = 20_000, shortlists.MAX_LIGHT // 20_000 + 1
    own = [np.zeros(513, np.int32), *[None] * 6, np.zeros(d, f4)]
    with interpreting(FEW, rows):
        assert shortlists._shortlist(*own) is NotImplemented
        assert not exceeds(rows - 2, d, rows * d)
    with interpreting(ONE, rows):
        assert not exceeds(rows, d, shortlists.MAX_LIGHT)


@pytest.mark.parametrize("q", [1, 4, 11])
def test_similarities_by_dense_features_are_alike(rng, q):
    """Dense features anywhere among the others, some rows without four of them in a row."""
    n, p, d = 12, 60, 300
    place_of, columns = np.full(p, -1, np.int32), np.sort(rng.permutation(p)[:q])
    place_of[columns] = np.arange(q)
    X = sp.random(n, p, density=0.1, random_state=rng).tolil()
    X[:, columns] = rng.normal(size=(n, q)) * (rng.random((n, q)) < 0.7)
    X[2, columns[4:8]] = 0
    X, scale = sp.csr_array(X, dtype=f4), rng.random(p).astype(f4)
    matrix, answers = rng.integers(-127, 128, (q, d), np.int8), []
    for function in (dense.add_dense, dense._add_dense):
        sums, x = np.linspace(-1, 1, X.shape[0] * d, dtype=f4).reshape(-1, d), np.zeros(q + 3, f4)
        function(X.indptr, X.indices, X.data, scale, f4(7), place_of, matrix, x, sums)
        answers.append([sums, x])
    assert same(*zip(*answers))
    added = answers[0][0] - np.linspace(-1, 1, X.shape[0] * d, dtype=f4).reshape(-1, d)
    expected = 7 * (X.toarray() * scale)[:, columns] @ matrix
    np.testing.assert_allclose(added, expected, atol=1e-3)


def test_dense_features_of_many_rows_are_left_to_the_kernel_at_once():
    matrix = np.zeros((50, 1000), np.int8)
    rows, sums = dense.MAX_PRODUCTS // matrix.size + 1, np.zeros((1, 1000), f4)
    with interpreting(FEW, rows):
        assert dense._add_dense(*[None] * 6, matrix, None, sums) is NotImplemented
    with interpreting(FEW, rows - 1):
        assert not exceeds(1, matrix.size, dense.MAX_PRODUCTS)


def test_rankers_of_many_rows_are_left_to_the_kernel_at_once(rng):
    d, p = 40, 6
    X = sp.csr_array(rng.random((2, p), dtype=np.float32))
    W = sp.csr_array(rng.integers(-127, 128, (d, p)).astype(np.int8))
    labels, out = np.tile(np.arange(d), (2, 1)), np.empty((2, d), np.float32)
    own = W.indptr.astype(np.int64), W.indices, W.data, np.ones(d, np.float32), np.zeros(d, np.float32)
    call = (X.indptr, X.indices, X.data, *own, labels, np.zeros(d, np.int32), out)
    for rows, left in ((2, False), (rankers.MAX_TOTALS // d + 1, True)):
        with interpreting(FEW, rows):
            assert (rankers._scan_candidates(*call) is NotImplemented) == left


def test_margins_of_rankers_are_alike_by_features_by_labels_and_by_numpy(rng):
    n, p, d, K = 12, 300, 50, 20
    X = sp.random(n, p, density=0.1, format="csr", dtype=f4, random_state=rng)
    X.data[:] = rng.normal(size=X.nnz)
    X.data[X.indptr[3] : X.indptr[4]] = 0
    weights = sp.random(d, p, density=0.3, format="csr", dtype=f4, random_state=rng)
    weights.data[:] = rng.integers(-127, 128, weights.nnz)
    lists = sp.csc_array(weights)
    candidates = rng.integers(-1, d, (n, K))
    own = X.indptr, X.indices, X.data, weights.indptr, weights.indices, weights.data.astype(np.int8)
    own += rng.random(d).astype(f4), rng.normal(size=d).astype(f4)
    by_feature = lists.indptr, lists.indices, lists.data.astype(np.int8)
    nowhere = np.zeros(p + 1, np.int32) + 10**6 * np.arange(p + 1, dtype=np.int32), *by_feature[1:]
    answers = []
    for function, more in (
        (rankers.score_candidates, by_feature),
        (rankers.score_candidates, nowhere),  # lists that are too long are not read
        (rankers.scan_candidates, ()),
        (rankers._scan_candidates, ()),
    ):
        out, space_ = np.full((n, K), -np.inf, f4), np.zeros(p, np.int32)
        function(*own, *more, candidates, space_, out)
        assert not space_.any()
        answers.append(out)
    assert same(*((answers[0], other) for other in answers[1:]))
    dense = X.toarray() @ (weights.toarray() * own[-2][:, None]).T + own[-1]
    expected = np.take_along_axis(dense, np.maximum(candidates, 0), axis=1)
    there = candidates >= 0
    assert np.allclose(answers[0][there], expected[there], atol=1e-3)
    assert (answers[0][~there] == -np.inf).all()


@pytest.mark.parametrize("seed", range(8))
def test_scores_of_names_are_alike(seed):
    rng = np.random.default_rng(seed)
    q, d, n, n_names = rng.integers(5, 30), rng.integers(3, 60), rng.integers(1, 40), 80
    owner = np.sort(np.concatenate([np.arange(d), rng.integers(0, d, n_names - d)]))
    n_ptr = np.cumsum([0, *rng.integers(1, 4, n_names)])
    n_words, idf = rng.integers(0, q, n_ptr[-1]).astype(np.int32), rng.random(q).astype(f4) + f4(0.1)
    facts = np.stack([np.add.reduceat(idf[n_words], n_ptr[:-1]), rng.random(n_names)], 1).astype(f4).ravel()
    row_ptr = np.cumsum([0, *rng.integers(0, 15, n)])
    rows = row_ptr, rng.integers(-1, q, row_ptr[-1]).astype(np.int32)
    labels, mark = rng.integers(-1, d, (n, 7)), np.full(q, -1, np.int32)
    found, plain = np.empty((2, 2, n, 7), f4)
    names = idf, facts, n_ptr, n_words, np.searchsorted(owner, np.arange(d + 1)), mark, labels
    name_kernels.score_names.compiled(*rows, *names, *found)
    name_kernels._score_names(*rows, *names, *plain)
    assert same((found, plain))
    assert (found[0] > 0).any()
