"""Sparse matrices whose indices lie outside their shape, or whose arrays do not fit together, never reach
compiled code, in whatever format they come."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgt import MLGTClassifier, Predictor
from mlgt._core.sparse import (
    among_empty,
    canonical,
    check_stored,
    column_counts,
    row_pieces,
    squared_lengths,
    with_rows,
    without_rows,
)
from mlgt.data import write_xmc
from mlgt.metrics import evaluate, precision_at

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")


def whole_matrix(form, shape, as_array, seed=0):
    """A matrix of ones, as SciPy makes it."""
    dense = np.random.default_rng(seed).random(shape) < 0.4
    dense[0, 0] = dense[-1, -1] = True
    kind = getattr(sp, f"{form}_{'array' if as_array else 'matrix'}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)  # many diagonals
        return kind(dense.astype(np.float32))


def put(array, at, value):
    """Change an entry in place, as a caller may by mistake."""
    array[at % len(array)] = value


def shorter(name):
    def change(matrix, at):
        setattr(matrix, name, getattr(matrix, name)[:-1])

    return change


COMPRESSED = {
    "index too large": lambda m, at: put(m.indices, at, max(m.shape)),
    "index far too large": lambda m, at: put(m.indices, at, 10**6),
    "negative index": lambda m, at: put(m.indices, at, -1),
    "falling pointers": lambda m, at: put(m.indptr, 1 + at % (len(m.indptr) - 2), m.indptr[-1] + 7),
    "negative pointer": lambda m, at: put(m.indptr, 1, -5),
    "pointers that overflow": lambda m, at: m.indptr.__setitem__(slice(1, 3), [2**31 - 1, -2]),
    "pointers beyond the data": lambda m, at: put(m.indptr, -1, 10**6),
    "pointers not from 0": lambda m, at: put(m.indptr, 0, 1),
    "too few pointers": shorter("indptr"),
    "too few values": shorter("data"),
    "too few indices": shorter("indices"),
    "fractions": lambda m, at: setattr(m, "indices", m.indices + 0.5),
}
BROKEN = {
    **dict.fromkeys(("csr", "csc", "bsr"), COMPRESSED),
    "coo": {
        "row too large": lambda m, at: put(m.coords[0], at, m.shape[0]),
        "column far too large": lambda m, at: put(m.coords[1], at, 10**6),
        "negative row": lambda m, at: put(m.coords[0], at, -1),
        "too few values": shorter("data"),
    },
    "lil": {
        "column too large": lambda m, at: put(m.rows[0], at, m.shape[1]),
        "negative column": lambda m, at: put(m.rows[0], at, -1),
        "too many values": lambda m, at: m.data[0].extend([1.0] * 100),
        "too few values": lambda m, at: m.data[0].clear(),
        "no list": lambda m, at: put(m.rows, at, None),
    },
    "dok": {
        "column too large": lambda m, at: m._dict.__setitem__((0, m.shape[1]), 1.0),
        "negative row": lambda m, at: m._dict.__setitem__((-1, 0), 1.0),
    },
    "dia": {
        "too many offsets": lambda m, at: setattr(m, "offsets", np.arange(len(m.offsets) + 50)),
        "too few offsets": shorter("offsets"),
    },
}
KINDS = [(form, kind) for form in FORMATS for kind in BROKEN[form]]


@pytest.fixture(scope="module")
def uses(topics, tmp_path_factory):
    """Every use of a caller's matrix: a function and the shape it takes."""
    X, Y = topics[0]
    file = tmp_path_factory.mktemp("rows") / "rows.txt"
    model = MLGTClassifier(n_groups=12, ranker=None, random_state=0).fit(X, Y)
    labels = model.predict_topk(X[:20], 3)[0]
    new = MLGTClassifier(n_groups=12, ranker=None, random_state=0)
    few, p, d = 20, X.shape[1], Y.shape[1]
    return {
        "fit X": (lambda m: new.fit(m, Y[:few]), (few, p)),
        "fit y": (lambda m: new.fit(X[:few], m), (few, d)),
        "groups": (lambda m: MLGTClassifier(m, ranker=None).fit(X[:few], Y[:few]), (12, d)),
        "predict_topk": (model.predict_topk, (few, p)),
        "Predictor": (Predictor(model).predict_topk, (few, p)),
        "explain": (model.explain, (3, p)),
        "extend X": (lambda m: model.extend(m, Y[:few]), (few, p)),
        "extend y": (lambda m: model.extend(X[:few], m), (few, d)),
        "precision_at": (lambda m: precision_at(m, labels, 1), (few, d)),
        "evaluate": (lambda m: evaluate(m, labels), (few, d)),
        "write_xmc X": (lambda m: write_xmc(file, m, Y[:few]), (few, p)),
        "write_xmc Y": (lambda m: write_xmc(file, X[:few], m), (few, d)),
    }


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_broken_matrices_are_refused(uses, data):
    form, kind = data.draw(st.sampled_from(KINDS))
    use, shape = uses[data.draw(st.sampled_from(sorted(uses)))]
    matrix = whole_matrix(form, shape, data.draw(st.booleans()), data.draw(st.integers(0, 9)))
    BROKEN[form][kind](matrix, data.draw(st.integers(0, 1000)))
    with pytest.raises(ValueError, match="is broken: its indices lie outside"):
        use(matrix)


@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize("form", FORMATS)
def test_every_kind_of_break_is_noticed(form, as_array):
    for change in BROKEN[form].values():
        for at in range(5):
            matrix = whole_matrix(form, (6, 8), as_array)
            check_stored(matrix)
            change(matrix, at)
            with pytest.raises(ValueError, match="is broken"):
                check_stored(matrix)


@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(6, 8), (1, 5), (4, 1)])
def test_whole_matrices_of_every_format_are_the_same_matrix(form, shape, as_array):
    matrix = whole_matrix(form, shape, as_array)
    assert (canonical(matrix).toarray() == matrix.toarray()).all()


def test_indices_of_other_whole_types_are_read():
    matrix = whole_matrix("csr", (6, 8), True)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int32)
    check_stored(matrix)
    check_stored(sp.csr_array((3, 0)))
    check_stored(sp.csr_array((0, 3)))
    check_stored(np.ones((2, 2)))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_entries_that_no_row_uses_are_not_checked(form):
    """SciPy allows more room in the arrays than the pointers use."""
    matrix = whole_matrix(form, (6, 8), True)
    expected = matrix.toarray()
    matrix.indices = np.append(matrix.indices, [999, -1]).astype(matrix.indices.dtype)
    matrix.data = np.append(matrix.data, np.full((2, *matrix.data.shape[1:]), np.nan), axis=0)
    found = canonical(matrix)
    assert (found.toarray() == expected).all()
    assert len(found.indices) == len(found.data) == found.nnz


def test_unused_entries_do_not_change_a_model(topics):
    (X, Y), _ = topics
    roomy = X.copy()
    roomy.indices, roomy.data = np.append(X.indices, 10**6), np.append(X.data, np.float32("nan"))
    models = [MLGTClassifier(n_groups=20, ranker=None, random_state=0).fit(rows, Y) for rows in (X, roomy)]
    assert len(roomy.indices) == X.nnz + 1
    (labels, scores), (same, equal) = (m.predict_topk(r, 3) for m, r in zip(models, (X, roomy)))
    assert (labels == same).all()
    assert (scores == equal).all()


@pytest.mark.parametrize("form", ["coo", "dok"])
def test_one_dimension_is_not_called_broken(form):
    vector = sp.coo_array(np.array([0.0, 1.0, 2.0])).asformat(form)
    with pytest.raises(ValueError, match=r"has shape \(3,\); expected two dimensions"):
        canonical(vector)


@pytest.mark.parametrize("seed", range(5))
def test_squared_lengths_are_those_of_scipy(seed):
    """The same bits, also with empty rows, stored zeros and squares that are 0."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((60, 300), density=0.2, random_state=rng, dtype=np.float32, format="csr")
    X.data[rng.random(X.nnz) < 0.1] = rng.choice([0.0, 1e-30])
    X = with_rows(X, np.array([0, 7, 59]), sp.csr_array((3, 300), dtype=np.float32))
    found = squared_lengths(X)
    assert found.dtype == np.float32
    assert (found == X.multiply(X).sum(axis=1)).all()


@pytest.mark.parametrize("entries", [1, 7, 100, 10**6])
def test_a_matrix_in_pieces_is_the_matrix(entries, monkeypatch):
    X = sp.random_array((60, 30), density=0.3, random_state=1, dtype=np.float32, format="csr")
    X = with_rows(X, np.array([0, 7, 59]), sp.csr_array((3, 30), dtype=np.float32))
    pieces = list(row_pieces(X.indptr, entries))
    assert [i for piece in pieces for i in range(60)[piece]] == list(range(60))
    assert all(piece.stop - piece.start == 1 or X[piece].nnz <= entries for piece in pieces)
    lengths, rows = squared_lengths(X), sp.random_array((4, 30), density=0.2, random_state=2, format="csr")
    expected = with_rows(X, np.array([0, 3, 30, 59]), rows)
    monkeypatch.setattr("mlgt._core.sparse.PIECE_ENTRIES", entries)
    assert (squared_lengths(X) == lengths).all()
    assert (column_counts(X) == np.bincount(X.indices, minlength=30)).all()
    assert (with_rows(X, np.array([0, 3, 30, 59]), rows) != expected).nnz == 0


def test_rows_are_replaced():
    X, rows = (sp.random_array((n, 9), density=0.4, random_state=n, format="csr") for n in (6, 2))
    expected = X.toarray()
    expected[[1, 4]] = rows.toarray()
    assert (with_rows(X, np.array([1, 4]), rows).toarray() == expected).all()
    assert (with_rows(X, np.array([], np.int64), rows[:0]).toarray() == X.toarray()).all()
    apart = without_rows(X, np.array([1, 4]))
    alone = among_empty(rows, np.array([1, 4]), 6)
    assert ((apart + alone).toarray() == expected).all()
    assert apart.nnz + alone.nnz == np.count_nonzero(expected)
    assert np.shares_memory(alone.data, rows.data)
